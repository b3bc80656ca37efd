"""What a result says it changed becomes a ``changes/1`` record beside it."""

import difflib
import hashlib
import json
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asz.storage.records import RecordWriter, record_sha
from asz_claude_code.convert import convert
from asz_claude_code.convert.hunks import Hunk, computed_hunks
from asz_claude_code.convert.paths import relative_to

from .lines import MAIN, SESSION, child_source, dump, records, result, user

CWD = "/work/p"
ABSENT = {"present": False, "bytes": None}
UNKNOWN = {"present": True, "bytes": None}
MIB = 1 << 20
PATCH = {"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" x", "-y", "+z"]}


def edit(old: Any, new: Any, original: Any, **fields: Any) -> dict[str, Any]:
    """The result of an Edit."""
    return {
        "filePath": f"{CWD}/a/b.py",
        "oldString": old,
        "newString": new,
        "originalFile": original,
        "structuredPatch": [],
        "userModified": False,
        "replaceAll": False,
        **fields,
    }


def write(content: Any, original: Any = None, **fields: Any) -> dict[str, Any]:
    """The result of a Write."""
    kind = "create" if original is None else "update"
    return {
        "type": kind,
        "filePath": f"{CWD}/a/b.py",
        "content": content,
        "structuredPatch": [],
        "originalFile": original,
        **fields,
    }


def notebook(original: Any, updated: Any, **fields: Any) -> dict[str, Any]:
    """The result of a NotebookEdit."""
    return {
        "new_source": "x",
        "cell_type": "code",
        "language": "python",
        "edit_mode": "replace",
        "error": "",
        "notebook_path": f"{CWD}/n.ipynb",
        "original_file": original,
        "updated_file": updated,
        **fields,
    }


def told(outcome: Any, **fields: Any) -> dict[str, Any] | None:
    """The record beside a result, as it lands; ``None`` when there is none."""
    raw = dump({**result("ok", outcome), "cwd": CWD, **fields})
    (record,) = convert(MAIN, [raw], b"").records
    row = orjson.loads(RecordWriter().encode(record, 1, 0, raw, record_sha(raw)))
    assert dump(row["parts"][0]["data"]) == dump(outcome)
    made = [part for part in row["parts"][1:] if part["k"] == "data"]
    return made[0]["data"] if made else None


def change(outcome: Any, **fields: Any) -> dict[str, Any]:
    """The one change of the record."""
    record = told(outcome, **fields)
    assert record is not None
    (only,) = record["changes"]
    return dict(only)


def side(text: str) -> dict[str, Any]:
    """What is written of a content."""
    data = text.encode()
    return {
        "present": True,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "no_newline_at_end": bool(data) and not data.endswith(b"\n"),
    }


# ---------------------------------------------------------------- the record


def test_an_edit_is_told_in_full_and_in_order() -> None:
    raw = dump({**result("ok", edit("y", "z", "x\ny\n", structuredPatch=[PATCH])), "cwd": CWD})
    (record,) = convert(MAIN, [raw], b"").records
    assert [part.k for part in record.parts] == ["result", "data"]
    part = record.parts[1]
    assert part.data == dump(
        {
            "schema": "changes/1",
            "id": "toolu_1",
            "captured_by": "claude-code",
            "session": SESSION,
            "stream": "main",
            "tool": "toolu_1",
            "tool_name": "Edit",
            "time": "2026-09-01T10:00:00.000Z",
            "basis": "runtime_reported",
            "root": {"path": CWD},
            "changed_files": 1,
            "changes": [
                {
                    "path": "a/b.py",
                    "operation": "modify",
                    "before": side("x\ny\n"),
                    "after": side("x\nz\n"),
                    "diff": "available",
                    "additions": 1,
                    "deletions": 1,
                    "hunks": [
                        {
                            "old_start": 1,
                            "old_lines": 2,
                            "new_start": 1,
                            "new_lines": 2,
                            "lines": [" x", "-y", "+z"],
                        }
                    ],
                }
            ],
        }
    )
    assert part.size == len(part.data)


def test_the_session_is_the_file_s_own() -> None:
    """A line copied from another session still says what its file's session did."""
    record = told(write("x"), sessionId="11111111-2222-4333-8444-555555555555")
    assert record is not None
    assert record["session"] == SESSION


def test_it_comes_after_the_content_and_names_the_part_that_took_the_result() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "b"},
    ]
    outcome = {**write("x"), "toolUseId": "toolu_2"}
    (record,) = records(user(blocks, toolUseResult=outcome))
    assert [part.k for part in record.parts] == ["result", "result", "data"]
    made = json.loads(record.parts[2].data or b"")
    assert (made["id"], made["tool"]) == ("toolu_2", "toolu_2")


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        (edit("y", "z", "y"), "Edit"),
        ({"filePath": "/x", "structuredPatch": [PATCH]}, "Edit"),
        (write("x"), "Write"),
        (write("x", "y"), "Write"),
        (notebook("{}", "{ }"), "NotebookEdit"),
    ],
)
def test_the_tool_is_known_by_what_its_result_holds(outcome: Any, name: str) -> None:
    record = told(outcome)
    assert record is not None
    assert record["tool_name"] == name


