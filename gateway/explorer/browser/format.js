/** Cells as people read them; the exact value is always in the tooltip. Text only: nothing here is markup. */
/** @import { Cell, Column } from "./types.ts" */

const LOCALE = "en";
const compact = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 2 });
const whole = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });

/**
 * @param {number} value
 * @returns {string}
 */
export function formatNumber(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 100_000) return compact.format(value);
  if (size >= 1_000) return whole.format(value);
  if (size >= 1) return new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 4 }).format(value);
  if (size < 1e-9) return value.toExponential(2);
  return new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 4, maximumFractionDigits: 14 }).format(
    value,
  );
}

/** @param {number} value */
export function formatUsd(value) {
  const text = Math.abs(value) >= 1 && Math.abs(value) < 1_000 ? value.toFixed(2) : formatNumber(value);
  return text.startsWith("-") ? `-$${text.slice(1)}` : `$${text}`;
}

/** @param {number} percent */
function formatPercent(percent) {
  const digits = Math.abs(percent) >= 100 ? 0 : Math.abs(percent) >= 0.01 || percent === 0 ? 2 : 4;
  return `${new Intl.NumberFormat(LOCALE, { maximumFractionDigits: digits }).format(percent)} %`;
}

/**
 * "0x97de7b95…9210": enough to recognize, and the tooltip has all of it.
 * @param {string} text
 */
export function shorten(text) {
  return text.length > 24 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text;
}

/** @param {number} seconds */
export function formatAge(seconds) {
  const age = Math.max(0, Math.round(seconds));
  if (age < 60) return `${age} s ago`;
  if (age < 3_600) return `${Math.round(age / 60)} min ago`;
  if (age < 172_800) return `${Math.round(age / 3_600)} h ago`;
  return `${Math.round(age / 86_400)} days ago`;
}

/** @param {number} seconds */
export function formatTime(seconds) {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

const IDENTIFIER =
  /(Address|Hash|Id|signature|Signature|account|authority|Authority|Program)$|^(address|account|token\d)$/;

/**
 * @param {Cell} value
 * @param {Pick<Column, "name" | "type" | "unit">} column
 * @param {number} nowMs
 * @returns {string}
 */
export function formatCell(value, { name, type, unit }, nowMs) {
  if (value === null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return `${value.length} entries`;
  if (type.includes("DateTime") && typeof value === "string")
    return formatAge((nowMs - Date.parse(value)) / 1_000);
  if (unit === "Unix seconds") return formatAge(nowMs / 1_000 - Number(value));
  if (typeof value === "string") return formatText(value, { name, type });
  return formatWithUnit(Number(value), { name, unit });
}

/**
 * @param {string} value
 * @param {Pick<Column, "name" | "type">} column
 */
function formatText(value, { name, type }) {
  if (IDENTIFIER.test(name)) return shorten(value);
  // Integers beyond what JSON numbers hold.
  if (/U?Int/.test(type) && value.length > 15) return Number(value).toExponential(4);
  return value === "" ? "–" : value;
}

/**
 * @param {number} value
 * @param {Pick<Column, "name" | "unit">} column
 */
function formatWithUnit(value, { name, unit = "" }) {
  if (unit.startsWith("USD")) return formatUsd(value);
  if (unit.startsWith("fraction")) return formatPercent(value * 100);
  if (unit === "percent") return formatPercent(value);
  if (unit === "hundredths of a bip") return formatPercent(value / 10_000);
  if (unit === "basis points") return formatPercent(value / 100);
  if (/^(id|chainId)$/.test(name)) return String(value);
  if (/^(slot|block.*)$/.test(name)) return whole.format(value);
  return formatNumber(value);
}

/**
 * The exact value, for the tooltip and the clipboard.
 * @param {Cell} value
 * @param {Pick<Column, "unit">} column
 */
export function exactCell(value, { unit }) {
  if (value === null) return "not known";
  if (unit === "Unix seconds") return formatTime(Number(value));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** @param {Pick<Column, "type">} column */
export function isNumeric({ type }) {
  return /Int|Float/.test(type) && !type.startsWith("Array(");
}
