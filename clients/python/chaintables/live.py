"""Tables as streams of what each block changes."""

from __future__ import annotations

import http.client
import json
import threading
from dataclasses import dataclass
from typing import Any, BinaryIO, Callable, Generic, Iterator, Literal, Mapping, NamedTuple, TypeVar, cast

from .errors import ApiError, UnreachableError, to_error

Row = TypeVar("Row")

# Errors behind which the instance ends a stream: connecting again would only meet them again.
_FINAL = {"rate_limited": 429, "unauthorized": 401, "forbidden": 403}
_UNAVAILABLE = 503
#: The instance sends a line every 15 seconds: a connection that is silent for longer is dead.
SILENCE = 60.0
_PIECE = 65_536


class BlockRef(NamedTuple):
    """A block (on Solana a slot) by number and hash."""

    block: int
    hash: str


@dataclass(frozen=True)
class LiveEvent(Generic[Row]):
    """What a stream tells.

    ``snapshot``: the whole table, first, and where changes are not known (``reason``); ``change``; ``head``: a block that
    changed nothing; ``reorg``: blocks that were told and are taken back, with the change back; ``outage``: the instance
    cannot tell for now, and goes on by itself.
    """

    event: Literal["snapshot", "change", "head", "reorg", "outage"]
    #: 0 for Solana. Of an ``outage`` it is None, as block, hash and time are.
    chain: int | None = None
    block: int | None = None
    hash: str | None = None
    #: Unix seconds of the block.
    time: int | None = None
    #: Of a ``snapshot`` all rows; else those that were added or have changed, whole.
    rows: tuple[Row, ...] = ()
    #: Rows that are gone: the values of the key's columns.
    removed: tuple[tuple[Any, ...], ...] = ()
    #: All keys in their order, where rows have moved.
    order: tuple[tuple[Any, ...], ...] | None = None
    #: Of a ``reorg``, the newest first.
    taken_back: tuple[BlockRef, ...] = ()
    #: Of a ``snapshot``: why it came, and the columns that name a row.
    reason: str | None = None
    key: tuple[str, ...] = ()
    #: Of an ``outage``.
    error: ApiError | None = None


class LiveReader(Generic[Row]):
    """Reads one connection's events, and knows what it takes to go on behind it."""

    def __init__(self) -> None:
        #: For Last-Event-ID.
        self.last_id: str | None = None
        #: Seconds that the instance wants a client to wait before it connects again.
        self.retry = 1.0
        self._names: tuple[str, ...] = ()

    def read(self, body: http.client.HTTPResponse | BinaryIO, is_over: Callable[[], bool]) -> Iterator[LiveEvent[Row]]:
        """The events of a body, until it ends. Raises the ApiError behind which the instance ends a stream."""
        rest = b""
        while not is_over():
            try:
                piece = cast(Any, body).read1(_PIECE)
            except (OSError, http.client.HTTPException) as error:
                raise UnreachableError("The stream has broken off.") from error
            if not piece:
                return
            *blocks, rest = (rest + piece).split(b"\n\n")
            for block in blocks:
                event = self._take(block.decode())
                if event is not None and not is_over():
                    yield event

    def _take(self, block: str) -> LiveEvent[Row] | None:
        fields: dict[str, str] = {}
        for line in block.split("\n"):
            name, colon, value = line.partition(":")
            # Without a name it is a comment.
            if name and colon:
                fields[name] = value[1:] if value.startswith(" ") else value
        if fields.get("retry", "").isdigit():
            self.retry = int(fields["retry"]) / 1_000
        if "data" not in fields:
            return None
        event = self._to_event(fields.get("event", ""), json.loads(fields["data"]))
        # Known only once it is understood.
        self.last_id = fields.get("id", self.last_id)
        return event

    def _to_event(self, name: str, data: Mapping[str, Any]) -> LiveEvent[Row] | None:
        if name == "error":
            return LiveEvent("outage", error=_outage(data))
        # `end`, and what a later version may tell.
        if name not in ("snapshot", "change", "head", "reorg"):
            return None
        if name == "snapshot":
            self._names = tuple(column["name"] for column in data["columns"])
        order = data.get("order")
        return LiveEvent(
            cast(Any, name),
            chain=data["chain"],
            block=data["block"],
            hash=data["hash"],
            time=data["time"],
            rows=self._to_rows(data["data"] if name == "snapshot" else data.get("rows", ())),
            removed=_to_keys(data.get("removed", ())),
            order=None if order is None else _to_keys(order),
            taken_back=tuple(BlockRef(each["block"], each["hash"]) for each in data.get("takenBack", ())),
            reason=data.get("reason"),
            key=tuple(data.get("key", ())),
        )

    def _to_rows(self, rows: Any) -> tuple[Row, ...]:
        return tuple(cast(Row, dict(zip(self._names, cells))) for cells in rows)


class Live(Generic[Row]):
    """The events of a table, without an end: stop reading, or ``close()`` it, which ``with`` does."""

    def __init__(
        self,
        connect: Callable[[str | None], http.client.HTTPResponse],
        wait: Callable[[float], None],
    ) -> None:
        self._over = threading.Event()
        self._events = self._follow(connect, wait)

    def __iter__(self) -> Iterator[LiveEvent[Row]]:
        return self._events

    def __next__(self) -> LiveEvent[Row]:
        return next(self._events)

    def __enter__(self) -> Live[Row]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it. From another thread the reader notices with the next line, which comes within 15 seconds."""
        self._over.set()
        try:
            self._events.close()
        except ValueError:
            # Another thread is reading: it ends by itself.
            pass

    def _follow(
        self, connect: Callable[[str | None], http.client.HTTPResponse], wait: Callable[[float], None]
    ) -> Any:
        reader: LiveReader[Row] = LiveReader()
        while not self._over.is_set():
            with connect(reader.last_id) as body:
                try:
                    yield from reader.read(body, self._over.is_set)
                except UnreachableError:
                    # It goes on behind its last event.
                    pass
            if not self._over.is_set():
                wait(reader.retry)


def _to_keys(keys: Any) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(key) for key in keys)


def _outage(data: Mapping[str, Any]) -> ApiError:
    code = str(data.get("error"))
    status = _FINAL.get(code, _UNAVAILABLE)
    error = to_error(status=status, code=code, message=str(data.get("message")), session=data.get("session"))
    if code in _FINAL:
        raise error
    return error
