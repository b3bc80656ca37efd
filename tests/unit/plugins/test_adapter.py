"""One adapter at a time, whatever it does: what it returns is checked, what it raises is stamped."""

import asyncio
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from asz.errors import AdapterFailure, AszError
from asz.plugins import Adapter, Adapters, Installed, Selection, State, load_adapters
from asz_hookspecs import (
    AdapterError,
    AdapterInfo,
    Converted,
    Discovery,
    Problem,
    RawRecord,
    Record,
    Session,
    Source,
    SourceError,
    Term,
    hookimpl,
)

SOURCE = Source(src="a.jsonl", root="/history", kind="transcript", shape="lines", stream="main")
INFO = AdapterInfo(version="2", runtime="Agent", dialect="agent/1")


def module(**names: Any) -> ModuleType:
    made = ModuleType("agent")
    vars(made).update(names)
    return made


def plugin(**hooks: Any) -> ModuleType:
    """A plugin; each hook is a function or what it returns."""
    made: dict[str, Any] = {
        "asz_adapter": lambda: INFO,
        "asz_convert": lambda records: Converted([Record() for _ in records]),
        "asz_glossary": lambda: [Term("tool", "Tool", "here")],
        **hooks,
    }
    return module(
        ASZ_CONTRACT=1, **{name: hookimpl(specname=name)(hook) for name, hook in made.items()}
    )


def installed(name: str, one: Any, distribution: str = "dist") -> Installed:
    return Installed(name, distribution, "3.1", SimpleNamespace(load=lambda: one))


def load(*plugins: Any) -> Adapters:
    items = [installed(f"agent{number}", one) for number, one in enumerate(plugins)]
    return load_adapters(Selection(), items)


def adapter(**hooks: Any) -> Adapter:
    return load(plugin(**hooks)).get("agent0")


def raising(error: BaseException) -> Any:
    def hook() -> Any:
        raise error

    return hook


def only_agent(names: Adapters) -> Any:
    (status,) = names.statuses
    return status


# ---------------------------------------------------------------- loading


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (module(), "contract: states no ASZ_CONTRACT; this asz has 1"),
        (module(ASZ_CONTRACT=True), "contract: built for contract True"),
        (module(ASZ_CONTRACT=1), "register: lacks asz_adapter, asz_glossary"),
        (plugin(asz_discover=lambda options, surprise: None), "register: PluginValidationError"),
        (SimpleNamespace(ASZ_CONTRACT=1), "contract: TypeError: unhashable type"),
        (plugin(asz_misspelt=lambda: None), "register: PluginValidationError"),
        (
            plugin(asz_adapter=lambda: None),
            "asz_adapter: TypeError: what asz_adapter returned is a No",
        ),
        (plugin(asz_adapter=lambda: {"version": "1"}), "asz_adapter: TypeError"),
        (plugin(asz_adapter=raising(SystemExit(3))), "asz_adapter: SystemExit: 3"),
        (plugin(asz_adapter=raising(AdapterError("no luck"))), "asz_adapter: no luck"),
        (
            plugin(asz_adapter=lambda: AdapterInfo(version="1\n", runtime="x", dialect="y")),
            "asz_adapter: ValueError: version '1\\n' is no display name",
        ),
        (
            plugin(asz_adapter=lambda: AdapterInfo(version="1", runtime=7, dialect="y")),  # type: ignore[arg-type]
            "asz_adapter: TypeError: runtime is a int, not a str",
        ),
        (
            plugin(
                asz_adapter=lambda: AdapterInfo(
                    version="1", runtime="x", dialect="y", options="asz_no_such:Options"
                )
            ),
            "options: ModuleNotFoundError",
        ),
        (
            plugin(
                asz_adapter=lambda: AdapterInfo(
                    version="1", runtime="x", dialect="y", options="json:JSONDecoder"
                )
            ),
            "options: AttributeError",
        ),
    ],
)
def test_a_broken_adapter_costs_only_itself(one: Any, reason: str) -> None:
    adapters = load(one, plugin())
    broken, good = adapters.statuses
    assert (broken.state, good.state) == (State.BROKEN, State.OK)
    assert broken.reason.startswith(reason)
    assert [str(failure).split(": ", 1)[0] for failure in adapters.failures] == [
        f"adapter agent0 (dist 3.1) {reason.partition(':')[0]}"
    ]
    assert adapters.get("agent1").glossary() == (Term("tool", "Tool", "here"),)


def test_of_two_claims_on_a_name_both_are_refused_unless_one_is_ours() -> None:
    foreign = [installed("x", plugin(), "one"), installed("x", plugin(), "two")]
    assert [row.state for row in load_adapters(Selection(), foreign).statuses] == [State.BROKEN] * 2
    ours = [installed("x", plugin(), "asz"), *foreign]
    states = {
        row.installed.distribution: row.state for row in load_adapters(Selection(), ours).statuses
    }
    assert states == {"asz": State.OK, "one": State.BROKEN, "two": State.BROKEN}