@pytest.mark.parametrize(
    "outcome",
    [
        {"stdout": "structuredPatch", "stderr": ""},
        {"type": "text", "file": {"filePath": "/x", "content": "notebook_path"}},
        {"filePath": "/x", "content": "no patch"},
        {"structuredPatch": [], "content": "no path"},
        {"filePath": 7, "structuredPatch": [], "content": "x"},
        {"filePath": "/x", "structuredPatch": None, "content": "x"},
        {"filePath": "/x", "structuredPatch": [PATCH], "edits": [{"old_string": "a"}]},
        {"notebook_path": "/x"},
        {"notebook_path": 7, "original_file": "a", "updated_file": "b"},
        notebook("{}", "{ }", error="no such cell"),
        "Error: structuredPatch",
        [{"type": "text", "text": "structuredPatch"}],
    ],
)
def test_other_results_have_none(outcome: Any) -> None:
    assert told(outcome) is None


def test_a_failed_result_has_none() -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}
    (record,) = records(user([block], toolUseResult=write("x")))
    assert [part.k for part in record.parts] == ["result"]


def test_what_would_lack_a_required_field_has_none() -> None:
    assert told(write("x"), timestamp=None) is None
    block = {"type": "tool_result", "content": "ok"}
    (record,) = records(user([block], toolUseResult=write("x")))
    assert [part.k for part in record.parts] == ["result"]
    (record,) = records(user("no result", toolUseResult=write("x")))
    assert [part.k for part in record.parts] == ["text", "data"]
    assert record.parts[1].data == dump(write("x"))


def test_a_child_stream_has_none() -> None:
    (record,) = records(result("ok", write("x")), source=child_source())
    assert [part.k for part in record.parts] == ["result"]


# ---------------------------------------------------------------- both versions


@pytest.mark.parametrize(
    ("outcome", "operation", "before", "after"),
    [
        (edit("y", "z", "xyx"), "modify", side("xyx"), side("xzx")),
        (edit("y", "zz", "yxy", replaceAll=True), "modify", side("yxy"), side("zzxzz")),
        (edit("y", "", "a\ny"), "modify", side("a\ny"), side("a\n")),
        (edit("all", "", "all"), "modify", side("all"), side("")),
        (edit("y", "z\\1", "y"), "modify", side("y"), side("z\\1")),
        (edit("", "new\n", None), "create", ABSENT, side("new\n")),
        (edit("", "new\n", ""), "modify", side(""), side("new\n")),
        (write("a\r\nb"), "create", ABSENT, side("a\r\nb")),
        (write(""), "create", ABSENT, side("")),
        (write("b", "", type="create"), "modify", side(""), side("b")),
        (write("b", "a"), "modify", side("a"), side("b")),
        (write("b", ""), "modify", side(""), side("b")),
        (write("b", None, type=None), "create", ABSENT, side("b")),
        (write("b", None, type="update"), "modify", UNKNOWN, side("b")),
        (write("é", "e"), "modify", side("e"), side("é")),
        (notebook('{"a":1}', '{"a":2}\n'), "modify", side('{"a":1}'), side('{"a":2}\n')),
        (notebook(None, "{}"), "modify", UNKNOWN, side("{}")),
        (notebook("{}", None), "modify", side("{}"), UNKNOWN),
        # what the report leaves open
        (edit("y", "z", None), "modify", UNKNOWN, UNKNOWN),
        (edit("y", "z", "not there"), "modify", side("not there"), UNKNOWN),
        (edit("y", "z", "y and y"), "modify", side("y and y"), UNKNOWN),
        (edit("", "z", "not empty"), "modify", side("not empty"), UNKNOWN),
        (edit("y", None, "y"), "modify", side("y"), UNKNOWN),
        (edit("y", "", "y\nx"), "modify", side("y\nx"), UNKNOWN),
    ],
)
def test_versions(outcome: Any, operation: str, before: Any, after: Any) -> None:
    made = change(outcome)
    assert (made["operation"], made["before"], made["after"]) == (operation, before, after)


