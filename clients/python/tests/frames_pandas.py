"""Run by itself, where pandas is installed."""

from __future__ import annotations

import unittest
from datetime import datetime
from typing import Any

import pandas

from chaintables import Table
from chaintables.types import Column, TypeNode
from tests.served import SAMPLES, client


class Frames(unittest.TestCase):
    def test_have_the_cells_of_every_endpoint(self) -> None:
        asking = client()
        for sample in SAMPLES:
            table = asking.get(sample["path"], **sample["params"])
            frame = table.to_pandas()
            self.assertEqual(list(frame.columns), [column.name for column in table.columns])
            for at, column in enumerate(table.columns):
                with self.subTest(path=sample["path"], column=column):
                    values = [_plain(value) for value in frame[column.name]]
                    self.assertEqual(values, [_expected(cells[at], column.node) for cells in table.data])

    def test_have_types_also_when_empty(self) -> None:
        columns = tuple(Column(name, kind) for name, kind in (("n", "UInt64"), ("at", "DateTime"), ("p", "Nullable(Float64)")))
        for data in ([], [[2**64 - 1, "2026-05-01T11:59:48+00:00", 1.5], [None, None, None]]):
            types = [str(kind) for kind in Table(columns, data, {}).to_pandas().dtypes]
            self.assertEqual((types[0], types[2]), ("UInt64", "float64"))
            self.assertRegex(types[1], r"^datetime64\[\w+, UTC\]$")


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or value is pandas.NA or value is pandas.NaT or value != value:
        return None
    if isinstance(value, pandas.Timestamp):
        return value.to_pydatetime()
    return value


def _expected(value: Any, node: TypeNode) -> Any:
    if value is None:
        return None
    if node.kind == "array":
        return [_expected(item, node.items[0]) for item in value]
    if node.kind == "tuple":
        return [_expected(item, part) for item, part in zip(value, node.items)]
    if node.scalar == "DateTime":
        return datetime.fromisoformat(value)
    # JSON has 1e20 without a point.
    return float(value) if node.scalar == "Float64" else int(value) if "Int" in str(node.scalar) else value


if __name__ == "__main__":
    unittest.main()
