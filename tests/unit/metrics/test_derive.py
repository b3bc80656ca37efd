"""Which calls count, when, and how often: once."""

import errno
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asz.metrics.derive import LOCK
from asz.metrics.spool import Spool
from asz.metrics.waiting import WAIT_SECONDS, Patience
from asz.storage import steps
from asz.storage.locks import hold
from asz.storage.root import Root

from ...support.spool import never_overlap
from .conftest import NOW, SECOND, Place, fragment


def test_a_finished_call_counts_once_by_its_last_fragment(place: Place) -> None:
    place.land(
        fragment("c1", 3), fragment("c1", 3, finished=False), fragment("c1", 159, finished=False)
    )
    done = place.derive()
    assert (done.calls, done.points, done.requests, done.errors) == (1, 4, 1, [])
    assert {point.attribute("type"): point.value for point in place.points} == {
        "input": 1.0,
        "output": 159.0,
        "cacheRead": 3.0,
        "cacheCreation": 4.0,
    }
    begin = NOW - 60 * SECOND
    assert {(point.start, point.end) for point in place.points} == {(begin, begin + 60 * SECOND)}
    assert place.derive().requests == 0
    assert place.output == [159.0]


def test_an_unfinished_call_counts_once_it_has_finished(place: Place) -> None:
    place.land(fragment("c1", 2, finished=False))
    assert place.derive().calls == 0
    place.land(fragment("c1", 80))
    assert place.derive().calls == 1
    place.land(fragment("c1", 99))
    assert place.derive().calls == 0
    assert place.output == [80.0]


def test_copies_and_other_streams_do_not_count_again(place: Place) -> None:
    place.land(fragment("c1", 10, id_="r1"))
    place.derive()
    place.land(fragment("c1", 10, id_="r1"))
    place.land(fragment("c1", 10, id_="r1"), stream="a1")
    place.land(fragment("c1", 11, id_="r2"), stream="a2")
    assert place.derive().calls == 0
    assert place.output == [10.0]


@pytest.mark.parametrize("together", [True, False])
def test_a_call_in_two_sessions_counts_once(place: Place, together: bool) -> None:
    place.land(fragment("c1", 10), session="s2")
    if not together:
        place.derive()
    place.land(fragment("c1", 10), fragment("c2", 20), session="s1")
    place.derive()
    assert sum(place.output) == 30.0
    assert {c.session for c in place.handed if c.call == "c1"} == {"s1" if together else "s2"}


def test_a_call_that_only_another_session_finished_counts(place: Place) -> None:
    place.land(fragment("c1", 1, finished=False), session="s1")
    place.land(fragment("c1", 10), session="s2")
    place.derive()
    assert place.output == [10.0]