@pytest.mark.parametrize(
    ("height", "after"), [(0, side("a\n\nb\n")), (-1, side("a\nb\n")), (-3, UNKNOWN)]
)
def test_the_patch_tells_whether_a_line_end_went_with_the_text(height: int, after: Any) -> None:
    patch = {"oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 3 + height, "lines": ["-y"]}
    made = change(edit("y", "", "a\ny\nb\n", structuredPatch=[patch]))
    assert made["after"] == after


def test_half_a_pair_is_in_no_file() -> None:
    raw = json.dumps({**result("ok", write("\ud800 x", "y")), "cwd": "/\ud801"}).encode()
    (record,) = convert(MAIN, [raw], b"").records
    row = orjson.loads(RecordWriter().encode(record, 1, 0, raw, record_sha(raw)))
    made = row["parts"][1]["data"]
    assert made["root"] == {"path": "/\ufffd"}
    assert made["changes"][0]["after"] == UNKNOWN
    assert made["changes"][0]["diff"] == "unavailable"


# ---------------------------------------------------------------- diffs


@pytest.mark.parametrize(
    ("before", "after", "lines", "ranges"),
    [
        (None, "a\nb\n", ["+a", "+b"], (0, 0, 1, 2)),
        (None, "a", ["+a", "\\ No newline at end of file"], (0, 0, 1, 1)),
        ("a\n", "", ["-a"], (1, 1, 0, 0)),
        ("a\r\n", "a\n", ["-a\r", "+a"], (1, 1, 1, 1)),
        ("a\nb", "a\nb\n", [" a", "-b", "\\ No newline at end of file", "+b"], (1, 2, 1, 2)),
        ("1\n2\n3\n4\n5\n", "1\n2\n3\n4\n6\n", [" 2", " 3", " 4", "-5", "+6"], (2, 4, 2, 4)),
    ],
)
def test_hunks_are_computed_when_the_runtime_gives_none(
    before: str | None, after: str, lines: list[str], ranges: tuple[int, ...]
) -> None:
    made = change(write(after, before))
    (hunk,) = made["hunks"]
    assert hunk["lines"] == lines
    names = ("old_start", "old_lines", "new_start", "new_lines")
    assert tuple(hunk[name] for name in names) == ranges
    signs = [line[0] for line in lines]
    assert (made["additions"], made["deletions"]) == (signs.count("+"), signs.count("-"))


def test_nothing_changed_is_an_empty_diff() -> None:
    made = change(write("a\n", "a\n"))
    assert (made["diff"], made["additions"], made["deletions"], made["hunks"]) == (
        "available",
        0,
        0,
        [],
    )


@pytest.mark.parametrize(
    "patch",
    [
        [{"oldStart": "1"}],
        ["text"],
        [{**PATCH, "oldLines": -1}],
        [{**PATCH, "lines": [7]}],
        [{**PATCH, "lines": None}],
    ],
)
def test_a_patch_of_another_shape_is_computed_or_left_open(patch: Any) -> None:
    assert change(write("b\n", "a\n", structuredPatch=patch))["hunks"][0]["lines"] == ["-a", "+b"]
    made = change(edit("y", "z", None, structuredPatch=patch))
    assert made["diff"] == "unavailable"
    assert "hunks" not in made


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (write("x" * MIB), "available"),
        (write("x" * (MIB + 1)), "too_large"),
        (write("x", "é" * (MIB // 2) + "y"), "too_large"),
        (write("a\0b"), "binary"),
        (write("ab", "a\0b"), "binary"),
        (
            edit("y", "z", None, structuredPatch=[{**PATCH, "lines": ["+" + "x" * MIB]}]),
            "too_large",
        ),
        (edit("y", "z", None, structuredPatch=[{**PATCH, "lines": ["+\0"]}]), "binary"),
        (edit("y", "z", None), "unavailable"),
    ],
)
def test_what_is_told_by_digests_alone(outcome: Any, state: str) -> None:
    made = change(outcome)
    assert made["diff"] == state
    assert ("hunks" in made) == ("additions" in made) == (state == "available")
    if state in ("binary", "too_large") and "content" in outcome:
        assert made["after"] == side(outcome["content"])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from("ab\n\r\u2028"), max_size=40), st.data())
def test_computed_hunks_lead_from_one_version_to_the_other(
    start: list[str], data: st.DataObject
) -> None:
    before = "".join(start)
    at = data.draw(st.integers(0, len(before)))
    after = before[:at] + "".join(data.draw(st.lists(st.sampled_from("abc\n"), max_size=9)))
    after += before[at + data.draw(st.integers(0, 5)) :]
    assert applied(before, computed_hunks(before, after)) == after
    assert bool(computed_hunks(before, after)) == (before != after)


def test_many_lines_are_replaced_as_one() -> None:
    before = "same\n" * 5 + "".join(f"a{n}\n" for n in range(3000)) + "end\n" * 5
    after = "same\n" * 5 + "".join(f"b{n}\n" for n in range(3000)) + "end\n" * 5
    (hunk,) = computed_hunks(before, after)
    assert applied(before, [hunk]) == after
    assert (hunk.old_start, hunk.old_lines, hunk.new_lines) == (3, 3006, 3006)


