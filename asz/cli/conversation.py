"""``asz conversation``."""

from typing import TYPE_CHECKING, Any

import click

from asz.cli.ids import resolve
from asz.cli.invocation import Invocation, json_option
from asz.cli.invocation import command as _command
from asz.cli.text import json_text, printable

if TYPE_CHECKING:
    from asz.flow.fold import Folded
    from asz.storage.root import Root


@_command("conversation")
@click.argument("id_", metavar="ID")
@json_option
def command(invocation: Invocation, id_: str, as_json: bool) -> int:
    """Fold a conversation's rounds and show its structure. ID may be shortened to what is unique.

    What is shown is what the rounds hold. When a round is missing or broken, everything before it is
    shown and the gap is reported.
    """
    from asz.flow.chain import read_chain
    from asz.flow.fold import fold

    root = invocation.open_root()
    conversation = resolve(id_, _known(root), "conversation")
    chain = read_chain(root.conversation_dir(conversation))
    folded = fold(chain.rounds)
    if chain.problem is not None:
        invocation.error(f"{chain.problem}; what comes before is shown")
    elif folded.head is None:
        invocation.error(f"conversation {conversation}: not assembled yet; run: asz parse")
    if as_json:
        click.echo(json_text(_as_json(conversation, folded, chain.problem)))
    else:
        _print(root, folded)
    return invocation.status


def _known(root: "Root") -> set[str]:
    return {*root.sessions(), *root.conversations()}


def _print(root: "Root", folded: "Folded") -> None:
    from asz.cli.excerpts import Excerpts
    from asz.cli.tree import tree_lines

    head = folded.head
    if head is None:
        return
    click.echo(
        f"conversation {head.conversation}: {printable(head.title or 'untitled')}\n"
        f"talks={head.talks} steps={head.steps} streams={head.streams} segments={head.segments} "
        f"open={head.unresolved} rounds={head.round} through={head.through_seq}"
    )
    for line in tree_lines(folded, Excerpts(root.session_dir(head.session)).of):
        click.echo(line)


def _as_json(conversation: str, folded: "Folded", problem: str | None) -> dict[str, Any]:
    """The folded entities, each as the frame that wrote it, by id."""
    import msgspec

    def frames(entities: dict[str, Any]) -> list[Any]:
        return [msgspec.to_builtins(entities[name]) for name in sorted(entities)]

    return {
        "conversation": conversation,
        "head": None if folded.head is None else msgspec.to_builtins(folded.head),
        "digest": folded.digest,
        "problem": problem,
        "nodes": frames(folded.nodes),
        "relations": frames(folded.relations),
        "unresolved": frames(folded.unresolved),
    }
