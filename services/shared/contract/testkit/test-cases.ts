import { ServiceError } from "../../errors.ts";
import { describeParameters, isOrderList, type ParameterDoc } from "../derive/parameters.ts";
import type { Endpoint } from "../endpoint.ts";
import { badValues, goodValues } from "./test-values.ts";

/** A request that must be accepted (200, or 404 for an unknown address) or rejected with 400. */
export interface DerivedCase {
  readonly name: string;
  /** Raw query string, without `?`. */
  readonly query: string;
  readonly expect: 200 | 400;
  /** The parameter a 400's message names. */
  readonly parameter?: string;
}

type Pair = readonly [name: string, value: string];

/** Requests for every rule of the endpoint's parameters: each bound and one beyond, enum values, repeats, orders. */
export function deriveCases(endpoint: Endpoint): DerivedCase[] {
  const docs = describeParameters(endpoint);
  const base = requiredPairs(endpoint, docs);
  const cases: DerivedCase[] = [
    { name: "required parameters only", query: encode(base), expect: 200 },
    {
      name: "an unknown parameter is ignored",
      query: encode([...base, ["no_such_parameter", "1"]]),
      expect: 200,
    },
  ];
  for (const doc of docs) {
    const rest = base.filter(([name]) => name !== doc.name && name !== doc.aliasOf);
    if (!isOrderList(doc)) cases.push(...valueCases(endpoint, doc, rest));
    cases.push(...encodingCases(doc, rest));
  }
  for (const [name] of base) {
    const query = encode(base.filter(([other]) => other !== name));
    cases.push({ name: `${name} is missing`, query, expect: 400, parameter: name });
  }
  for (const [alias, name] of Object.entries(endpoint.aliases ?? {})) {
    const value = docs.find((doc) => doc.name === name)?.example ?? "";
    const rest = base.filter(([other]) => other !== name);
    cases.push({
      name: `${name} and ${alias}`,
      query: encode([...rest, [name, value], [alias, value]]),
      expect: 400,
      parameter: alias,
    });
  }
  cases.push(...windowCases(endpoint, base), ...orderCases(docs, base));
  return cases;
}

/** Examples of the required parameters. */
function requiredPairs(endpoint: Endpoint, docs: readonly ParameterDoc[]): Pair[] {
  const pairs: Pair[] = [];
  for (const [name, schema] of Object.entries(endpoint.params)) {
    if (schema.safeParse(undefined).success) continue;
    const example = docs.find((doc) => doc.name === name)?.example;
    if (example === undefined)
      throw new Error(`Cannot derive cases of ${endpoint.path}: ${name} has no example.`);
    pairs.push([name, example]);
  }
  return pairs;
}

function valueCases(endpoint: Endpoint, doc: ParameterDoc, rest: readonly Pair[]): DerivedCase[] {
  const good = goodValues(doc).map((value): DerivedCase => {
    const pairs: Pair[] = [...rest, [doc.name, value]];
    const name = `${doc.name} = ${JSON.stringify(value)}`;
    const rejectedParameter = brokenRule(endpoint, pairs);
    return rejectedParameter === undefined
      ? { name, query: encode(pairs), expect: 200 }
      : {
          name: `${name} breaks a rule between parameters`,
          query: encode(pairs),
          expect: 400,
          parameter: rejectedParameter,
        };
  });
  const bad = badValues(doc).map((value): DerivedCase => {
    return {
      name: `${doc.name} = ${JSON.stringify(value)}`,
      query: encode([...rest, [doc.name, value]]),
      expect: 400,
      parameter: doc.name,
    };
  });
  return [...good, ...bad];
}

/** The parameter that the endpoint's check rejects although each value is valid alone; undefined if it accepts them. */
function brokenRule(endpoint: Endpoint, pairs: readonly Pair[]): string | undefined {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(endpoint.params)) {
    values[name] = schema.safeParse(pairs.find(([sent]) => sent === name)?.[1]).data;
  }
  try {
    endpoint.check?.(values);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return /^Cannot parse (\S+):/.exec(error.message)?.[1];
    throw error;
  }
}

