/** Tuples in a cell: a chart where they are a series of times, else a table of their own. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Column, Row, Table } from "../types.ts" */
import { h } from "../dom.js";
import { formatCell } from "../format.js";
import { titleOf } from "../model.js";
import { seriesPart } from "./chart.js";
import { rowsPart } from "./rows.js";

/** @param {Column} column */
export function isTupleColumn({ type }) {
  return type.startsWith("Array(Tuple(");
}

/**
 * @param {Column} column
 * @param {{ readonly table: Table; readonly chainId?: string | undefined }} place
 * @returns {Part}
 */
export function tuplesPart(column, { table, chainId }) {
  const inner = tableOf(column, table);
  const at = table.columns.indexOf(column);
  const isSeries = /^\w*(Start)?Unix$/.test(inner.columns[0]?.name ?? "");
  const heading = h("h3", { title: column.description }, titleOf(column.name));
  const rows = rowsPart({ table: inner, columns: inner.columns, caption: titleOf(column.name), chainId });
  const chart = isSeries ? seriesPart() : undefined;
  const value = inner.columns[1];
  const node =
    chart === undefined
      ? h("div", { class: "tuples" }, heading, rows.node)
      : h(
          "div",
          { class: "tuples" },
          heading,
          chart.node,
          h("details", {}, h("summary", {}, "As a table"), rows.node),
        );
  return {
    node,
    update([row]) {
      const cell = row?.[at];
      const tuples = /** @type {readonly Row[]} */ (Array.isArray(cell) ? cell : []);
      node.hidden = tuples.length === 0;
      rows.update(tuples);
      if (chart === undefined || value === undefined) return;
      chart.show({
        title: `${titleOf(column.name)}: ${titleOf(value.name)}`,
        times: tuples.map((tuple) => Number(tuple[0])),
        values: tuples.map((tuple) => (typeof tuple[1] === "number" ? tuple[1] : null)),
        format: (number) => formatCell(number, value, Date.now()),
        isBars: true,
      });
    },
  };
}

/**
 * The tuples as a table of their own: units follow from the members' names.
 * @param {Column} column
 * @param {Table} table
 * @returns {Table}
 */
export function tableOf({ type, members = [], description }, table) {
  const types = type.slice("Array(Tuple(".length, -2).split(", ");
  const columns = types.map((member, at) => {
    const name = members[at] ?? `${at + 1}`;
    const unit = unitOf(name);
    return { name, type: member, description, ...(unit !== undefined && { unit }) };
  });
  return { ...table, columns, params: [], sortable: [] };
}

/** @param {string} name */
function unitOf(name) {
  if (/Usd$/.test(name)) return "USD";
  if (/Unix$|^unixTime$/.test(name)) return "Unix seconds";
  return /share|apr|ratio/i.test(name) ? "fraction" : undefined;
}
