from asz.assembly.model import Tokens
from asz.flow.chain import round_names
from asz.flow.listing import conversations
from asz.flow.parse import parse
from asz.storage.root import Root

from ...support.landed import Landing
from ...support.sessions import land_small, prompt


def test_a_conversation_is_listed_with_what_its_head_says(root: Root, landing: Landing) -> None:
    land_small(landing)
    [row] = conversations(root)
    assert (row.id, row.state, row.rounds) == ("s1", "unparsed", 0)
    parse(root, "s1")
    [row] = conversations(root)
    assert (row.state, row.title, row.talks, row.steps, row.unresolved) == (
        "current",
        "a title",
        2,
        9,
        1,
    )
    assert row.tokens == Tokens(3, 15, 0, 0)
    landing.write([prompt("u2")])
    assert [row.state for row in conversations(root)] == ["behind"]


def test_without_the_cache_only_the_tokens_are_unknown(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    [before] = conversations(root)
    (root.conversation_dir("s1") / "conversation.state").unlink()
    [after] = conversations(root)
    assert after.tokens is None
    assert (after.title, after.steps, after.through_time) == (
        before.title,
        before.steps,
        before.through_time,
    )


def test_a_missing_or_unreadable_round_shows(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1", max_round_bytes=1)
    first, _, last = round_names(root.conversation_dir("s1"))
    data = first.path.read_bytes()
    first.path.unlink()
    assert [row.state for row in conversations(root)] == ["broken"]
    first.path.write_bytes(data)
    (root.conversation_dir("s1") / "conversation.state").unlink()
    last.path.unlink()
    last.path.write_bytes(b"not a round\n")
    assert [row.state for row in conversations(root)] == ["broken"]


def test_a_conversation_outlives_its_session(root: Root, landing: Landing) -> None:
    land_small(landing)
    parse(root, "s1")
    landing.directory.rename(root.path.parent / "moved away")
    rows = [(row.id, row.title, row.state) for row in conversations(root)]
    assert rows == [("s1", "a title", "purged")]


def test_the_conversation_that_was_active_last_stands_first(root: Root) -> None:
    for name, time in (("s1", "2026-09-01T09:00:00Z"), ("s2", "2031-01-01T00:00:00Z")):
        Landing(root.path, name).write([prompt("u1", time)])
        parse(root, name)
    Landing(root.path, "s3").write([prompt("u1")])
    assert [(row.id, row.state) for row in conversations(root)] == [
        ("s2", "current"),
        ("s1", "current"),
        ("s3", "unparsed"),
    ]
