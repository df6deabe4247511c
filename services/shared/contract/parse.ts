import { ServiceError } from "../errors.ts";
import type { z } from "zod";
import { sortableNames } from "./define.ts";
import type { Endpoint, ParamsOf } from "./endpoint.ts";
import { combineOrder } from "./order.ts";
import { refuse, refuseValue } from "./refusal.ts";

export interface ParsedQuery<E extends Endpoint> {
  readonly params: ParamsOf<E>;
  /** Names the endpoint does not know, percent-encoded so that they are safe in a header, cut to a bounded few. */
  readonly ignored: readonly string[];
}

const IGNORED_NAMES = 16;
const IGNORED_NAME_LENGTH = 32;

interface Slot {
  readonly name: string;
  readonly schema: z.ZodType | undefined;
  readonly required: boolean;
  /** The value of an absent parameter: its default, or undefined. */
  readonly absent: unknown;
  readonly alias: string | undefined;
}

/** What parsing needs of an endpoint, worked out once. */
interface Plan {
  readonly slotOf: ReadonlyMap<string, number>;
  readonly slots: readonly Slot[];
  /** Allowed order columns; undefined where the endpoint takes no order. Its two lists are the last two slots. */
  readonly order: ReadonlySet<string> | undefined;
}

const plans = new WeakMap<Endpoint, Plan>();

function planOf(endpoint: Endpoint): Plan {
  const known = plans.get(endpoint);
  if (known !== undefined) return known;
  const aliases = Object.entries(endpoint.aliases ?? {});
  const slots: Slot[] = Object.entries(endpoint.params).map(([name, schema]) => {
    const absent = schema.safeParse(undefined);
    const alias = aliases.find(([, target]) => target === name)?.[0];
    return { name, schema, required: !absent.success, absent: absent.data, alias };
  });
  const names = sortableNames(endpoint);
  for (const name of names.length > 0 ? ["order_asc", "order_desc"] : []) {
    slots.push({ name, schema: undefined, required: false, absent: undefined, alias: undefined });
  }
  const slotOf = new Map(slots.map((slot, at) => [slot.name, at]));
  for (const [alias, target] of aliases) slotOf.set(alias, slotOf.get(target) as number);
  const plan: Plan = { slotOf, slots, order: names.length > 0 ? new Set(names) : undefined };
  plans.set(endpoint, plan);
  return plan;
}

/**
 * Parses the raw query string (what stands after the `?`) by the endpoint's declaration.
 * Throws ServiceError bad_request naming the parameter, the rule and the value sent; never anything else.
 */
export function parseQuery<E extends Endpoint>(endpoint: E, rawQuery: string): ParsedQuery<E> {
  const plan = planOf(endpoint);
  const sent: (string | undefined)[] = new Array(plan.slots.length).fill(undefined);
  const sentAs: (string | undefined)[] = new Array(plan.slots.length).fill(undefined);
  const ignored = readPairs(rawQuery, plan, sent, sentAs);

  const params: Record<string, unknown> = {};
  const parameters = plan.order === undefined ? plan.slots.length : plan.slots.length - 2;
  for (let at = 0; at < parameters; at++) {
    const slot = plan.slots[at] as Slot;
    const value = sent[at];
    if (value !== undefined) {
      params[slot.name] = parseValue(slot.schema as z.ZodType, sentAs[at] as string, value);
    } else if (slot.required) {
      const alias = slot.alias === undefined ? "" : ` (or as ${slot.alias})`;
      throw refuse(slot.name, `it is required${alias} and was not sent`);
    } else {
      params[slot.name] = slot.absent;
    }
  }
  if (plan.order !== undefined) {
    params["order"] = combineOrder({ asc: sent[parameters], desc: sent[parameters + 1] }, plan.order);
  }
  endpoint.check?.(params);
  return { params: params as ParamsOf<E>, ignored };
}

/** Fills `sent` by slot and returns the names nobody knows. */
function readPairs(rawQuery: string, plan: Plan, sent: (string | undefined)[], sentAs: (string | undefined)[]): string[] {
  const ignored: string[] = [];
  let start = rawQuery.startsWith("?") ? 1 : 0;
  while (start < rawQuery.length) {
    let end = rawQuery.indexOf("&", start);
    if (end === -1) end = rawQuery.length;
    if (end > start) {
      const equals = rawQuery.indexOf("=", start);
      const split = equals === -1 || equals > end ? end : equals;
      const name = decode(rawQuery.slice(start, split));
      const value = decode(rawQuery.slice(Math.min(split + 1, end), end), name);
      const at = plan.slotOf.get(name);
      if (at === undefined) noteIgnored(ignored, name);
      else take(at, name, value);
    }
    start = end + 1;
  }
  return ignored;

  function take(at: number, name: string, value: string): void {
    const before = sentAs[at];
    if (before === name) throw refuse(name, "it was sent more than once");
    if (before !== undefined) throw refuse(name, `it was sent together with ${before}, which means the same`);
    sent[at] = value;
    sentAs[at] = name;
  }
}

function noteIgnored(ignored: string[], name: string): void {
  const shown = encodeURIComponent(name.slice(0, IGNORED_NAME_LENGTH).toWellFormed());
  if (shown !== "" && ignored.length < IGNORED_NAMES && !ignored.includes(shown)) ignored.push(shown);
}

function decode(text: string, parameter?: string): string {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    if (parameter !== undefined) throw refuseValue(parameter, text, "is not valid percent-encoded UTF-8");
    throw refuseValue("the query", text, "is not valid percent-encoded UTF-8");
  }
}

function parseValue(schema: z.ZodType, parameter: string, value: string): unknown {
  if (value === "") throw refuse(parameter, "its value is empty");
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refuseValue(parameter, value, ruleOf(result.error.issues));
}

/** The broken rule as a phrase after the value. Of several the last is the narrowest: z.int's own range comes first. */
function ruleOf(issues: readonly z.core.$ZodIssue[]): string {
  const issue = issues.at(-1);
  if (issue === undefined) throw new ServiceError("bad_request", "The query could not be parsed.");
  if (issue.code === "too_big" && issue.origin !== "string") return `is above ${issue.maximum}`;
  if (issue.code === "too_small" && issue.origin !== "string") return `is below ${issue.minimum}`;
  if (issue.code === "invalid_value") return `is not ${issue.values.length > 1 ? "one of " : ""}${issue.values.join(", ")}`;
  return issue.message;
}