def test_an_interrupt_is_no_failure() -> None:
    with pytest.raises(KeyboardInterrupt):
        load(plugin(asz_adapter=raising(KeyboardInterrupt())))


def test_a_hook_reaches_one_adapter_only() -> None:
    adapters = load(
        plugin(asz_convert=lambda records: Converted([Record(id="first") for _ in records])),
        plugin(asz_convert=lambda records: Converted([Record(id="second") for _ in records])),
        plugin(asz_convert=raising(RuntimeError())),
    )
    ids = [
        adapters.get(name).convert(SOURCE, [b"x"], b"").records[0].id
        for name in ("agent0", "agent1")
    ]
    assert ids == ["first", "second"]


# ---------------------------------------------------------------- failures


def test_a_failure_names_everything_and_survives_another_process() -> None:
    with pytest.raises(AdapterFailure) as caught:
        adapter(asz_convert=raising(KeyError("promptId\nx"))).convert(SOURCE, [b"x"], b"")
    failure = pickle.loads(pickle.dumps(caught.value))
    assert str(failure) == "adapter agent0 (dist 3.1) asz_convert: KeyError: 'promptId\\nx'"
    assert (failure.adapter, failure.hook, failure.source_only) == ("agent0", "asz_convert", False)
    assert isinstance(failure, AszError)
    assert "Traceback" in failure.details
    assert isinstance(caught.value.__cause__, KeyError)


class UnshowableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UnshowableError(), "UnshowableError"),
        (ValueError(), "ValueError"),
        (ValueError("a\n\n  b"), "ValueError: a b"),
        (SourceError("gone"), "gone"),
        (RecursionError("deep"), "RecursionError: deep"),
        (SystemExit("out"), "SystemExit: out"),
    ],
)
def test_a_reason_is_one_line(error: BaseException, reason: str) -> None:
    with pytest.raises(AdapterFailure) as caught:
        adapter(asz_glossary=raising(error)).glossary()
    assert caught.value.reason == reason


def test_a_reason_is_short() -> None:
    with pytest.raises(AdapterFailure) as caught:
        adapter(asz_glossary=raising(ValueError("x" * 100_000))).glossary()
    assert len(caught.value.reason) == 500


# ---------------------------------------------------------------- what hooks may return


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (None, "returned nothing"),
        ([Record(), Record()], "is a list, not a Converted"),
        (Converted([Record()]), "1 records for 2 raw ones"),
        (Converted([Record(), None]), "something that is no Record"),  # type: ignore[list-item]
        (Converted((Record(), Record())), "records is a tuple"),  # type: ignore[arg-type]
        (Converted([Record(), Record()], "text"), "carry is a str"),  # type: ignore[arg-type]
        (Converted([Record(), Record()], b"x" * 65_537), "carry of 65537 bytes"),
    ],
)
def test_a_conversion_is_checked(returned: Any, reason: str) -> None:
    with pytest.raises(AdapterFailure, match="asz_convert") as caught:
        adapter(asz_convert=lambda: returned).convert(SOURCE, [b"1", b"2"], b"")
    assert reason in caught.value.reason


def test_a_carry_of_64_kib_is_kept() -> None:
    carry = b"x" * 65_536
    one = adapter(asz_convert=lambda: Converted([], carry))
    assert one.convert(SOURCE, [], b"").carry == carry


@pytest.mark.parametrize(
    "yielded",
    [b"bytes", RawRecord("text"), RawRecord(b"x", "1"), RawRecord(b"x", b"1" * 65_537)],  # type: ignore[arg-type]
)
def test_what_was_yielded_before_a_bad_record_is_kept(yielded: Any) -> None:
    landed = adapter(asz_land=lambda: iter([RawRecord(b"good", b"1"), yielded])).land(
        None, SOURCE, b""
    )
    assert next(landed).data == b"good"
    with pytest.raises(AdapterFailure, match="asz_land"):
        next(landed)


def test_a_source_that_cannot_be_read_costs_only_itself() -> None:
    def land() -> Any:
        yield RawRecord(b"good", b"1")
        raise SourceError("locked")

    landed = adapter(asz_land=land).land(None, SOURCE, b"")
    assert next(landed).position == b"1"
    with pytest.raises(AdapterFailure) as caught:
        next(landed)
    assert (caught.value.reason, caught.value.source_only) == ("locked", True)


def test_landing_is_lazy_and_the_end_is_the_end() -> None:
    taken = []

    def land() -> Any:
        for number in range(3):
            taken.append(number)
            yield RawRecord(b"%d" % number)

    landed = adapter(asz_land=land).land(None, SOURCE, b"")
    assert taken == []
    assert next(landed).data == b"0"
    assert taken == [0]
    assert [record.data for record in landed] == [b"1", b"2"]


