import type { ScalarType } from "./column.ts";

const SCALARS: ReadonlySet<string> = new Set<ScalarType>([
  "String",
  "Bool",
  "UInt8",
  "UInt32",
  "UInt64",
  "UInt128",
  "UInt256",
  "Int32",
  "Int64",
  "Float64",
  "DateTime",
]);

/** A parsed column type. */
export type TypeNode =
  | { readonly kind: "scalar"; readonly scalar: ScalarType }
  | { readonly kind: "nullable"; readonly inner: TypeNode }
  | { readonly kind: "array"; readonly inner: TypeNode }
  | { readonly kind: "tuple"; readonly items: readonly TypeNode[] };

/** Parses a type string such as `Array(Tuple(UInt32, Nullable(Float64)))`; undefined where it is malformed. */
export function parseType(text: string): TypeNode | undefined {
  if (SCALARS.has(text)) return { kind: "scalar", scalar: text as ScalarType };
  const open = text.indexOf("(");
  if (open === -1 || !text.endsWith(")")) return undefined;
  const argument = text.slice(open + 1, -1);
  switch (text.slice(0, open)) {
    case "Nullable": {
      const inner = parseType(argument);
      return inner?.kind === "scalar" ? { kind: "nullable", inner } : undefined;
    }
    case "Array": {
      const inner = parseType(argument);
      return inner && { kind: "array", inner };
    }
    case "Tuple": {
      const items = splitItems(argument).map(parseType);
      return items.every((item) => item !== undefined) ? { kind: "tuple", items } : undefined;
    }
    default:
      return undefined;
  }
}

function splitItems(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")") depth--;
    else if (text[at] === "," && depth === 0) {
      items.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  items.push(text.slice(start).trim());
  return items;
}
