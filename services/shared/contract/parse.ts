import type { z } from "zod";
import { ServiceError } from "../errors.ts";
import { sortableNames } from "./define.ts";
import type { Endpoint, ParamsOf } from "./endpoint.ts";
import { FORMAT_PARAM, type Format, formatSchema } from "./format.ts";
import { combineOrder } from "./order.ts";
import { parameterError, parameterValueError } from "./parameter-error.ts";

export interface ParsedQuery<E extends Endpoint> {
  readonly params: ParamsOf<E>;
  /** The form that the response was asked for in; undefined = not in the query. */
  readonly format: Format | undefined;
  /** Names that the endpoint does not declare: percent-encoded for a header, at most 16 of them. */
  readonly ignored: readonly string[];
}

const IGNORED_NAMES = 16;
const IGNORED_NAME_LENGTH = 32;

interface Param {
  readonly name: string;
  readonly schema: z.ZodType;
  readonly required: boolean;
  /** The value when it is not sent; undefined without a default. */
  readonly defaultValue: unknown;
  readonly alias: string | undefined;
}

/** What parsing needs of an endpoint, computed once. */
interface ParsePlan {
  /** By wire name: the place of each parameter (its alias shares it), then order_asc and order_desc, then format. */
  readonly slotOf: ReadonlyMap<string, number>;
  readonly params: readonly Param[];
  /** Columns that may be ordered by; undefined where the endpoint takes no order. */
  readonly order: ReadonlySet<string> | undefined;
}

const plans = new WeakMap<Endpoint, ParsePlan>();

function planOf(endpoint: Endpoint): ParsePlan {
  const known = plans.get(endpoint);
  if (known !== undefined) return known;
  const aliases = Object.entries(endpoint.aliases ?? {});
  const params = Object.entries(endpoint.params).map(([name, schema]): Param => {
    const absent = schema.safeParse(undefined);
    const alias = aliases.find(([, target]) => target === name)?.[0];
    return { name, schema, required: !absent.success, defaultValue: absent.data, alias };
  });
  const columns = sortableNames(endpoint);
  const lists = columns.length > 0 ? ["order_asc", "order_desc"] : [];
  const slotOf = new Map(
    [...params.map((param) => param.name), ...lists, FORMAT_PARAM].map((name, at) => [name, at]),
  );
  for (const [alias, target] of aliases) slotOf.set(alias, slotOf.get(target) as number);
  const plan: ParsePlan = { slotOf, params, order: columns.length > 0 ? new Set(columns) : undefined };
  plans.set(endpoint, plan);
  return plan;
}

/** The raw value of each slot, and the name it was sent under (an alias or the parameter's own). */
interface SentValues {
  readonly values: (string | undefined)[];
  readonly names: (string | undefined)[];
  readonly ignored: string[];
}

/**
 * Parses the raw query string (after the `?`) by the endpoint's declaration.
 * Throws ServiceError bad_request naming the parameter, the rule and the value sent; never anything else.
 */
export function parseQuery<E extends Endpoint>(endpoint: E, rawQuery: string): ParsedQuery<E> {
  const plan = planOf(endpoint);
  const sent = readPairs(rawQuery, plan);
  const params: Record<string, unknown> = {};
  for (let at = 0; at < plan.params.length; at++) {
    const param = plan.params[at] as Param;
    const value = sent.values[at];
    if (value !== undefined) {
      params[param.name] = parseValue(param.schema, sent.names[at] as string, value);
    } else if (param.required) {
      const alias = param.alias === undefined ? "" : ` (or as ${param.alias})`;
      throw parameterError(param.name, `it is required${alias} and was not sent`);
    } else {
      params[param.name] = param.defaultValue;
    }
  }
  if (plan.order !== undefined) {
    const [asc, desc] = sent.values.slice(plan.params.length);
    params.order = combineOrder({ asc, desc }, plan.order);
  }
  endpoint.check?.(params);
  const wanted = sent.values[plan.slotOf.get(FORMAT_PARAM) as number];
  const format =
    wanted === undefined ? undefined : (parseValue(formatSchema, FORMAT_PARAM, wanted) as Format);
  return { params: params as ParamsOf<E>, format, ignored: sent.ignored };
}

function readPairs(rawQuery: string, plan: ParsePlan): SentValues {
  const slots = plan.slotOf.size;
  const sent: SentValues = {
    values: new Array(slots).fill(undefined),
    names: new Array(slots).fill(undefined),
    ignored: [],
  };
  let start = rawQuery.startsWith("?") ? 1 : 0;
  while (start < rawQuery.length) {
    let end = rawQuery.indexOf("&", start);
    if (end === -1) end = rawQuery.length;
    if (end > start) readPair(rawQuery.slice(start, end), plan, sent);
    start = end + 1;
  }
  return sent;
}

function readPair(pair: string, plan: ParsePlan, sent: SentValues): void {
  const equals = pair.indexOf("=");
  const name = decode(equals === -1 ? pair : pair.slice(0, equals));
  const value = equals === -1 ? "" : decode(pair.slice(equals + 1), name);
  const at = plan.slotOf.get(name);
  if (at === undefined) {
    addIgnored(sent.ignored, name);
    return;
  }
  const before = sent.names[at];
  if (before === name) throw parameterError(name, "it was sent more than once");
  if (before !== undefined)
    throw parameterError(name, `it was sent together with ${before}, which means the same`);
  sent.values[at] = value;
  sent.names[at] = name;
}

function addIgnored(ignored: string[], name: string): void {
  const shown = encodeURIComponent(name.slice(0, IGNORED_NAME_LENGTH).toWellFormed());
  if (shown !== "" && ignored.length < IGNORED_NAMES && !ignored.includes(shown)) ignored.push(shown);
}

function decode(text: string, parameter?: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    if (parameter !== undefined)
      throw parameterValueError(parameter, text, "is not valid percent-encoded UTF-8");
    throw parameterValueError("the query", text, "is not valid percent-encoded UTF-8");
  }
}

function parseValue(schema: z.ZodType, parameter: string, value: string): unknown {
  if (value === "") throw parameterError(parameter, "its value is empty");
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw parameterValueError(parameter, value, ruleOf(result.error.issues));
}

/** The broken rule as a phrase after the value. Of several the last is the narrowest: z.int's own range comes first. */
function ruleOf(issues: readonly z.core.$ZodIssue[]): string {
  const issue = issues.at(-1);
  if (issue === undefined) throw new ServiceError("bad_request", "The query could not be parsed.");
  if (issue.code === "too_big" && issue.origin !== "string") return `is above ${issue.maximum}`;
  if (issue.code === "too_small" && issue.origin !== "string") return `is below ${issue.minimum}`;
  if (issue.code === "invalid_value")
    return `is not ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
  return issue.message;
}
