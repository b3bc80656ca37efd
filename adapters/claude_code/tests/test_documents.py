"""Sidecars, journals, manifests and scripts."""

from typing import Any

import pytest

from asz_claude_code.convert import convert
from asz_hookspecs import Part, Record, Source

from .lines import CHILD, SESSION, dump

HOME = f"-srv-tea/{SESSION}"
RUN = "1a2b3c4d-5e6"
SIDECAR = Source(
    src=f"{HOME}/subagents/agent-{CHILD}.meta.json",
    kind="agent_meta",
    shape="document",
    stream=CHILD,
)
JOURNAL = Source(
    src=f"{HOME}/subagents/workflows/wf_{RUN}/journal.jsonl",
    kind="journal",
    shape="lines",
    batch=RUN,
)
MANIFEST = Source(
    src=f"{HOME}/workflows/wf_{RUN}.json", kind="workflow_manifest", shape="document", batch=RUN
)
SCRIPT = Source(
    src=f"{HOME}/workflows/scripts/a-wf_{RUN}.js",
    kind="workflow_script",
    shape="document",
    batch=RUN,
)


def one(source: Source, raw: bytes) -> Record:
    (found,) = convert(source, [raw], b"").records
    return found


def test_sidecar() -> None:
    raw = dump({"agentType": "Explore", "description": "Look", "parentAgentId": "a1", "model": "x"})
    found = one(SIDECAR, raw)
    assert (found.child, found.started_by, found.label) == (CHILD, "a1", "Look")
    assert found.from_ == "runtime"
    assert found.parts == [Part("data", data=raw, size=len(raw))]


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"name": "mina", "isFork": True}, "mina"),
        ({"description": "", "name": "mina"}, "mina"),
        ({"description": "Lid", "name": "mina"}, "Lid"),
        ({"agentType": "fork"}, None),
    ],
)
def test_label_of_a_child(fields: dict[str, Any], label: str | None) -> None:
    assert one(SIDECAR, dump(fields)).label == label


def test_sidecar_names_no_call() -> None:
    assert one(SIDECAR, dump({"toolUseId": "toolu_1"})).tool is None


def test_manifest_may_be_indented() -> None:
    raw = b'{\n  "workflowName": "audit"\n}\n'
    found = one(MANIFEST, raw)
    assert (found.label, found.batch, found.from_) == ("audit", RUN, "runtime")
    assert found.parts[0].data == raw.strip()


def test_script_is_kept_and_not_read() -> None:
    raw = b"export const meta = {};\n\xff"
    found = one(SCRIPT, raw)
    assert found.parts == [Part("unknown", raw=raw, text="a program is not data")]
    assert (found.batch, found.from_, found.damaged) == (RUN, "runtime", None)


def test_journal_rows() -> None:
    launched, started, returned = convert(
        JOURNAL,
        [
            b'{"type":"launched"}',
            dump({"type": "started", "agentId": CHILD, "label": "check:1"}),
            dump({"type": "result", "agentId": CHILD, "result": "plain"}),
        ],
        b"",
    ).records
    assert (launched.child, launched.batch, launched.flags) == (None, RUN, ())
    assert (started.child, started.batch, started.flags) == (CHILD, RUN, ())
    assert (returned.child, returned.batch, returned.flags) == (CHILD, RUN, ("child_result",))
    assert returned.label is None


@pytest.mark.parametrize(
    ("result", "label"),
    [
        ({"surface": "API", "summary": "long"}, "API"),
        ({"surface": "", "summary": "long"}, "long"),
        ({"verdict": "confirmed"}, "confirmed"),
        (
            {
                "verdict": "refuted",
                "claims": [{"claim": "a"}, {"claim": "b", "refuted": True}],
            },
            "refuted: b",
        ),
        ({"verdict": "refuted", "claims": "none"}, "refuted"),
        ({"verdict": "refuted", "claims": [7]}, "refuted"),
        ({"summary": 7}, None),
        ("text", None),
        (None, None),
    ],
)
def test_name_of_a_journal_result(result: Any, label: str | None) -> None:
    found = one(JOURNAL, dump({"agentId": CHILD, "result": result}))
    assert found.label == label
    assert found.flags == ("child_result",)


@pytest.mark.parametrize("source", [SIDECAR, JOURNAL, MANIFEST])
@pytest.mark.parametrize("raw", [b"{torn", b"[]", b"\xff", b" "])
def test_documents_that_are_no_object_are_damaged(source: Source, raw: bytes) -> None:
    found = one(source, raw)
    assert found.damaged
    assert [(part.k, part.raw) for part in found.parts] == [("unknown", raw)]
