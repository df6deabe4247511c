"""The tables that a client keeps, to ask only whether they have changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from .table import Table


class TableCache:
    """Tables by address, each with its ETag. Bounded by their rows: what was longest not asked for goes first."""

    def __init__(self, max_rows: int) -> None:
        self._max_rows = max_rows
        self._rows = 0
        self._entries: OrderedDict[str, tuple[str, Table[Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, url: str) -> tuple[str, Table[Any]] | None:
        with self._lock:
            entry = self._entries.get(url)
            if entry is not None:
                self._entries.move_to_end(url)
            return entry

    def set(self, url: str, etag: str, table: Table[Any]) -> None:
        with self._lock:
            replaced = self._entries.pop(url, None)
            if replaced is not None:
                self._rows -= _weight(replaced[1])
            self._entries[url] = (etag, table)
            self._rows += _weight(table)
            while self._rows > self._max_rows:
                _, (_, oldest) = self._entries.popitem(last=False)
                self._rows -= _weight(oldest)


def _weight(table: Table[Any]) -> int:
    """An empty table takes room too."""
    return len(table) + 1
