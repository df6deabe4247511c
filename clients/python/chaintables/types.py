"""Column types as the API names them: ``Array(Tuple(UInt32, Nullable(Float64)))``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class TypeNode:
    """A scalar by its name, or an array or tuple of others. Any of them may be null."""

    scalar: str | None = None
    kind: str = "scalar"
    items: tuple[TypeNode, ...] = ()


@dataclass(frozen=True)
class Column:
    name: str
    type: str

    @property
    def node(self) -> TypeNode:
        return parse_type(self.type)


def parse_type(text: str) -> TypeNode:
    head, has_arguments, rest = text.partition("(")
    if not has_arguments:
        return TypeNode(scalar=text)
    items = tuple(parse_type(item) for item in _split(rest[:-1]))
    if head == "Nullable":
        return items[0]
    return TypeNode(kind=head.lower(), items=items)


def _split(text: str) -> list[str]:
    items = [""]
    depth = 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            items.append("")
        else:
            items[-1] += character
    return [item.strip() for item in items]


def to_frame_value(value: Any, node: TypeNode, is_polars: bool = False) -> Any:
    """A cell as data frames take it: numbers as such however long, times as datetimes."""
    if value is None:
        return None
    if node.kind == "array":
        return [to_frame_value(item, node.items[0], is_polars) for item in value]
    if node.kind == "tuple":
        items = [to_frame_value(item, part, is_polars) for item, part in zip(value, node.items)]
        return {f"_{at + 1}": item for at, item in enumerate(items)} if is_polars else tuple(items)
    if node.scalar == "DateTime":
        return datetime.fromisoformat(value)
    if node.scalar in ("UInt128", "UInt256"):
        return value if is_polars else int(value)
    if node.scalar in ("UInt64", "Int64"):
        return int(value)
    return float(value) if node.scalar == "Float64" else value


def to_polars_type(node: TypeNode, polars: Any) -> Any:
    if node.kind == "array":
        return polars.List(to_polars_type(node.items[0], polars))
    if node.kind == "tuple":
        return polars.Struct({f"_{at + 1}": to_polars_type(part, polars) for at, part in enumerate(node.items)})
    named = {
        "Bool": polars.Boolean,
        "UInt8": polars.UInt8,
        "UInt32": polars.UInt32,
        "UInt64": polars.UInt64,
        "Int32": polars.Int32,
        "Int64": polars.Int64,
        "Float64": polars.Float64,
        "DateTime": polars.Datetime("ms", "UTC"),
    }
    return named.get(node.scalar or "", polars.Utf8)
