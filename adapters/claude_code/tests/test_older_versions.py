"""What is inferred for versions that did not write it, and where it is not."""

from typing import Any

import pytest

from asz_claude_code.convert import convert
from asz_claude_code.convert.versions import ORIGINS, RUN_IDS, before

from .lines import child_source, dump, line, record, records, result, text, user

OLD = "2.1.9"
BETWEEN = "2.1.120"
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (None, True),
        ("1.0.80", True),
        ("2.0.46", True),
        ("2.1.75", True),
        ("2.1.76", False),
        ("2.1.76-beta.1", False),
        ("2.1.245", False),
        ("2.10.0", False),
        ("10.0.0", False),
        ("2.1", True),
        ("next", False),
        ("", False),
        ("9" * 5000, False),
    ],
)
def test_versions_compare_as_numbers(version: str | None, expected: bool) -> None:
    assert before(version, RUN_IDS) is expected


def test_origins_came_later_than_run_ids() -> None:
    assert before("2.1.199", ORIGINS)
    assert not before("2.1.200", ORIGINS)


@pytest.mark.parametrize("version", [OLD, None])
@pytest.mark.parametrize("content", ["hello", [text("hello")], [PICTURE], [PICTURE, text("look")]])
def test_an_old_prompt_opens_a_run_and_is_input(version: str | None, content: Any) -> None:
    found = record(user(content, version=version))
    assert found.run == "u1"
    assert found.flags == ("external_input", "inferred")
    assert found.trigger is None


def test_with_a_run_id_only_the_input_is_inferred() -> None:
    found = record(user("hello", version=BETWEEN, promptId="cycle"))
    assert found.run == "cycle"
    assert found.flags == ("external_input", "inferred")


def test_between_the_two_changes_a_missing_run_stays_missing() -> None:
    found = record(user("hello", version=BETWEEN))
    assert found.run is None
    assert found.flags == ("external_input", "inferred")


def test_a_stated_origin_leaves_only_the_run_to_infer() -> None:
    found = record(user("hello", version=OLD, origin={"kind": "human"}))
    assert (found.run, found.flags) == ("u1", ("external_input", "inferred"))
    found = record(user("hello", version=OLD, origin={"kind": "peer"}))
    assert (found.run, found.flags) == ("u1", ("inferred",))


@pytest.mark.parametrize("start", ["<command-name>/cost</command-name>", "<bash-input>ls"])
def test_a_local_command_opens_a_run_but_says_nothing(start: str) -> None:
    found = record(user(start, version=OLD))
    assert (found.run, found.flags) == ("u1", ("inferred",))


@pytest.mark.parametrize(
    "given",
    [
        user("<local-command-stdout>", version=OLD),
        user("<bash-stdout>x", version=OLD),
        user("<task-notification>", version=OLD),
        user("<teammate-message id=1>", version=OLD),
        user([text("[Request interrupted by user]")], version=OLD),
        user("x", version=OLD, isMeta=True),
        user("x", version=OLD, isCompactSummary=True),
        user("x", version=OLD, isSidechain=True),
        {**result("done"), "version": OLD},
        user([], version=OLD),
        user([{"type": "document"}], version=OLD),
        line("assistant", message={"content": "x"}, version=OLD),
        line("progress", version=OLD),
    ],
)
def test_what_is_no_prompt(given: dict[str, Any]) -> None:
    found = record(given)
    assert found.run is None
    assert "inferred" not in found.flags
    assert "external_input" not in found.flags


def test_a_prompt_without_an_id_names_no_run() -> None:
    found = record(user("hello", version=OLD, uuid=None))
    assert (found.run, found.flags) == (None, ("external_input", "inferred"))


def test_newer_versions_are_taken_at_their_word() -> None:
    found = record(user("hello"))
    assert (found.run, found.flags) == (None, ())


# ---------------------------------------------------------------- child streams


def test_the_first_record_of_an_old_child_opens_its_run() -> None:
    child = child_source("3f9a1c2e")
    first, second = records(
        user("look", version=OLD), user("more", version=OLD, uuid="u2"), source=child
    )
    assert (first.run, first.flags) == ("u1", ("inferred",))
    assert (second.run, second.flags) == (None, ())


def test_lines_without_an_id_are_passed_over() -> None:
    context = b'{"type":"fork-context-ref","contextLength":2}'
    found = records(context, b"{torn", user("look", version=OLD), source=child_source())
    assert [one.run for one in found] == [None, None, "u1"]


def test_a_newer_first_record_settles_it() -> None:
    found = records(
        user("look", promptId="cycle"), user("x", version=OLD, uuid="u2"), source=child_source()
    )
    assert [one.run for one in found] == ["cycle", None]


def test_carry_brings_it_over_a_window() -> None:
    child = child_source()
    lines = [b"{torn", dump(user("a", version=OLD)), dump(user("b", version=OLD, uuid="u2"))]
    carry = b""
    found = []
    for raw in lines:
        out, carry = convert(child, [raw], carry)
        found += out
    assert [one.run for one in found] == [None, "u1", None]


# ---------------------------------------------------------------- helpers of the runtime


@pytest.mark.parametrize("first", [b"{torn", dump(user("x")), b'{"type":"fork-context-ref"}'])
def test_auxiliary_is_on_the_first_record_alone(first: bytes) -> None:
    helper = child_source("acompact-0123456789abcdef", auxiliary=True)
    found = records(first, user("y", uuid="u2"), source=helper)
    assert ["auxiliary" in one.flags for one in found] == [True, False]
