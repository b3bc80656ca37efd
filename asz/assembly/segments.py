"""Stage 8: segments proposed and their gates evaluated. Nothing commits a segment yet.

A segment is a window of activity on the main stream between two silences.
"""

from dataclasses import dataclass, field
from typing import Final

from asz.assembly import ids
from asz.assembly.draft import Draft
from asz.assembly.model import EXACT, IDLE_NS, STRONG, Node, Ref, ref_of
from asz.assembly.talks import Placement, Talk
from asz.assembly.tools import Tools
from asz.storage.rows import RecordRow
from asz_hookspecs.vocabulary import STREAM_MAIN

VIA_WINDOW: Final = "activity window"


@dataclass(slots=True)
class Window:
    """Talks with no long silence between them. Times are nanoseconds since the epoch."""

    id: str
    opens_at: Ref
    talks: list[Talk] = field(default_factory=list)
    start: int | None = None
    end: int | None = None
    settled: bool = True
    """Every tool use requested inside has exactly one result, also inside."""

    def take(self, talk: Talk) -> None:
        """Add a talk; the window ends with its latest record."""
        self.talks.append(talk)
        if talk.first_time is None or talk.last_time is None:
            return
        if self.start is None or self.end is None:
            self.start, self.end = talk.first_time, talk.last_time
        else:
            self.start = min(self.start, talk.first_time)
            self.end = max(self.end, talk.last_time)


def write(draft: Draft, placement: Placement, tools: Tools) -> None:
    """Segment nodes, and ``in_segment`` of every talk that lies in one."""
    windows = _cut(_by_time(placement.talks))
    if not windows:
        return
    window_of = {talk.id: window for window in windows for talk in window.talks}
    members = [(talk, window, EXACT) for window in windows for talk in window.talks]
    for talk in placement.child_talks.values():
        window = _holding(windows, talk)
        if window is not None:
            window_of[talk.id] = window
            members.append((talk, window, STRONG))
    for talk, window, quality in members:
        draft.relate(
            "in_segment",
            talk.id,
            window.id,
            quality=quality,
            via=VIA_WINDOW,
            evidence=(ref_of(talk.first),),
        )
    _settle(placement, tools, window_of)
    _write_nodes(draft, placement, windows)


def _by_time(talks: list[Talk]) -> list[Talk]:
    """The main stream's talks by first record time; one without a time stays behind its neighbour."""
    keyed: list[tuple[int, int, Talk]] = []
    latest: int | None = None
    untimed: list[Talk] = []
    for place, talk in enumerate(talks):
        if talk.stream != STREAM_MAIN:
            continue
        if talk.first_time is not None:
            latest = talk.first_time
        if latest is None:
            untimed.append(talk)
        else:
            keyed.append((latest, place, talk))
    keyed.sort(key=lambda item: item[:2])
    return untimed + [talk for _, _, talk in keyed]


def _cut(talks: list[Talk]) -> list[Window]:
    """Windows: one opens where a talk begins more than the allowed silence after everything before."""
    windows: list[Window] = []
    latest: int | None = None
    for talk in talks:
        first = talk.first_time
        if not windows or (first is not None and latest is not None and first - latest > IDLE_NS):
            opens_at = ref_of(talk.first)
            windows.append(Window(ids.segment(opens_at), opens_at))
        windows[-1].take(talk)
        if talk.last_time is not None:
            latest = max(talk.last_time, latest if latest is not None else talk.last_time)
    return windows


def _holding(windows: list[Window], talk: Talk) -> Window | None:
    """The window whose range holds a child talk's first record."""
    time = talk.first_time
    if time is None:
        return None
    for window in windows:
        if (
            window.start is not None
            and window.end is not None
            and window.start <= time <= window.end
        ):
            return window
    return None


def _settle(placement: Placement, tools: Tools, window_of: dict[str, Window]) -> None:
    """Find the windows that a tool use crosses or stays open in."""

    def window(record: RecordRow) -> Window | None:
        talk = placement.child_talks.get(placement.evidence.stream_of[record.seq])
        if talk is None:
            run = placement.run_of(record)
            talk = run.talk if run is not None else None
        return window_of.get(talk.id) if talk is not None else None

    for use in tools.uses:
        asked = window(use.record)
        if asked is None or not asked.settled:
            continue
        asked.settled = len(use.results) == 1 and window(use.results[0][0]) is asked


def _write_nodes(draft: Draft, placement: Placement, windows: list[Window]) -> None:
    evidence = placement.evidence
    parent = ids.session(evidence.session)
    waiting = any(
        entry.kind in ("child_stream", "notified_child") for entry in draft.unresolved.values()
    )
    main = evidence.streams[STREAM_MAIN].records
    last_time = max((r.time for r in main if r.time is not None), default=None)
    for window in windows:
        last = window is windows[-1]
        late = (
            not last
            and window.end is not None
            and last_time is not None
            and last_time - window.end > IDLE_NS
        )
        unmet = [
            gate
            for gate, met in (
                ("activity_boundary", not last),
                ("no_crossing_open_operation", window.settled and not waiting),
                ("lateness_watermark", late),
                ("conversation_identity", bool(evidence.conversation)),
            )
            if not met
        ]
        attrs = {
            "state": "open" if last else "candidate",
            "talks": len(window.talks),
            "gates_unmet": unmet,
            "committable": not unmet,
        }
        draft.add(Node(window.id, 0, "segment", parent, None, window.opens_at, (), attrs))
