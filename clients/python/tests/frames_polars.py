"""Run by itself, where polars is installed."""

from __future__ import annotations

import unittest
from datetime import datetime
from typing import Any

import polars

from chaintables import Table
from chaintables.types import Column, TypeNode
from tests.served import SAMPLES, client


class Frames(unittest.TestCase):
    def test_have_the_cells_of_every_endpoint(self) -> None:
        asking = client()
        for sample in SAMPLES:
            table = asking.get(sample["path"], **sample["params"])
            frame = table.to_polars()
            self.assertEqual(frame.columns, [column.name for column in table.columns])
            for at, column in enumerate(table.columns):
                with self.subTest(path=sample["path"], column=column):
                    expected = [_expected(cells[at], column.node) for cells in table.data]
                    self.assertEqual(frame[column.name].to_list(), expected)

    def test_have_types_also_when_empty(self) -> None:
        columns = (Column("n", "UInt64"), Column("at", "DateTime"), Column("steps", "Array(Tuple(UInt32, Nullable(Float64)))"))
        steps = polars.List(polars.Struct({"_1": polars.UInt32, "_2": polars.Float64}))
        for data in ([], [[2**64 - 1, "2026-05-01T11:59:48+00:00", [[1, None]]], [None, None, None]]):
            frame = Table(columns, data, {}).to_polars()
            self.assertEqual(frame.dtypes, [polars.UInt64, polars.Datetime("ms", "UTC"), steps])


def _expected(value: Any, node: TypeNode) -> Any:
    if value is None:
        return None
    if node.kind == "array":
        return [_expected(item, node.items[0]) for item in value]
    if node.kind == "tuple":
        return {f"_{at + 1}": _expected(item, node.items[at]) for at, item in enumerate(value)}
    if node.scalar == "DateTime":
        return datetime.fromisoformat(value)
    # JSON has 1e20 without a point.
    return float(value) if node.scalar == "Float64" else int(value) if node.scalar in ("UInt64", "Int64") else value


if __name__ == "__main__":
    unittest.main()
