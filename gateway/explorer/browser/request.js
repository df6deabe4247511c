/** What is asked of the API, and the same as a line for a shell. */
/** @import { Param, Params, Table } from "./types.ts" */
import { queryOf } from "./route.js";

/**
 * The ranges that pools are told over; for tables with times of their own, the window that is asked for.
 * @type {readonly { readonly name: string; readonly seconds: number; readonly interval: string }[]}
 */
export const RANGES = [
  { name: "5 minute", seconds: 300, interval: "1m" },
  { name: "1 hour", seconds: 3_600, interval: "1m" },
  { name: "1 day", seconds: 86_400, interval: "15m" },
  { name: "1 week", seconds: 604_800, interval: "2h" },
  { name: "1 month", seconds: 2_592_000, interval: "8h" },
  { name: "1 year", seconds: 31_536_000, interval: "3d" },
];
export const DEFAULT_RANGE = "1 day";

/** @param {string | undefined} name */
export function rangeOf(name) {
  const found =
    RANGES.find((range) => range.name === name) ?? RANGES.find(({ name }) => name === DEFAULT_RANGE);
  return /** @type {(typeof RANGES)[number]} */ (found);
}

/**
 * Parameters for a request: the given ones that the table knows, and for the others that it needs a window of time or the
 * declared example. Undefined where an address is missing: an example of one would answer another question.
 * @param {Table} table
 * @param {Params} given
 * @param {{ readonly range?: string; readonly nowMs: number }} when
 * @returns {Params | undefined}
 */
export function fillParams(table, given, { range, nowMs }) {
  /** @type {Record<string, string>} */
  const filled = {};
  for (const param of table.params) {
    const needed = param.required || (param.name === "interval" && table.params.some(isTime));
    const value = given[param.name] || (needed ? stand(param, { range, nowMs, table }) : undefined);
    if (value !== undefined) filled[param.name] = value;
    else if (param.required) return undefined;
  }
  for (const name of ["order_asc", "order_desc"]) {
    const value = given[name];
    if (value && table.sortable.length > 0) filled[name] = value;
  }
  return filled;
}

/** @param {Param} param */
function isTime({ name, required }) {
  return name === "after_time" && required;
}

/** Points of a chart at most, where a table has few intervals: a longer range begins later. */
const MAX_POINTS = 199;
/** @type {Readonly<Record<string, number>>} */
const UNIT_SECONDS = { m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** "2h" in seconds. @param {string} interval */
function secondsOf(interval) {
  return Number.parseInt(interval, 10) * (UNIT_SECONDS[interval.slice(-1)] ?? 1);
}

/**
 * The interval of a range, and from when on there is a point: the range's own, else the finest that has not too many.
 * @param {Table} table
 * @param {(typeof RANGES)[number]} range
 */
function pointsOf(table, { interval, seconds }) {
  const options = (table.params.find(({ name }) => name === "interval")?.options ?? []).map(String);
  if (options.length === 0 || options.includes(interval)) return { interval, seconds };
  const fitting = options.find((option) => seconds / secondsOf(option) <= MAX_POINTS) ?? options.at(-1);
  const chosen = fitting ?? interval;
  return { interval: chosen, seconds: Math.min(seconds, MAX_POINTS * secondsOf(chosen)) };
}

/**
 * @param {Param} param
 * @param {{ readonly range?: string; readonly nowMs: number; readonly table: Table }} when
 * @returns {string | undefined}
 */
function stand({ name, example, maximum }, { range: chosen, nowMs, table }) {
  const range = rangeOf(chosen);
  const nowS = Math.floor(nowMs / 1000);
  const points = pointsOf(table, range);
  if (name === "before_time") return String(nowS);
  if (name === "after_time") return String(nowS - Math.max(points.seconds, secondsOf(points.interval)));
  if (name === "interval") return points.interval;
  if (name === "days")
    return String(Math.min(maximum ?? 365, Math.max(1, Math.ceil(range.seconds / 86_400))));
  return name.endsWith("_address") ? undefined : example;
}

/**
 * @param {string} path
 * @param {Params} params
 */
export function pathWithQuery(path, params) {
  const query = queryOf(params);
  return query === "" ? path : `${path}?${query}`;
}

/**
 * A line to paste into a shell.
 * @param {{ readonly origin: string; readonly key: string | null; readonly path: string }} request
 */
export function curlLine({ origin, key, path }) {
  const header = key === null ? "" : ` -H ${quote(`X-API-KEY: ${key}`)}`;
  return `curl -s${header} ${quote(`${origin}${path}`)}`;
}

/** @param {string} text */
function quote(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
