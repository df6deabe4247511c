import type { Cell } from "../../../services/shared/contract/column.ts";
import type { Answer } from "../asking.ts";
import { ageSecondsOf } from "../tools/table-text.ts";

/** Numbers of reports: six digits are enough to decide by, and the endpoints' tools have all of them. */
export function formatNumber(value: Cell | undefined): string {
  if (typeof value !== "number") return value === null || value === undefined ? "unknown" : String(value);
  const rounded = Number(value.toPrecision(6));
  return Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e15
    ? rounded.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 12 })
    : String(rounded);
}

export function formatUsd(value: Cell | undefined): string {
  if (typeof value !== "number") return "unknown";
  return `${formatNumber(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toFixed(4)))} USD`;
}

/** A fraction as percent. */
export function formatFraction(value: Cell | undefined): string {
  return typeof value === "number" ? formatPercent(100 * value) : "unknown";
}

export function formatPercent(value: Cell | undefined): string {
  return typeof value === "number" ? `${formatNumber(Number(value.toFixed(3)))} %` : "unknown";
}

/** Names are the words of whoever made a token or a vault: on one line, and not longer than a name is. */
export function plainText(value: Cell | undefined): string {
  if (typeof value !== "string") return "";
  const text = value.replaceAll(/[|\p{C}\p{Z}]+/gu, " ").trim();
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text;
}

const MAX_NAME = 60;

/** A line of a list: cells between bars. */
export function formatLine(cells: readonly string[]): string {
  return cells.join(" | ");
}

/**
 * Which blocks the answers were made from, and how old the oldest is: "Block 1204, 3 s old." An index that has read nothing
 * yet has no block.
 */
export function describeBlocks(answers: readonly Answer[], nowMs: number): string {
  const blocks = [...new Set(answers.flatMap(({ block }) => (block === undefined ? [] : [block])))];
  const ages = answers.flatMap(({ asOf }) => (asOf === undefined ? [] : [ageSecondsOf(asOf, nowMs)]));
  if (blocks.length === 0) return "The answer names no block.";
  const [first, last] = [Math.min(...blocks), Math.max(...blocks)];
  const word = answers[0]?.endpoint.family === "solana" ? "Slot" : "Block";
  const range = first === last ? `${word} ${first}` : `${word}s ${first} to ${last}`;
  const stale = [...new Set(answers.flatMap(({ stale }) => (stale === undefined ? [] : [stale])))];
  const old = ages.length === 0 ? "" : `, ${Math.max(...ages)} s old`;
  return `${range}${old}.${stale.length === 0 ? "" : ` Older than their block: ${stale.join(", ")}.`}`;
}