def test_an_adapter_without_sources_of_its_own_discovers_nothing() -> None:
    found = adapter().discover(None, lambda _: frozenset())
    assert found == Discovery((), complete=False)  # what was pushed is not judged gone


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        Discovery(None),  # type: ignore[arg-type]
        Discovery(("id",)),  # type: ignore[arg-type]
        Discovery((Session("s", ("a.jsonl",)),)),  # type: ignore[arg-type]
        Discovery((), roots=(b"/x",)),  # type: ignore[arg-type]
        Discovery((), problems=("broken",)),  # type: ignore[arg-type]
        Discovery((), problems=(Problem("x", 7),)),  # type: ignore[arg-type]
    ],
)
def test_a_discovery_of_wrong_types_fails_as_a_whole(found: Any) -> None:
    with pytest.raises(AdapterFailure, match="asz_discover: TypeError"):
        adapter(asz_discover=lambda: found).discover(None, lambda _: frozenset())


def test_a_discovery_that_fails_while_it_is_consumed_is_the_adapters_failure() -> None:
    def sessions() -> Any:
        yield Session("s", ())
        raise OSError("vanished")

    one = adapter(asz_discover=lambda: Discovery(sessions()))
    with pytest.raises(AdapterFailure, match="OSError: vanished"):
        one.discover(None, lambda _: frozenset())


@pytest.mark.parametrize(
    "change",
    [
        {"root": "relative"},
        {"root": ""},
        {"kind": "novel"},
        {"shape": "novel"},
        {"compression": "lzma"},
        {"stream": None},
        {"stream": None, "batch": "run"},
        {"kind": "journal"},
        {"key": 7},
        {"src": 7},
        {"stream": 7},
    ],
)
def test_a_source_the_core_cannot_place_is_left_out_and_named(change: dict[str, Any]) -> None:
    fields = {"src": "b", "root": "/h", "kind": "transcript", "shape": "lines", "stream": "main"}
    bad = Source(**{**fields, **change})
    found = adapter(asz_discover=lambda: Discovery((Session("s", (bad, SOURCE)),))).discover(
        None, lambda _: frozenset()
    )
    assert found.sessions == (Session("s", (SOURCE,)),)
    (problem,) = found.problems
    assert problem.message.startswith(f"adapter agent0: session s: source {bad.src!r} refused: ")
    assert problem.hides == (bad.src if isinstance(bad.src, str) else None)


def test_discovery_learns_what_is_followed() -> None:
    one = adapter(asz_discover=lambda followed: Discovery((), notes=tuple(sorted(followed("s")))))
    assert one.discover(None, lambda session: frozenset((session, "a"))).notes == ("a", "s")


@pytest.mark.parametrize("terms", [None, 7, ["tool"], [Term("tool", None, "")]])  # type: ignore[arg-type]
def test_a_glossary_is_checked(terms: Any) -> None:
    with pytest.raises(AdapterFailure, match="asz_glossary: TypeError"):
        adapter(asz_glossary=lambda: terms).glossary()


# ---------------------------------------------------------------- receiving


def receiver(enter: BaseException | None = None, leave: BaseException | None = None) -> Any:
    """A receiver that fails when it is entered, or left, or not."""

    @asynccontextmanager
    async def served() -> AsyncIterator[None]:
        if enter is not None:
            raise enter
        yield
        if leave is not None:
            raise leave

    return served


async def entered(one: Adapter, block: BaseException | None = None) -> str:
    async with one.receive(None, None):  # type: ignore[arg-type]
        if block is not None:
            raise block
        return "served"


def test_a_receiver_serves_while_it_is_entered() -> None:
    one = adapter(asz_receive=receiver())
    assert one.receives
    assert asyncio.run(entered(one)) == "served"
    assert not adapter().receives


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        (receiver(enter=AdapterError("port 1: taken")), "port 1: taken"),
        (receiver(enter=ZeroDivisionError("x")), "ZeroDivisionError: x"),
        (receiver(enter=SystemExit(3)), "SystemExit: 3"),
        (receiver(leave=OSError("gone")), "OSError: gone"),
        (lambda: "no receiver", "TypeError: what asz_receive returned is a str"),
        (raising(AdapterError("not today")), "not today"),
    ],
)
def test_what_a_receiver_raises_is_stamped(hook: Any, reason: str) -> None:
    one = adapter(asz_receive=hook)
    with pytest.raises(AdapterFailure) as caught:
        asyncio.run(entered(one))
    assert (caught.value.adapter, caught.value.hook) == ("agent0", "asz_receive")
    assert caught.value.reason.startswith(reason)


def test_what_happens_while_it_serves_is_not_the_receivers() -> None:
    with pytest.raises(ZeroDivisionError):
        asyncio.run(entered(adapter(asz_receive=receiver()), ZeroDivisionError("ours")))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(entered(adapter(asz_receive=receiver(enter=asyncio.CancelledError()))))
