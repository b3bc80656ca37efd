from hypothesis import given
from hypothesis import strategies as st

from asz.assembly import ids
from asz.assembly.model import Ref

names = st.text(st.sampled_from("a0_/%25FéB:@."), max_size=6)


def unescape(part: str) -> str:
    return part.replace("%2F", "/").replace("%25", "%")


@given(names)
def test_a_part_holds_no_slash_and_can_be_read_back(name: str) -> None:
    assert "/" not in ids.part(name)
    assert unescape(ids.part(name)) == name


@given(names, names, names, names)
def test_different_names_give_different_ids(a: str, b: str, c: str, d: str) -> None:
    assert (ids.talk(a, b) == ids.talk(c, d)) == ((a, b) == (c, d))
    assert (ids.run(ids.talk(a), b) == ids.run(ids.talk(c), d)) == ((a, b) == (c, d))


@given(names, names, names, names)
def test_different_ends_give_different_relations(a: str, b: str, c: str, d: str) -> None:
    one = ids.relation("starts", ids.tool(a), ids.stream(b))
    other = ids.relation("starts", ids.tool(c), ids.stream(d))
    assert (one == other) == ((a, b) == (c, d))


@given(names, names)
def test_a_later_use_never_takes_another_tools_id(name: str, other: str) -> None:
    assert ids.tool(name, "@1/2:0") != ids.tool(other)


def test_forms() -> None:
    assert ids.part("a/b%c_d") == "a%2Fb%25c_d"
    assert ids.inside("talk/main/x_y") == "talk_main_x%5Fy"
    assert ids.run("talk/main/r1", "r/1") == "run/talk_main_r1/r%2F1"
    assert ids.segment(Ref(3, 4)) == "segment/at_3_4"
    assert ids.relation("starts", "tool/t1", "stream/a1") == "rel/starts/tool_t1/stream_a1"
    assert ids.unresolved("spawn_call", "a/b") == "unres/spawn_call/a%2Fb"
