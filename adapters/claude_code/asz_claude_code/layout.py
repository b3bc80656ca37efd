"""How Claude Code names its files and directories.

Names decide everything here: what is a session, which stream a file is, which run a script belongs
to. Ids are compared byte for byte and never case-folded.
"""

import re
from typing import Final

UUID: Final = r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
AGENT: Final = (
    r"a[0-9a-f]{16}"  # most agents
    r"|[0-9a-f]{7,8}"  # older versions
    r"|a[A-Za-z0-9_][A-Za-z0-9_.-]{0,100}-[0-9a-f]{6,32}"  # named and forked agents, helpers
)

_SESSION_ID = re.compile(rf"(?:{UUID})\Z", re.ASCII)
_AGENT_ID = re.compile(rf"(?:{AGENT})\Z", re.ASCII)
_AGENT_FILE = re.compile(rf"agent-({AGENT})(\.jsonl|\.meta\.json)\Z", re.ASCII)
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}\Z", re.ASCII)

JOURNAL: Final = "journal.jsonl"
AGENT_PREFIX: Final = "agent-"
TRANSCRIPT_SUFFIX: Final = ".jsonl"

AUXILIARY_PREFIXES: Final = ("acompact-", "aside_question-", "aprompt_suggestion-")
"""How the ids of agents begin that the runtime starts for itself."""

_DIRECTORIES: Final = frozenset(("subagents", "workflows", "scripts"))
_RUN_PREFIX: Final = "wf_"
_SCRIPT_MARK: Final = "-wf_"


def is_session_id(name: str) -> bool:
    """Whether ``name`` has the shape of a session id, in either case."""
    return _SESSION_ID.match(name) is not None


def is_agent_id(name: str) -> bool:
    """Whether ``name`` has the shape of an agent id."""
    return _AGENT_ID.match(name) is not None


def is_auxiliary(agent: str) -> bool:
    """Whether an agent is a helper of the runtime's own: compaction, side question, suggestion."""
    return agent.startswith(AUXILIARY_PREFIXES)


def is_known(name: str) -> bool:
    """Whether a name inside a project directory can matter; notes, memory and spilled output cannot."""
    return (
        name in _DIRECTORIES
        or name == JOURNAL
        or name.startswith((AGENT_PREFIX, _RUN_PREFIX))
        or is_session_id(name.removesuffix(TRANSCRIPT_SUFFIX))
        or run_of_script(name) is not None
    )


def is_file_name(name: str) -> bool:
    """Whether a name inside a project directory is one of a file that is read."""
    return (
        name == JOURNAL
        or agent_file(name) is not None
        or (name.endswith(TRANSCRIPT_SUFFIX) and is_session_id(name[: -len(TRANSCRIPT_SUFFIX)]))
        or run_of_manifest(name) is not None
        or run_of_script(name) is not None
    )


def agent_file(name: str) -> tuple[str, str] | None:
    """Agent id and suffix (``.jsonl`` or ``.meta.json``) of an agent's file."""
    match = _AGENT_FILE.match(name)
    return (match[1], match[2]) if match else None


def run_id(text: str) -> str:
    """The one form a workflow run's id is written in: without its leading ``wf_``."""
    return text.removeprefix(_RUN_PREFIX)


def run_of_directory(name: str) -> str | None:
    """The run a directory below ``subagents/workflows`` belongs to."""
    return _run(run_id(name))


def run_of_manifest(name: str) -> str | None:
    """The run of a manifest, ``wf_<run>.json``."""
    if name.startswith(_RUN_PREFIX) and name.endswith(".json"):
        return _run(run_id(name[:-5]))
    return None


def run_of_script(name: str) -> str | None:
    """The run of a script, ``<label>-wf_<run>.js``; a label may hold ``-wf_`` itself."""
    label, mark, run = name.rpartition(_SCRIPT_MARK)
    return _run(run[:-3]) if label and mark and run.endswith(".js") else None


def _run(text: str) -> str | None:
    return text if _RUN.match(text) else None
