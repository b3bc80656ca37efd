"""What asz does about each answer of a receiver."""

import pytest

from ..support.landed import Landing
from ..support.otlp import Listening, Reply, grpc_receiver
from ..support.pushing import FakeClock, Place, counted, pusher, spool_request
from ..support.sessions import prompt

LARGE = Reply("large", message="no more than that")


def one_session(place: Place, count: int) -> list[str]:
    """A root that holds one session of so many files of about one size and nothing else."""
    landing = Landing(place.root, "s1")
    return [
        landing.write([prompt(f"u{number:03}")]).relative_to(place.root).as_posix()
        for number in range(count)
    ]


@pytest.fixture
def empty(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A place whose root holds nothing yet."""
    place = Place(tmp_path_factory.mktemp("empty"))
    place.root.mkdir()
    (place.root / "_root.json").write_text('{"format":"asz-root/1"}\n')
    return place


# ---------------------------------------------------------------- partial success


def test_what_a_receiver_rejects_is_counted_told_and_not_resent(
    place: Place, receiver: Listening
) -> None:
    receiver.inbox.replies.append(Reply(rejected=2, message="too old\nfor us"))
    first = place.push(receiver, metrics=False)
    assert (first.status, first.counts["rejected"], first.counts["pending"]) == (0, 2, 0)
    (line,) = first.err.splitlines()
    assert line.startswith("asz: warning: ")
    assert "rejected 2 records of " in line
    assert "too old for us" in line
    again = place.push(receiver, metrics=False)
    assert (again.counts["requests"], again.err) == (0, "")


def test_rejected_points_are_counted_too(place: Place, receiver: Listening) -> None:
    receiver.inbox.replies.append(Reply(rejected=1))
    outcome = place.push(receiver, logs=False)
    assert (outcome.status, outcome.counts["rejected"], outcome.counts["metrics"]) == (0, 1, 3)
    assert "rejected 1 points of _metrics/" in outcome.err


def test_a_remark_without_a_rejection_is_a_note(place: Place, receiver: Listening) -> None:
    receiver.inbox.replies += [Reply(message="use less"), Reply(message="use less")]
    assert place.push(receiver, metrics=False).err == ""
    outcome = place.push(receiver, "--verbose", logs=False)
    assert (outcome.status, outcome.err.count("use less")) == (0, 1)


# ---------------------------------------------------------------- too large


def test_a_request_that_is_too_large_is_halved(empty: Place, receiver: Listening) -> None:
    files = one_session(empty, 16)
    receiver.inbox.limit = 3_500
    outcome = empty.push(receiver)
    assert (outcome.status, outcome.err) == (0, "")
    assert receiver.inbox.paths() == files
    assert max(map(len, receiver.inbox.taken("logs"))) <= 3_500


def test_later_requests_are_made_small_enough_at_once(empty: Place, receiver: Listening) -> None:
    one_session(empty, 60)
    receiver.inbox.limit = 5_000
    assert empty.push(receiver, batch_bytes=8_000).status == 0
    replies = [request.reply.kind for request in receiver.inbox.requests]
    assert replies.count("large") == 1
    assert replies[0] == "large"


def test_a_file_refused_alone_is_named_and_left_until_asked_for(
    empty: Place, receiver: Listening
) -> None:
    files = one_session(empty, 4)
    landing = Landing(empty.root, "s2")
    large = landing.write([prompt(f"long{n}") for n in range(100)])
    name = large.relative_to(empty.root).as_posix()
    small = landing.write([prompt("u")]).relative_to(empty.root).as_posix()
    receiver.inbox.limit = 6_000
    first = empty.push(receiver)
    assert (first.status, first.counts["refused"], first.counts["pending"]) == (1, 1, 0)
    (line,) = first.err.splitlines()
    assert line.startswith(f"asz: error: {name}: ")
    assert "--retry-refused" in line
    assert receiver.inbox.paths() == [*files, small]

    requests = len(receiver.inbox.requests)
    second = empty.push(receiver)
    assert (second.status, second.counts["refused"]) == (1, 1)
    assert name in second.err
    assert len(receiver.inbox.requests) == requests

    receiver.inbox.limit = 1 << 30
    with grpc_receiver() as other:
        assert empty.push(other).status == 0
    third = empty.push(receiver, "--retry-refused")
    assert (third.status, third.err) == (0, "")
    assert receiver.inbox.paths() == [*files, small, name]
    assert empty.push(receiver).status == 0


def test_metrics_refused_alone_are_left_too(place: Place, receiver: Listening) -> None:
    receiver.inbox.replies += [Reply(), LARGE]
    outcome = place.push(receiver, logs=False)
    assert (outcome.status, outcome.counts["metrics"], outcome.counts["refused"]) == (1, 2, 1)
    assert "_metrics/" in outcome.err


def test_the_limit_grpcio_has_by_itself_is_understood(empty: Place) -> None:
    files = one_session(empty, 10)
    with grpc_receiver(largest=4_000) as listening:
        outcome = empty.push(listening)
        assert (outcome.status, outcome.err) == (0, "")
        assert listening.inbox.paths() == files


# ---------------------------------------------------------------- later


def test_a_receiver_that_asks_for_peace_has_it(place: Place, receiver: Listening) -> None:
    clock = FakeClock()
    pushing = pusher(place, receiver, clock, batch_bytes=20_000)
    receiver.inbox.replies += [Reply(), Reply("later", message="busy", seconds=90)]
    first = pushing.run()
    assert first.counts.requests == 2
    assert first.wait == 90
    assert first.counts.pending > 0
    (line,) = first.problems
    assert "asks to be left alone for 90 s (busy)" in line
    clock.seconds += 89
    second = pusher(place, receiver, clock).run()  # as another process would
    assert counted(second) == {"pending": first.counts.pending}
    assert not second.clean
    assert "asked to be left alone for another 1 s" in second.problems[0]
    clock.seconds += 1.5
    third = pushing.run()
    assert third.clean
    assert sorted(receiver.inbox.paths()) == place.files()


def test_a_clock_put_back_does_not_stretch_the_peace(place: Place, receiver: Listening) -> None:
    clock = FakeClock()
    receiver.inbox.replies.append(Reply("later", seconds=90))
    assert not pusher(place, receiver, clock).run().clean
    clock.seconds -= 3600
    assert pusher(place, receiver, clock).run().clean


def test_nobody_is_left_alone_for_ever(place: Place, receiver: Listening) -> None:
    clock = FakeClock()
    receiver.inbox.replies.append(Reply("later", seconds=10**9))
    assert not pusher(place, receiver, clock).run().clean
    clock.seconds += 25 * 3600
    assert pusher(place, receiver, clock).run().clean


def test_another_receiver_is_not_waited_for(place: Place, receiver: Listening) -> None:
    clock = FakeClock()
    receiver.inbox.replies.append(Reply("later", seconds=900))
    assert not pusher(place, receiver, clock).run().clean
    with grpc_receiver() as other:
        assert pusher(place, other, clock).run().clean


# ---------------------------------------------------------------- failures


def test_one_request_that_fails_does_not_keep_the_others(empty: Place, receiver: Listening) -> None:
    files = one_session(empty, 12)
    receiver.inbox.replies += [Reply(), Reply("wrong", message="bad record")]
    first = empty.push(receiver, batch_bytes=3_000)
    assert (first.status, first.counts["errors"]) == (1, 1)
    assert "bad record" in first.err
    assert 0 < first.counts["pending"] < 12
    assert len(receiver.inbox.paths()) == 12 - first.counts["pending"]
    second = empty.push(receiver, batch_bytes=3_000)
    assert (second.status, second.counts["pending"]) == (0, 0)
    assert sorted(receiver.inbox.paths()) == files


def test_three_failures_in_a_row_end_the_signal(empty: Place, receiver: Listening) -> None:
    one_session(empty, 30)
    spool_request(empty.root, 1)
    receiver.inbox.replies += [Reply("wrong")] * 3
    outcome = empty.push(receiver, batch_bytes=2_000)
    assert outcome.status == 1
    assert [r.signal for r in receiver.inbox.requests] == ["logs"] * 3 + ["metrics"]
    assert (outcome.counts["metrics"], outcome.counts["pending"]) == (1, 30)


def test_a_receiver_without_one_signal_has_the_other(place: Place, receiver: Listening) -> None:
    receiver.inbox.replies.append(Reply("unknown"))
    outcome = place.push(receiver, batch_bytes=20_000)
    assert outcome.status == 1
    assert outcome.err.count("\n") == 1
    assert [r.signal for r in receiver.inbox.requests] == ["logs", *["metrics"] * 3]
    assert outcome.counts["pending"] == len(place.files())


def test_a_receiver_that_is_down_is_told_once(place: Place, receiver: Listening) -> None:
    receiver.inbox.replies += [Reply(), Reply("down", message="restarting")]
    outcome = place.push(receiver, batch_bytes=20_000)
    assert outcome.status == 1
    assert outcome.err.count("\n") == 1
    assert len(receiver.inbox.requests) == 2
    taken = len(receiver.inbox.paths())
    assert outcome.counts["pending"] == len(place.files()) + 3 - taken
    assert place.push(receiver).status == 0
    assert sorted(receiver.inbox.paths()) == place.files()


# ---------------------------------------------------------------- pace


def test_no_more_than_a_minute_allows(empty: Place, receiver: Listening) -> None:
    one_session(empty, 40)
    clock = FakeClock()
    pushing = pusher(empty, receiver, clock, batch_bytes=3_000, max_bytes_per_minute=6_000)
    began = clock.seconds
    assert pushing.run().clean
    sent = sum(map(len, receiver.inbox.taken("logs")))
    assert sent > 20_000
    assert clock.seconds - began >= (sent - 6_000) / 6_000 * 60 - 1
    assert clock.seconds - began <= sent / 6_000 * 60


def test_a_pass_that_has_to_end_leaves_the_rest(empty: Place, receiver: Listening) -> None:
    files = one_session(empty, 40)
    clock = FakeClock()
    pushing = pusher(empty, receiver, clock, batch_bytes=3_000, max_bytes_per_minute=6_000)
    made = pushing.run(deadline=clock.monotonic() + 45)
    assert 0 < made.counts.files < 40
    assert made.counts.pending == 40 - made.counts.files
    assert made.problems == []
    assert pushing.run().clean
    assert receiver.inbox.paths() == files