function encodingCases(doc: ParameterDoc, rest: readonly Pair[]): DerivedCase[] {
  const before = rest.length > 0 ? `${encode(rest)}&` : "";
  const value = encodeURIComponent(doc.example ?? "1");
  const cases: DerivedCase[] = [
    {
      name: `${doc.name} is sent twice`,
      query: `${before}${doc.name}=${value}&${doc.name}=${value}`,
      expect: 400,
      parameter: doc.name,
    },
    {
      name: `${doc.name} is not UTF-8`,
      query: `${before}${doc.name}=%ff`,
      expect: 400,
      parameter: doc.name,
    },
    {
      name: `${doc.name} ends in half an escape`,
      query: `${before}${doc.name}=${value}%2`,
      expect: 400,
      parameter: doc.name,
    },
  ];
  if (isOrderList(doc)) return cases;
  return [
    ...cases,
    { name: `${doc.name} is empty`, query: `${before}${doc.name}=`, expect: 400, parameter: doc.name },
    { name: `${doc.name} has no value`, query: `${before}${doc.name}`, expect: 400, parameter: doc.name },
  ];
}

function windowCases(endpoint: Endpoint, base: readonly Pair[]): DerivedCase[] {
  if (!("after_time" in endpoint.params && "before_time" in endpoint.params)) return [];
  const rest = base.filter(([name]) => name !== "after_time" && name !== "before_time");
  const window = (after: string, before: string) =>
    encode([...rest, ["after_time", after], ["before_time", before]]);
  return [
    { name: "a window of one second", query: window("1735689600", "1735689601"), expect: 200 },
    {
      name: "an empty window",
      query: window("1735689600", "1735689600"),
      expect: 400,
      parameter: "after_time",
    },
    {
      name: "a window that ends before it starts",
      query: window("1735689601", "1735689600"),
      expect: 400,
      parameter: "after_time",
    },
  ];
}

function orderCases(docs: readonly ParameterDoc[], base: readonly Pair[]): DerivedCase[] {
  const allowed = docs.find((doc) => doc.name === "order_asc")?.schema.items?.enum ?? [];
  const columns = allowed.map(String).filter((name) => name !== "");
  const [first, second] = columns;
  if (first === undefined || second === undefined) return [];
  const queryOf = (...pairs: Pair[]) => encode([...base, ...pairs]);
  const accepted: Pair[][] = [
    ...columns.flatMap((name): Pair[][] => [[["order_asc", name]], [["order_desc", name]]]),
    [["order_asc", columns.join(",")]],
    [["order_desc", columns.join(",")]],
    [
      ["order_asc", `${first},`],
      ["order_desc", `,${second}`],
    ],
    [
      ["order_asc", first],
      ["order_desc", second],
    ],
    [["order_asc", ""]],
    [["order_desc", ","]],
  ];
  const rejected: Pair[][] = [
    [["order_asc", "noSuchColumn"]],
    [["order_desc", first.toUpperCase()]],
    [["order_asc", `${first},${first}`]],
    [["order_desc", `${first},,${first}`]],
    [
      ["order_desc", first],
      ["order_asc", `,${first}`],
    ],
    [["order_asc", ` ${first}`]],
  ];
  const title = (pairs: readonly Pair[]) => pairs.map(([name, value]) => `${name} = ${value}`).join(" and ");
  return [
    ...accepted.map((pairs): DerivedCase => ({ name: title(pairs), query: queryOf(...pairs), expect: 200 })),
    ...rejected.map((pairs): DerivedCase => {
      return {
        name: title(pairs),
        query: queryOf(...pairs),
        expect: 400,
        parameter: (pairs.at(-1) as Pair)[0],
      };
    }),
  ];
}

function encode(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}
