/** Figures over the six ranges: one of them as bars, all of them as a table. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Cell, Column, Row, Table } from "../types.ts" */
import { h, setText } from "../dom.js";
import { exactCell, formatCell } from "../format.js";
import { titleOf } from "../model.js";
import { barsPart } from "./chart.js";

/**
 * @param {Table} table
 * @returns {Part}
 */
export function rangesPart(table) {
  const columns = table.columns.filter(
    ({ name, type }) => name !== "timeRanges" && /^Array\((Nullable\()?(Float|U?Int)/.test(type),
  );
  const rangesAt = table.columns.findIndex(({ name }) => name === "timeRanges");
  let shown = /** @type {Column} */ (columns[0]);
  /** @type {Row | undefined} */
  let last;
  const chart = barsPart();
  const group = `ranges-${table.path}`;
  const choices = columns.map((column) =>
    h(
      "label",
      { title: column.description },
      h("input", {
        ...{ type: "radio", name: group, value: column.name, checked: column === shown },
        onchange: () => {
          shown = column;
          draw();
        },
      }),
      h("span", {}, titleOf(column.name)),
    ),
  );
  const head = h("tr");
  const body = h("tbody");
  const draw = () => {
    if (last === undefined) return;
    const ranges = /** @type {string[]} */ (last[rangesAt] ?? []);
    const values = arrayOf(last, table.columns.indexOf(shown));
    chart.show({
      title: `${titleOf(shown.name)} over ${ranges.length} ranges`,
      labels: ranges,
      values: values.map((value) =>
        typeof value === "number" ? value : value === null ? null : Number(value),
      ),
      format: (value) => formatCell(value, elementOf(shown), Date.now()),
    });
  };
  const scroll = h(
    "div",
    { class: "scroll", role: "region", "aria-label": "Figures over the ranges", tabindex: 0 },
    h(
      "table",
      { class: "matrix" },
      h("caption", { class: "hidden" }, "Figures over the ranges"),
      h("thead", {}, head),
      body,
    ),
  );
  return {
    node: h(
      "div",
      { class: "ranges" },
      h("fieldset", { class: "choices" }, h("legend", { class: "hidden" }, "Figure to draw"), ...choices),
      chart.node,
      scroll,
    ),
    update([row]) {
      if (row === undefined) return;
      last = row;
      const ranges = /** @type {string[]} */ (row[rangesAt] ?? []);
      if (head.cells.length === 0)
        head.append(...["", ...ranges].map((name) => h("th", { scope: "col", class: "number" }, name)));
      for (const [at, column] of columns.entries()) {
        const line =
          body.rows[at] ??
          body.appendChild(
            h("tr", {}, h("th", { scope: "row", title: column.description }, titleOf(column.name))),
          );
        for (const [place, value] of arrayOf(row, table.columns.indexOf(column)).entries()) {
          const cell = line.cells[place + 1] ?? line.appendChild(h("td", { class: "number" }));
          setText(cell, formatCell(value, elementOf(column), Date.now()));
          cell.setAttribute("title", exactCell(value, column));
        }
      }
      draw();
    },
  };
}

/**
 * @param {Row} row
 * @param {number} at
 * @returns {readonly Cell[]}
 */
function arrayOf(row, at) {
  const cell = row[at];
  return Array.isArray(cell) ? cell : [];
}

/**
 * The column as if it held one of its elements.
 * @param {Column} column
 */
function elementOf(column) {
  return { ...column, type: column.type.replace(/^Array\((.*)\)$/, "$1") };
}