def test_streams_have_roles(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.land(fragment("c2", 2), stream="a1")
    place.land(fragment("c3", 4, flags=("auxiliary",)), stream="a2")
    place.derive()
    by_source = {p.attribute("query_source"): p.value for p in place.points if p.value in (1, 2, 4)}
    assert {call.call: call.role for call in place.handed} == {
        "c1": "main",
        "c2": "child",
        "c3": "auxiliary",
    }
    assert set(by_source) == {"main", "subagent", "auxiliary"}


def test_what_no_provider_answered_or_has_no_usage_does_not_count(place: Place) -> None:
    bare = fragment("c2", 1)
    bare.usage = None
    place.land(fragment("c1", 10, flags=("synthetic",)), bare)
    assert place.derive().calls == 0


def test_other_runtimes_are_left_alone(place: Place) -> None:
    place.land(fragment("c1", 10))
    assert place.derive(runtime="Another").calls == 0
    assert place.derive().calls == 1


def test_a_model_that_is_not_stated_is_no_attribute(place: Place) -> None:
    place.land(fragment("c1", 10, model=None))
    place.derive()
    assert {"model"} & {key for point in place.points for key, _value in point.attributes} == set()


@pytest.mark.parametrize("time", ["", "0999-01-01T00:00:00", "9999-12-31T23:59:59"])
def test_a_call_without_a_time_a_metric_can_carry_is_left_out(place: Place, time: str) -> None:
    place.land(fragment("c1", 10, at=time), fragment("c2", 20))
    done = place.derive()
    assert (done.calls, done.errors) == (1, [])
    assert place.output == [20.0]


def test_the_latest_time_of_a_call_is_taken(place: Place) -> None:
    place.land(fragment("c1", 1, at="09:20:00"), fragment("c1", 10, at=""))
    place.derive()
    assert {point.start for point in place.points} == {NOW - 600 * SECOND}


def test_late_calls_of_a_minute_do_not_overlap_its_window(place: Place) -> None:
    for number in range(6):
        place.land(fragment(f"c{number}", 1, at=f"09:2{number % 3}:10"))
        place.derive()
    assert len(place.output) == 6
    assert never_overlap(place.points)


# ---------------------------------------------------------------- the first derivation


def test_the_first_derivation_reaches_back_as_far_as_it_is_told(place: Place) -> None:
    place.lookback = 600
    place.land(fragment("old", 1, at="09:19:59"), fragment("new", 2, at="09:20:00"))
    assert place.derive().calls == 1
    assert place.output == [2.0]
    place.land(fragment("older", 4, at="2020-01-01T00:00:00"))
    place.derive()
    assert sorted(place.output) == [2.0, 4.0]


def test_a_root_with_nothing_young_is_begun_all_the_same(place: Place) -> None:
    place.land(fragment("old", 1, at="2020-01-01T00:00:00"))
    place.derive()
    place.lookback = 10**10
    assert place.derive().calls == 0
    assert place.names == []


def test_an_empty_root_has_no_history_to_be_through_with(place: Place) -> None:
    place.derive()
    place.now += 3600 * SECOND
    place.land(fragment("old", 1, at="2020-01-01T00:00:00"), fragment("new", 2))
    place.derive()
    assert place.output == [2.0]


def test_the_first_derivation_lasts_until_all_has_landed(place: Place) -> None:
    place.lookback = 600
    place.land(fragment("old", 1, at="09:00:00"))
    place.derive(whole=False)
    place.now += 3600 * SECOND
    place.land(fragment("older", 2, at="08:00:00"), fragment("between", 4, at="09:40:00"))
    place.derive(whole=True)
    assert place.output == [4.0]
    place.land(fragment("later", 8, at="08:00:00"))
    place.derive()
    assert sum(place.output) == 12.0


def test_a_clock_that_goes_back_changes_nothing_of_what_was_derived(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    place.now -= 10**6 * SECOND
    place.land(fragment("c2", 2))
    place.derive()
    assert sum(place.output) == 3.0
    assert never_overlap(place.points)


# ---------------------------------------------------------------- waiting


def test_a_single_pass_does_not_wait(place: Place) -> None:
    place.land(fragment("c1", 1))
    assert place.derive().calls == 1


def test_the_last_call_of_a_stream_waits_for_the_rest_of_it(place: Place) -> None:
    place.patience = Patience(place.clock)
    place.land(fragment("c1", 1), fragment("c2", 2))
    place.land(fragment("d1", 4), stream="a1")
    assert [place.derive().calls, place.derive().calls] == [1, 0]
    place.clock.seconds = WAIT_SECONDS - 1
    assert place.derive().calls == 0
    place.clock.seconds = WAIT_SECONDS
    assert place.derive().calls == 2
    assert sorted(place.output) == [1.0, 2.0, 4.0]


def test_more_of_a_call_makes_it_wait_anew_and_counts(place: Place) -> None:
    place.patience = Patience(place.clock)
    place.land(fragment("c1", 1))
    place.derive()
    place.clock.seconds = WAIT_SECONDS - 1
    place.land(fragment("c1", 50))
    assert place.derive().calls == 0
    place.clock.seconds += WAIT_SECONDS - 1
    assert place.derive().calls == 0
    place.clock.seconds += 1
    place.derive()
    assert place.output == [50.0]


def test_a_call_that_another_follows_does_not_wait(place: Place) -> None:
    place.patience = Patience(place.clock)
    place.land(fragment("c1", 1))
    place.derive()
    place.land(fragment("c1", 50), fragment("c2", 60))
    assert place.derive().calls == 1
    assert place.output == [50.0]


def test_a_response_that_the_runtime_ended_does_not_wait(place: Place) -> None:
    place.patience = Patience(place.clock)
    place.land(fragment("c1", 1), fragment("x", 0, flags=("synthetic",)))
    assert place.derive().calls == 1


def test_calls_too_old_to_count_do_not_wait(place: Place) -> None:
    place.patience = Patience(place.clock)
    place.land(fragment("c1", 1, at="2020-01-01T00:00:00"))
    place.derive()
    place.clock.seconds = WAIT_SECONDS
    assert place.derive().calls == 0


def test_a_wait_is_over_although_the_adapter_failed(place: Place) -> None:
    place.patience = Patience(place.clock)
    place.land(fragment("c1", 1))
    place.derive()
    place.clock.seconds = WAIT_SECONDS
    place.fails = True
    assert place.derive().errors
    place.fails = False
    assert place.derive().calls == 1


# ---------------------------------------------------------------- what goes wrong


def test_what_an_adapter_fails_on_is_tried_again(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.fails = True
    done = place.derive()
    assert done.errors == [
        "metrics: adapter test (test 1) asz_derive_metrics: does not feel like it"
    ]
    assert (done.calls, place.names) == (0, [])
    place.fails = False
    assert place.derive().calls == 1


def test_another_derivation_is_not_waited_for(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    place.land(fragment("c2", 2))
    with hold(place.root / "_metrics" / LOCK):
        done = place.derive()
    assert (done.calls, done.errors) == (0, [])
    assert done.busy is not None
    assert place.derive().calls == 1


@pytest.mark.parametrize("how", ["lost", "damaged"])
def test_a_database_that_is_gone_makes_no_count_twice(place: Place, how: str) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    database = place.root / "_metrics" / "derived.db"
    if how == "lost":
        database.unlink()
    else:
        database.write_bytes(b"no database" * 1000)
    place.land(fragment("c2", 2))
    (line,) = place.derive().errors
    assert how in line
    assert str(database) in line
    assert place.output == [1.0]
    place.land(fragment("c1", 1), session="s2")
    place.land(fragment("c3", 4))
    done = place.derive()
    assert (done.calls, done.errors) == (1, [])
    assert place.output == [1.0, 4.0]
    assert never_overlap(place.points)


def test_a_lost_database_is_missed_also_when_the_spool_was_pruned(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    for name in ("derived.db", *place.names):
        (place.root / "_metrics" / name).unlink()
    assert place.derive().errors
    assert place.names == []


def test_a_lost_database_is_missed_by_what_the_spool_holds(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    for name in ("derived.db", "derived.begun"):
        (place.root / "_metrics" / name).unlink()
    assert place.derive().errors
    assert place.output == [1.0]


def test_a_lost_database_is_missed_by_what_was_sent(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    (name,) = place.names
    place.sent.add(name)
    shutil.rmtree(place.root / "_metrics")
    assert place.derive().errors
    assert place.names == []


def test_windows_after_a_loss_follow_what_the_spool_holds(place: Place) -> None:
    place.land(fragment("c1", 1, at="10:30:00"))  # an hour ahead of the clock
    place.derive()
    (place.root / "_metrics" / "derived.db").unlink()
    place.derive()
    place.land(fragment("c2", 2, at="10:30:30"))
    place.derive()
    assert place.output == [1.0, 2.0]
    assert never_overlap(place.points)


def test_a_damaged_index_costs_its_session_only(place: Place) -> None:
    place.land(fragment("c1", 1), session="s1")
    place.land(fragment("c2", 2), session="s2")
    (place.root / "s1" / "index" / "index.db").write_bytes(b"no index" * 600)
    place.derive()
    assert place.output == [2.0]
    place.landings["s1"].index()
    place.derive()
    assert sorted(place.output) == [1.0, 2.0]


# ---------------------------------------------------------------- the spool


def test_numbers_go_on_after_all_of_the_spool(place: Place) -> None:
    spool = Spool(Root(place.root))
    spool.add_all(7, [b"received"], "otlp")
    place.land(fragment("c1", 1))
    place.derive()
    place.land(fragment("c2", 2))
    place.derive()
    assert [(entry.seq, entry.origin) for entry in spool.entries()] == [
        (7, "otlp"),
        (8, "derived"),
        (9, "derived"),
    ]


def test_a_pruned_spool_gives_no_number_twice(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    (place.root / "_metrics" / place.names[0]).unlink()
    place.land(fragment("c2", 2))
    place.derive()
    assert place.names[0].endswith("-000002-derived.pb")


def test_the_database_and_the_spool_are_private(place: Place) -> None:
    place.land(fragment("c1", 1))
    place.derive()
    found = {path.name: path.stat().st_mode & 0o777 for path in (place.root / "_metrics").iterdir()}
    assert (place.root / "_metrics").stat().st_mode & 0o777 == 0o700
    assert set(found.values()) <= {0o600, 0o400}


@pytest.mark.parametrize("sent", [True, False])
def test_a_request_that_was_sent_and_pruned_is_not_put_back(
    place: Place, monkeypatch: pytest.MonkeyPatch, sent: bool
) -> None:
    def interrupted(name: steps.Step, moment: steps.Moment) -> None:
        if (name, moment) == (steps.Step.METRICS_RELEASE, "before"):
            raise OSError(errno.EIO, "interrupted")

    place.land(fragment("c1", 1))
    with monkeypatch.context() as patch:
        patch.setattr(steps, "observer", interrupted)
        assert place.derive().errors
    (name,) = place.names
    (place.root / "_metrics" / name).unlink()
    if sent:
        place.sent.add(name)
    assert place.derive().errors == []
    assert place.names == ([] if sent else [name])
    assert place.derive().requests == 0


# ---------------------------------------------------------------- whatever lands, in whatever order

fragments = st.tuples(
    st.sampled_from(("s1", "s2")),
    st.sampled_from(("main", "a1")),
    st.lists(
        st.tuples(st.sampled_from("abcd"), st.integers(1, 9), st.booleans(), st.integers(0, 5)),
        min_size=1,
        max_size=4,
    ),
)


@settings(max_examples=40, deadline=None)
@given(st.lists(fragments, min_size=1, max_size=6))
def test_every_call_that_finishes_counts_exactly_once(
    landings: list[tuple[str, str, list[tuple[str, int, bool, int]]]],
) -> None:
    with TemporaryDirectory() as home:
        place = Place(Path(home) / "root")
        for session, stream, found in landings:
            records = (
                fragment(call, output, at=f"09:2{minute}:10", finished=finished)
                for call, output, finished, minute in found
            )
            place.land(*records, session=session, stream=stream)
            assert place.derive().errors == []
        every = [one for _session, _stream, found in landings for one in found]
        counted = [call.call for call in place.handed]
        assert sorted(counted) == sorted({call for call, _o, finished, _m in every if finished})
        assert sum(place.output) == sum(call.usage.output for call in place.handed)
        assert never_overlap(place.points)
