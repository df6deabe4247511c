import { isOrderList, type ParameterDoc } from "../derive/parameters.ts";

const UNEXPECTED_NUMBERS = [
  "1e3",
  "0x10",
  " 5",
  "5 ",
  "+5",
  "05",
  "-0",
  "five",
  "NaN",
  "Infinity",
  "1_000",
  "1,000",
  "٣",
];

/** Values of a parameter's type and within its rule: its example, its bounds, every enum value. */
export function goodValues(doc: ParameterDoc): string[] {
  const { schema } = doc;
  if (schema.items !== undefined && !isOrderList(doc)) return goodLists(doc);
  const values = doc.example === undefined ? [] : [doc.example];
  for (const value of schema.enum ?? []) values.push(String(value));
  if (schema.minimum !== undefined) values.push(String(schema.minimum));
  if (schema.maximum !== undefined) values.push(String(schema.maximum));
  if (schema.type === "boolean") values.push("true", "false");
  if (schema.type === "number") values.push("0.5", "1000000000000");
  if (isEvmAddress(doc)) values.push(`0x${"aB".repeat(20)}`);
  if (schema.maxLength !== undefined) values.push("x".repeat(schema.maxLength));
  return [...new Set(values)];
}

/** Values outside the rule, one step beyond each bound and the spellings a lax parser would let through. */
export function badValues(doc: ParameterDoc): string[] {
  const { schema } = doc;
  if (schema.items !== undefined && !isOrderList(doc)) return badLists(doc);
  const values: string[] = [];
  if (schema.type === "integer") values.push(...UNEXPECTED_NUMBERS, "5.0", "5.5", "9".repeat(30));
  if (schema.type === "number") values.push(...UNEXPECTED_NUMBERS, ".5", "5.", "1.2.3", "9".repeat(400));
  if (schema.type === "boolean") values.push("TRUE", "False", "1", "0", "yes", "null");
  if (schema.minimum !== undefined) values.push(String(schema.minimum - 1));
  if (schema.maximum !== undefined) values.push(String(schema.maximum + 1));
  if (schema.enum !== undefined) values.push(...outsideOf(schema.enum));
  if (schema.maxLength !== undefined) values.push("x".repeat(schema.maxLength + 1));
  if (isEvmAddress(doc)) values.push(...badEvmAddresses());
  else if (schema.pattern !== undefined) values.push(...badSolanaAddresses());
  return values;
}

/** The doc of one item of a list. */
export function itemOf(doc: ParameterDoc): ParameterDoc {
  const [example] = (doc.example ?? "").split(",");
  return { ...doc, schema: doc.schema.items ?? { type: "string" }, ...(example && { example }) };
}

function goodLists(doc: ParameterDoc): string[] {
  const items = goodValues(itemOf(doc));
  const [first = ""] = items;
  const longest = Array<string>(doc.schema.maxItems ?? 1).fill(first);
  return [...new Set([doc.example ?? first, ...items, items.join(","), longest.join(",")])];
}

function badLists(doc: ParameterDoc): string[] {
  const item = itemOf(doc);
  const [first = ""] = goodValues(item);
  const tooLong = Array<string>((doc.schema.maxItems ?? 1) + 1).fill(first);
  const empty = [
    ",",
    `${first},`,
    `,${first}`,
    `${first},,${first}`,
    `${first}, ${first}`,
    `${first};${first}`,
  ];
  const bad = badValues(item);
  return [...bad, ...bad.map((value) => `${first},${value}`), ...empty, tooLong.join(",")];
}

function isEvmAddress({ schema }: ParameterDoc): boolean {
  return schema.pattern?.startsWith("^0x") === true;
}

function outsideOf(allowed: readonly (string | number)[]): string[] {
  const [first] = allowed;
  if (typeof first === "number")
    return ["0", "10", "137", `${first},${first}`].filter((value) => !allowed.includes(Number(value)));
  return ["no_such_value", String(first).toUpperCase(), ` ${first}`, `${first},${first}`, "__proto__"].filter(
    (value) => !allowed.includes(value),
  );
}

function badEvmAddresses(): string[] {
  const digits = "ab".repeat(20);
  return [
    digits,
    `0x${digits.slice(1)}`,
    `0x${digits}0`,
    `0x${digits.slice(1)}g`,
    `0X${digits}`,
    ` 0x${digits}`,
    `0x${digits}\n`,
  ];
}

/** By characters, by length, and by what they decode to: 33 zero bytes, 33 and 24 bytes. */
function badSolanaAddresses(): string[] {
  return [
    "1".repeat(31),
    "1".repeat(45),
    `${"1".repeat(31)}0`,
    `${"1".repeat(31)}I`,
    "1".repeat(33),
    "z".repeat(44),
    "z".repeat(32),
  ];
}
