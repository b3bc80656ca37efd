"""A small session in landed files, for tests that need one and do not care which."""

from asz_hookspecs.record import Part, Record, Usage

from .landed import Landing


def prompt(name: str, time: str = "2026-09-01T09:00:00Z") -> Record:
    """A person's input that opens the run ``run-<name>``."""
    return Record(
        id=name,
        run=f"run-{name}",
        from_="external",
        trigger="external",
        flags=("external_input",),
        time=time,
        parts=[Part("text", text="hello")],
    )


def response(name: str, parent: str, *parts: Part, tokens: int = 5) -> Record:
    """A finished provider call in one fragment."""
    return Record(
        id=name,
        parent=parent,
        call=f"call-{name}",
        from_="agent",
        time="2026-09-01T09:00:01Z",
        flags=("finished",),
        model="m",
        usage=Usage(1, tokens),
        parts=list(parts) or [Part("text", text="done")],
    )


def use(name: str) -> Part:
    """A tool request."""
    return Part("call", id=name, name="Bash", data=b"{}")


def answer(name: str, parent: str, tool: str) -> Record:
    """A record with one tool result."""
    return Record(
        id=name, parent=parent, from_="external", parts=[Part("result", of=tool, text="ok")]
    )


def land_small(landing: Landing) -> None:
    """Three files: a prompt and a tool use; its result and a title; a child that nothing names."""
    landing.write([prompt("u1"), response("a1", "u1", use("t1"))])
    landing.write([answer("b1", "a1", "t1"), response("a2", "b1"), Record(label="a title")])
    landing.write([prompt("c1"), response("c2", "c1")], stream="a1")
