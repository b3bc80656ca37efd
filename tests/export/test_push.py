"""What arrives at a receiver is what lies in the root, described as promised, once."""

import getpass
import hashlib
import json
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

import asz_claude_code
from asz import __version__
from asz.export.state import sent_metrics
from asz.storage.locks import hold
from asz.storage.root import Root
from asz.storage.times import parse_ns

from ..support.landed import Landing
from ..support.otlp import Listening, Received, grpc_receiver, plain, records
from ..support.pipeline import Pipeline
from ..support.pushing import Place, spool_request
from ..support.sessions import land_small, prompt

RESOURCE = {
    "service.name": "Claude Code",
    "service.instance.id": f"{getpass.getuser()}@{socket.gethostname()}",
    "service.layer": "AI_AGENT",
    "telemetry.sdk.name": "asz",
    "telemetry.sdk.version": __version__,
    "telemetry.sdk.language": "python",
}


# ---------------------------------------------------------------- whole


def test_what_arrives_gives_a_root_that_verifies(
    place: Place, receiver: Listening, tmp_path: Path
) -> None:
    outcome = place.push(receiver)
    assert (outcome.status, outcome.err) == (0, "")
    assert sorted(receiver.inbox.paths()) == place.files()
    copy = Place(tmp_path / "copy")
    receiver.inbox.write_back(copy.root)
    for path in place.files():
        assert (copy.root / path).read_bytes() == (place.root / path).read_bytes()
    verified = copy.asz("verify")
    assert (verified.status, verified.err) == (0, "")
    assert verified.out == place.asz("verify").out


def test_sessions_arrive_one_after_the_other_files_before_rounds(
    place: Place, receiver: Listening
) -> None:
    for session in ("b-session", "A-session"):
        land_small(Landing(place.root, session))
    assert place.push(receiver, batch_bytes=20_000).status == 0

    def key(record: Received) -> tuple[Any, ...]:
        found = record.attributes
        last = found["asz.seq"] if found["asz.format"] == "sd" else found["asz.round"]
        return (found["asz.session"], found["asz.format"], last)

    keys = [key(record) for record in receiver.inbox.received()]
    assert keys == sorted(keys)
    assert len({session for session, *_ in keys}) == 3


def test_a_request_stays_below_the_batch_size_unless_a_file_is_larger(
    place: Place, receiver: Listening
) -> None:
    assert place.push(receiver, batch_bytes=7_000).status == 0
    bodies = receiver.inbox.taken("logs")
    counts = [len(list(records(body))) for body in bodies]
    assert len(bodies) > 3
    assert max(counts) > 1
    assert all(len(body) <= 7_000 or count == 1 for body, count in zip(bodies, counts, strict=True))
    assert any(len(body) > 7_000 for body in bodies)


# ---------------------------------------------------------------- described


