"""What a record of changes calls the names of the model.

It is no step and part of no structure, so it has words for little more than its own identity.
"""

from typing import Final

from asz_hookspecs import Term
from asz_hookspecs.vocabulary import GLOSSARY

_LINE: Final = "every line"

_WORDS: Final = {
    term.name: term
    for term in (
        Term("session", "session", f"directory of the file; {_LINE}"),
        Term("stream", "stream", f"name of the file; {_LINE}", "main or an agent id"),
        Term("id", "id", _LINE, "the tool-use id where a tool made the change"),
        Term(
            "tool", "tool", "lines of a tool", "joins a line to its step; unattributed ones lack it"
        ),
        Term("time", "time", _LINE),
    )
}

TERMS: Final = tuple(_WORDS.get(name, Term(name, "", "")) for name in GLOSSARY)
