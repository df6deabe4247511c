"""A table, and its ways into pandas and polars."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Iterator, Mapping, TypeVar, cast

from .types import Column, to_frame_value

if TYPE_CHECKING:
    import pandas
    import polars

Row = TypeVar("Row")

_NEXT_OFFSET = re.compile(r'[?&]offset=(\d+)[^>]*>; rel="next"')
_INTEGERS = ("UInt8", "UInt32", "UInt64", "Int32", "Int64")
_PANDAS_TYPES = {"Bool": "boolean", "Float64": "float64"}


@dataclass(frozen=True)
class Table(Generic[Row]):
    """Rows, and what they were made from. Treat it as read-only: a table that has not changed is given again."""

    columns: tuple[Column, ...]
    #: Cells in the order of the columns, as the API writes them.
    data: list[list[Any]]
    #: Of the answer, names in lower case; of the first one where a later one said that nothing has changed.
    headers: Mapping[str, str]

    @cached_property
    def rows(self) -> list[Row]:
        """Each row as a dict by column name."""
        names = [column.name for column in self.columns]
        return cast("list[Row]", [dict(zip(names, cells)) for cells in self.data])

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def block(self) -> int | None:
        """The block (on Solana the slot) that all rows are of."""
        return self._number("x-data-block")

    @property
    def as_of(self) -> str | None:
        """The time of that block."""
        return self.headers.get("x-data-as-of")

    @property
    def from_block(self) -> int | None:
        """The first indexed block: nothing before it is in the rows."""
        return self._number("x-data-from-block")

    @property
    def stale(self) -> str | None:
        """Lending: which part is older than the block, such as ``prices; age=123``."""
        return self.headers.get("x-data-stale")

    @property
    def total(self) -> int | None:
        """Rows of all pages, where that is known."""
        return self._number("x-total-count")

    @property
    def next_offset(self) -> int | None:
        """Where the next page begins; None on the last one and where there are no pages."""
        found = _NEXT_OFFSET.search(self.headers.get("link", ""))
        return None if found is None else int(found.group(1))

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame: integers and booleans nullable, DateTime in UTC, integers of more than 64 bits as Python's."""
        import numpy
        import pandas

        def series(at: int, column: Column) -> Any:
            values = [to_frame_value(cells[at], column.node) for cells in self.data]
            scalar = column.node.scalar
            if scalar == "DateTime":
                try:
                    return pandas.Series(pandas.to_datetime(values, utc=True))
                except pandas.errors.OutOfBoundsDatetime:
                    # Nanoseconds end in the year 2262.
                    return pandas.Series(values, dtype="object")
            if scalar in _INTEGERS:
                # Not by way of floats, as older versions of pandas go.
                numbers = numpy.array([value or 0 for value in values], dtype=scalar.lower())
                mask = numpy.array([value is None for value in values], dtype=bool)
                return pandas.Series(pandas.arrays.IntegerArray(numbers, mask))
            return pandas.Series(values, dtype=_PANDAS_TYPES.get(scalar or "", "object"))

        columns = {column.name: series(at, column) for at, column in enumerate(self.columns)}
        return pandas.DataFrame(columns)

    def to_polars(self) -> polars.DataFrame:
        """A DataFrame: DateTime in UTC, integers of more than 64 bits as texts, tuples as structs with fields _1, _2, …"""
        import polars

        from .types import to_polars_type

        def series(at: int, column: Column) -> Any:
            values = [to_frame_value(cells[at], column.node, is_polars=True) for cells in self.data]
            return polars.Series(column.name, values, dtype=to_polars_type(column.node, polars))

        return polars.DataFrame([series(at, column) for at, column in enumerate(self.columns)])

    def _number(self, name: str) -> int | None:
        text = self.headers.get(name)
        return None if text is None else int(text)
