"""The public contract between asz and its adapters: all that an adapter may import of asz.

A complete adapter is a module with ``ASZ_CONTRACT = 1`` and some functions marked ``@hookimpl``,
registered under ``[project.entry-points."asz.adapters"]``. The hooks are in ``asz_hookspecs.specs``.
"""

from asz_hookspecs.discovery import Discovery, Followed, Problem, Session
from asz_hookspecs.errors import AdapterError, Busy, SourceError, StorageFull
from asz_hookspecs.glossary import Term
from asz_hookspecs.info import AdapterInfo
from asz_hookspecs.markers import CONTRACT, ENTRY_POINT_GROUP, PROJECT, hookimpl, hookspec
from asz_hookspecs.metrics import FinishedCall, MetricPoint
from asz_hookspecs.record import Converted, Dropped, Part, Record, Usage, damaged
from asz_hookspecs.sink import Sink
from asz_hookspecs.source import RawRecord, Source

__all__ = [
    "CONTRACT",
    "ENTRY_POINT_GROUP",
    "PROJECT",
    "AdapterError",
    "AdapterInfo",
    "Busy",
    "Converted",
    "Discovery",
    "Dropped",
    "FinishedCall",
    "Followed",
    "MetricPoint",
    "Part",
    "Problem",
    "RawRecord",
    "Record",
    "Session",
    "Sink",
    "Source",
    "SourceError",
    "StorageFull",
    "Term",
    "Usage",
    "damaged",
    "hookimpl",
    "hookspec",
]