def applied(before: str, hunks: list[Hunk]) -> str:
    """The content that the hunks make of another."""
    lines = before.split("\n")
    old = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    out: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - (hunk.old_lines > 0)
        out += old[at:start]
        at = start
        new: list[str] = []
        last = " "
        for line in hunk.lines:
            if line.startswith("\\"):
                if last in "+ ":
                    new[-1] = new[-1].removesuffix("\n")
                continue
            last = line[0]
            if last in "- ":
                assert old[at].removesuffix("\n") == line[1:]
                at += 1
            if last in "+ ":
                new.append(line[1:] + "\n")
        assert len(new) == hunk.new_lines
        assert len(out) == hunk.new_start - (hunk.new_lines > 0)
        out += new
    return "".join([*out, *old[at:]])


# ---------------------------------------------------------------- paths


@pytest.mark.parametrize(
    ("path", "cwd", "shown"),
    [
        ("/work/p/a/b.py", "/work/p", "a/b.py"),
        ("/work/p/a/b.py", "/work/p/", "a/b.py"),
        ("/work/p2/b.py", "/work/p", "/work/p2/b.py"),
        ("/work/p", "/work/p", "/work/p"),
        ("/etc/hosts", "/", "etc/hosts"),
        ("/work/p/../q/b.py", "/work/p", "/work/p/../q/b.py"),
        ("b.py", "/work/p", "b.py"),
        ("/work/p/b.py", "", "/work/p/b.py"),
        ("/work/P/b.py", "/work/p", "/work/P/b.py"),
        ("/work/p/a\\b.py", "/work/p", "a\\b.py"),
        ("C:\\work\\p\\a\\b.py", "C:\\work\\p", "a/b.py"),
        ("c:\\Work\\p\\a b.py", "C:\\work\\p", "a b.py"),
        ("C:/work/p/a.py", "C:\\work\\p", "a.py"),
        ("D:\\work\\p\\a.py", "C:\\work\\p", "D:\\work\\p\\a.py"),
        ("C:\\work\\p\\..\\q.py", "C:\\work\\p", "C:\\work\\p\\..\\q.py"),
        ("\\\\host\\share\\p\\a.py", "\\\\host\\share\\p", "a.py"),
    ],
)
def test_paths_are_below_the_working_directory(path: str, cwd: str, shown: str) -> None:
    assert relative_to(path, cwd) == shown
    made = change({**write("x"), "filePath": path}, cwd=cwd)
    assert made["path"] == shown


def test_without_a_working_directory_there_is_no_root() -> None:
    record = told(write("x"), cwd=None)
    assert record is not None
    assert "root" not in record
    assert record["changes"][0]["path"] == f"{CWD}/a/b.py"


# ---------------------------------------------------------------- random reports

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.text(max_size=8),
    st.sampled_from(["y", "xyx", "", "y\n", "/work/p/a", "create", "\ud800", "a\0b"]),
    st.just([PATCH]),
    st.lists(st.dictionaries(st.sampled_from([*PATCH]), st.integers() | st.text(max_size=3))),
)
KEYS = sorted({*edit("", "", ""), *write(""), *notebook("", ""), "edits"})


@settings(max_examples=400, deadline=None)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES), st.sampled_from([edit, write, notebook]))
def test_whatever_a_report_holds_it_lands_and_says_nothing_false(fields: Any, tool: Any) -> None:
    outcome = {**(tool("y", "z", "xyx") if tool is edit else tool("x", "y")), **fields}
    raw = json.dumps({**result("ok", outcome), "cwd": CWD}).encode()
    (record,) = convert(MAIN, [raw], b"").records
    assert convert(MAIN, [raw], b"").records == [record]
    row = orjson.loads(RecordWriter().encode(record, 1, 0, raw, record_sha(raw)))
    for part in row["parts"]:
        if part["k"] != "data":
            continue
        (made,) = part["data"]["changes"]
        assert part["data"]["tool_name"] in ("Edit", "Write", "NotebookEdit")
        assert made["diff"] in ("available", "binary", "too_large", "unavailable")
        for version in (made["before"], made["after"]):
            assert ("sha256" in version) == (version["bytes"] is not None)
        contents = [value for value in outcome.values() if isinstance(value, str)]
        known = {side(text)["sha256"] for text in contents if text.isascii()}
        if made["before"].get("sha256"):
            assert made["before"]["sha256"] in known or not "".join(contents).isascii()


def test_difflib_agrees_on_what_was_added_and_taken_away() -> None:
    before, after = "a\nb\nc\nd\n", "a\nc\ne\nd\n"
    made = change(write(after, before))
    lines = difflib.ndiff(before.splitlines(), after.splitlines())
    signs = [line[0] for line in lines]
    assert (made["additions"], made["deletions"]) == (signs.count("+"), signs.count("-"))