def test_every_attribute_says_what_the_file_holds(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    found = receiver.inbox.received()
    latest = max(time for record in found for time in times_of(record.body))
    for record in found:
        expected = (
            landed(record, latest) if record.attributes["asz.format"] == "sd" else round_(record)
        )
        assert (record.attributes, record.record.time_unix_nano) == expected
        assert record.resource == RESOURCE
        assert record.scope == ("asz", __version__)
        assert record.record.observed_time_unix_nano > record.record.time_unix_nano > 0
        assert record.record.severity_number == 0
    kinds = {record.attributes["asz.file.kind"] for record in found}
    assert {"transcript", "agent_meta", "journal", "workflow_manifest", "round"} <= kinds


def times_of(text: str) -> list[int]:
    lines = [json.loads(line) for line in text.splitlines()]
    stated = [line["time"] for line in lines if "time" in line and "ord" in line]
    return [ns for ns in map(parse_ns, stated) if ns is not None]


def landed(record: Received, latest: int) -> tuple[dict[str, Any], int]:
    header = json.loads(record.body.splitlines()[0])
    times = times_of(record.body)
    values = {
        "asz.format": "sd",
        "asz.format.version": "1",
        "asz.file": record.attributes["asz.file"],
        "asz.file.kind": header["kind"],
        "asz.file.digest": record.digest,
        "asz.lines": len(record.body.splitlines()),
        "asz.session": header["session"],
        "asz.seq": header["seq"],
    }
    if times:
        assert parse_ns(str(record.attributes["asz.from_time"])) == min(times)
        assert parse_ns(str(record.attributes["asz.through_time"])) == max(times)
        values |= {k: record.attributes[k] for k in ("asz.from_time", "asz.through_time")}
    place = ("asz.stream", header["stream"]) if "stream" in header else ("asz.run", header["batch"])
    return {**values, place[0]: place[1]}, max(times, default=latest)


def round_(record: Received) -> tuple[dict[str, Any], int]:
    header = json.loads(record.body.splitlines()[0])
    values = {
        "asz.format": "sf",
        "asz.format.version": "1",
        "asz.file": record.attributes["asz.file"],
        "asz.file.kind": "round",
        "asz.file.digest": record.digest,
        "asz.lines": len(record.body.splitlines()),
        "asz.session": header["session"],
        "asz.conversation": header["conversation"],
        "asz.round": header["round"],
        "asz.session.from_time": header["session_from_time"],
        "asz.session.through_time": header["session_through_time"],
    }
    for name in ("from_time", "through_time"):
        if name in header:
            values[f"asz.{name}"] = header[name]
    for name in ("title", "talks", "steps", "streams", "segments", "unresolved"):
        if name in header:
            values[f"asz.conversation.{name}"] = header[name]
    return values, parse_ns(header["session_through_time"]) or 0


def test_who_sends_is_what_is_configured(place: Place, receiver: Listening) -> None:
    outcome = place.push(
        receiver,
        service_name="agents",
        instance_id="desk-7",
        layer="GENERAL",
        headers={"X-Token": "s3cret", "x-scope": "team a"},
    )
    assert outcome.status == 0
    expected = {**RESOURCE, "service.name": "agents", "service.instance.id": "desk-7"}
    expected["service.layer"] = "GENERAL"
    assert all(record.resource == expected for record in receiver.inbox.received())
    for request in receiver.inbox.requests:
        assert (request.headers["x-token"], request.headers["x-scope"]) == ("s3cret", "team a")
        assert request.headers["user-agent"].startswith(f"asz/{__version__}")


def test_runtimes_do_not_share_a_resource(place: Place, receiver: Listening) -> None:
    land_small(Landing(place.root, "zz-session"))
    assert place.push(receiver).status == 0
    names = {
        r.attributes["asz.session"]: r.resource["service.name"] for r in receiver.inbox.received()
    }
    assert names.pop("zz-session") == "Test"
    assert set(names.values()) == {"Claude Code"}


def test_a_session_without_any_time_has_none_invented(place: Place, receiver: Listening) -> None:
    landing = Landing(place.root, "timeless")
    landing.write([prompt("u1", time="some day")])
    assert place.push(receiver).status == 0
    (record,) = [r for r in receiver.inbox.received() if r.attributes["asz.session"] == "timeless"]
    assert record.record.time_unix_nano == 0
    assert "asz.from_time" not in record.attributes


def test_times_a_receiver_cannot_hold_are_left_out(place: Place, receiver: Listening) -> None:
    landing = Landing(place.root, "far")
    landing.write([prompt("u1", time="9999-01-01T00:00:00Z")])
    landing.write([prompt("u2", time="1969-12-31T23:59:59Z")])
    outcome = place.push(receiver)
    assert (outcome.status, outcome.err) == (0, "")
    far = [r for r in receiver.inbox.received() if r.attributes["asz.session"] == "far"]
    assert [r.record.time_unix_nano for r in far] == [0, 0]
    assert far[1].attributes["asz.through_time"] == "1969-12-31T23:59:59Z"


# ---------------------------------------------------------------- metrics


def test_metrics_leave_under_the_identity_of_asz_and_are_else_unchanged(
    place: Place, receiver: Listening
) -> None:
    originals = [p.read_bytes() for p in sorted((place.root / "_metrics").glob("*.pb"))]
    assert place.push(receiver).status == 0
    bodies = receiver.inbox.taken("metrics")
    assert len(bodies) == len(originals) == 3
    for body, original in zip(bodies, originals, strict=True):
        sent, held = map(ExportMetricsServiceRequest.FromString, (body, original))
        for resource in sent.resource_metrics:
            assert plain(resource.resource.attributes) == RESOURCE
            assert resource.resource.dropped_attributes_count == 0
        for request in (sent, held):
            for resource in request.resource_metrics:
                resource.ClearField("resource")
        assert sent == held


def test_a_resend_of_metrics_is_the_same_byte_for_byte(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    shutil.rmtree(place.root / "_export")
    assert place.push(receiver).status == 0
    bodies = receiver.inbox.taken("metrics")
    assert bodies[:3] == bodies[3:]


def test_a_service_no_adapter_knows_keeps_its_name(place: Place, receiver: Listening) -> None:
    spool_request(place.root, 4, service="somebody-else")
    assert place.push(receiver, logs=False).status == 0
    request = ExportMetricsServiceRequest.FromString(receiver.inbox.taken("metrics")[-1])
    assert plain(request.resource_metrics[0].resource.attributes) == {
        **RESOURCE,
        "service.name": "somebody-else",
    }


@pytest.mark.parametrize(("off", "sent"), [("logs", "metrics"), ("metrics", "logs")])
def test_each_signal_can_be_left_out(
    off: str, sent: str, place: Place, receiver: Listening
) -> None:
    assert place.push(receiver, **{off: False}).status == 0
    assert {request.signal for request in receiver.inbox.requests} == {sent}


# ---------------------------------------------------------------- once


def test_the_numbers_as_json(place: Place, receiver: Listening) -> None:
    numbers = json.loads(place.push(receiver, "--json").out)
    assert numbers["files"] + numbers["rounds"] == len(place.files())
    assert numbers["bytes"] == sum((place.root / f).stat().st_size for f in place.files()) + sum(
        path.stat().st_size for path in (place.root / "_metrics").glob("*.pb")
    )
    left = ("rejected", "refused", "pending", "damaged", "errors")
    assert [numbers[name] for name in left] == [0] * 5


def test_what_was_sent_is_not_sent_again(place: Place, receiver: Listening) -> None:
    first = place.push(receiver)
    again = place.push(receiver)
    assert first.counts["files"] + first.counts["rounds"] == len(place.files())
    assert first.counts["metrics"] == 3
    assert again.status == 0
    assert (again.counts["files"], again.counts["requests"]) == (0, 0)


def test_growth_alone_is_sent(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    before = len(receiver.inbox.paths())
    landing = Landing(place.root, "young")
    first = landing.write([prompt("u1")])
    assert place.push(receiver).status == 0
    second = landing.write([prompt("u2")])
    spool_request(place.root, 4)
    assert place.push(receiver).status == 0
    added = [path.relative_to(place.root).as_posix() for path in (first, second)]
    assert receiver.inbox.paths()[before:] == added
    assert len(receiver.inbox.taken("metrics")) == 4


def test_each_receiver_is_sent_everything(place: Place, receiver: Listening) -> None:
    with grpc_receiver() as other:
        for listening in (receiver, other, receiver, other):
            assert place.push(listening).status == 0
        assert sorted(receiver.inbox.paths()) == sorted(other.inbox.paths()) == place.files()


def test_a_lost_state_costs_a_resend_of_the_same_records(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    shutil.rmtree(place.root / "_export")
    assert place.push(receiver).status == 0
    found = [(r.attributes, r.body, r.record.time_unix_nano) for r in receiver.inbox.received()]
    assert found[: len(found) // 2] == found[len(found) // 2 :]


def test_a_damaged_state_is_told_and_costs_a_resend(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    (place.root / "_export" / "state.db").write_bytes(b"no database at all" * 100)
    outcome = place.push(receiver)
    assert outcome.status == 0
    assert "warning: what was sent is not known any more" in outcome.err
    assert len(receiver.inbox.paths()) == 2 * len(place.files())


def test_a_copied_root_is_recognised_by_its_bytes(
    place: Place, receiver: Listening, tmp_path: Path
) -> None:
    assert place.push(receiver).status == 0
    copy = Place(tmp_path / "copy")
    copy.home.mkdir()
    shutil.copytree(place.root, copy.root, copy_function=shutil.copyfile)
    requests = len(receiver.inbox.requests)
    for _ in range(2):
        outcome = copy.push(receiver)
        assert (outcome.status, outcome.counts["pending"]) == (0, 0)
    assert len(receiver.inbox.requests) == requests


def test_a_file_with_other_bytes_under_its_name_is_sent(place: Place, receiver: Listening) -> None:
    path = Landing(place.root, "s").write([prompt("u1")])
    assert place.push(receiver).status == 0
    path.unlink()
    Landing(place.root, "s").write([prompt("u1 with another name")])
    assert place.push(receiver).status == 0
    assert receiver.inbox.paths().count(path.relative_to(place.root).as_posix()) == 2


# ---------------------------------------------------------------- what is wrong in the root


def test_a_damaged_file_is_named_and_the_rest_goes_on(place: Place, receiver: Listening) -> None:
    files = place.files()
    changed, cut = (next(f for f in files if f.endswith(end)) for end in (".sd", ".sf"))
    _rewrite(place.root / changed, lambda data: data.replace(b'"ord":1,', b'"ord":7,', 1))
    _rewrite(place.root / cut, lambda data: data[:-10])
    spooled = spool_request(place.root, 4)
    _rewrite(spooled, lambda data: b"\xff" + data)
    outcome = place.push(receiver)
    assert outcome.status == 1
    lines = outcome.err.splitlines()
    assert len(lines) == 3
    for path, line in zip((place.root / changed, place.root / cut, spooled), lines, strict=True):
        assert line.startswith(f"asz: error: {path}: ")
    assert outcome.counts["damaged"] == 3
    assert sorted(receiver.inbox.paths()) == [f for f in files if f not in (changed, cut)]
    assert len(receiver.inbox.taken("metrics")) == 3


def _rewrite(path: Path, change: Any) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(change(data))


def test_another_pusher_is_not_waited_for(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    with hold(place.root / "_export" / ".lock"):
        outcome = place.push(receiver)
    assert outcome.status == 1
    assert outcome.err.count("\n") == 1
    assert "another process holds the lock" in outcome.err


def test_what_is_kept_is_private(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    kept = place.root / "_export"
    assert kept.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in kept.iterdir()} == {0o600}


# ---------------------------------------------------------------- pruning


def test_pruning_removes_what_this_receiver_took(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    unsent = spool_request(place.root, 4)
    named = {"endpoint": receiver.endpoint, "protocol": receiver.protocol}
    with grpc_receiver() as other:
        elsewhere = place.asz("push", "--prune", otlp={"endpoint": other.endpoint})
    assert elsewhere.out.startswith("removed=0 ")
    requests = len(receiver.inbox.requests)
    pruned = json.loads(place.asz("push", "--prune", "--json", otlp=named).out)
    assert (pruned["removed"], pruned["kept"]) == (3, 1)
    assert [p.name for p in (place.root / "_metrics").glob("*.pb")] == [unsent.name]
    assert len(receiver.inbox.requests) == requests
    assert place.push(receiver, "--prune").status == 0
    assert not list((place.root / "_metrics").glob("*.pb"))
    assert len(receiver.inbox.taken("metrics")) == 4
    root = Root.open(place.root, write=False)
    assert unsent.name in sent_metrics(root)
    assert len(sent_metrics(root)) == 4


# ---------------------------------------------------------------- the pipeline


def test_a_pass_of_the_pipeline_sends_what_it_landed(receiver: Listening, tmp_path: Path) -> None:
    sample = Path(asz_claude_code.__file__).parent / "sample" / "projects"
    named = {"endpoint": receiver.endpoint, "protocol": receiver.protocol}
    export = f"export: {{otlp: {json.dumps(named)}}}\n"
    pipeline = Pipeline(tmp_path, sample, collector=export)
    collected = pipeline.collect()
    assert (collected.status, collected.err) == (0, "")
    first, second = collected.out.splitlines()
    assert " landed=10 " in first
    assert " pushed files=10 rounds=1 " in second
    assert sorted(receiver.inbox.paths()) == Place(tmp_path).files()
    assert len(pipeline.collect().out.splitlines()) == 1


def test_digests_are_of_the_bytes_that_were_sent(place: Place, receiver: Listening) -> None:
    assert place.push(receiver).status == 0
    for record in receiver.inbox.received():
        data = (place.root / str(record.attributes["asz.file"])).read_bytes()
        assert record.attributes["asz.file.digest"] == hashlib.sha256(data).hexdigest()


def test_a_file_no_request_can_hold_is_named_and_not_read(
    place: Place, receiver: Listening
) -> None:
    path = Landing(place.root, "vast").write([prompt("u1")])
    with path.open("r+b") as handle:
        handle.truncate(1 << 31)  # a hole: it takes no space
    outcome = place.push(receiver)
    assert (outcome.status, outcome.counts["pending"]) == (1, 1)
    (line,) = outcome.err.splitlines()
    assert f"{path}: 2147483648 bytes are more than a request can hold" in line
