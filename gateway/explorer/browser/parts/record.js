/** One row about one thing: its figures first, then everything else, then what it holds in arrays. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Column, Row, Table } from "../types.ts" */
import { h, setText } from "../dom.js";
import { exactCell, formatCell } from "../format.js";
import { linkOf, titleOf } from "../model.js";
import { routeToSubject } from "../route.js";
import { rangesPart } from "./ranges.js";
import { flash } from "./rows.js";
import { isTupleColumn, tuplesPart } from "./tuples.js";
import { watchPart } from "./watch.js";

/** What people look for first, in this order. */
const HEADLINES = [
  /price(usd)?$/i,
  /^(pool)?tvlusd$|^totalvaluelocked/i,
  /^(net)?supplyapy$/i,
  /^borrowapy$/i,
  /utili[sz]ation/i,
  /volume24h|^volumeusd$/i,
  /availableliquidityusd/i,
  /(apr|apy)\w*$/i,
  /score|holdercount/i,
];
const HEADLINE_COUNT = 5;

/**
 * @param {Table} table
 * @param {{ readonly chainId?: string | undefined; readonly memory: string }} place `memory` names what the record is about
 * @returns {Part}
 */
export function recordPart(table, { chainId, memory }) {
  const plain = table.columns.filter(({ type }) => !type.startsWith("Array("));
  const heads = headlinesOf(plain);
  const rest = plain.filter((column) => !heads.includes(column));
  const facts = [
    ...heads.map((column) => factOf(column, true)),
    ...rest.map((column) => factOf(column, false)),
  ];
  const hasRanges = table.columns.some(({ name }) => name === "timeRanges");
  const parts = [
    ...(heads.length > 0 ? [watchPart(heads, { table, memory })] : []),
    ...(hasRanges ? [rangesPart(table)] : []),
    ...table.columns.filter(isTupleColumn).map((column) => tuplesPart(column, { table, chainId })),
  ];
  const list = (/** @type {boolean} */ isHead, /** @type {string} */ name) =>
    h("dl", { class: name }, ...facts.filter((fact) => fact.isHead === isHead).map(({ node }) => node));
  return {
    node: h(
      "div",
      { class: "record" },
      heads.length > 0 && list(true, "headlines"),
      ...parts.map(({ node }) => node),
      rest.length > 0 &&
        h("details", { open: parts.length < 2 }, h("summary", {}, "All columns"), list(false, "facts")),
    ),
    update([row]) {
      if (row === undefined) return;
      const nowMs = Date.now();
      for (const { column, value } of facts) updateFact(value, { column, row, table, chainId, nowMs });
      for (const part of parts) part.update([row]);
    },
  };
}

/** @param {readonly Column[]} columns */
export function headlinesOf(columns) {
  const ranked = HEADLINES.flatMap((pattern) =>
    columns.filter(({ name, type }) => pattern.test(name) && /Float64|UInt64/.test(type)),
  );
  return [...new Set(ranked)].slice(0, HEADLINE_COUNT);
}

/**
 * Whether the figure itself shows its unit: as $ or %.
 * @param {string | undefined} unit
 */
function isShownUnit(unit) {
  return unit === undefined || /^(USD|fraction|percent|hundredths of a bip|basis points)/.test(unit);
}

/**
 * @param {Column} column
 * @param {boolean} isHead
 */
function factOf(column, isHead) {
  const { name, unit, description } = column;
  const value = h("dd");
  const title = `${name}${unit === undefined ? "" : ` (${unit})`}: ${description}`;
  return {
    column,
    isHead,
    value,
    node: h(
      "div",
      { title },
      h("dt", {}, titleOf(name), isHead && !isShownUnit(unit) && h("small", {}, ` ${unit}`)),
      value,
    ),
  };
}

/**
 * @param {HTMLElement} element
 * @param {{
 *   readonly column: Column; readonly row: Row; readonly table: Table;
 *   readonly chainId?: string | undefined; readonly nowMs: number;
 * }} place
 */
function updateFact(element, { column, row, table, chainId, nowMs }) {
  const value = row[table.columns.indexOf(column)] ?? null;
  const exact = exactCell(value, column);
  const before = element.title;
  element.title = exact;
  const text = formatCell(value, column, nowMs);
  const link = linkOf(column, row, table);
  if (link === undefined) setText(element, text);
  else {
    const anchor = element.querySelector("a") ?? element.appendChild(h("a"));
    setText(anchor, text);
    anchor.setAttribute("href", routeToSubject(link, chainId));
  }
  if (before !== "" && before !== exact) flash(element);
}
