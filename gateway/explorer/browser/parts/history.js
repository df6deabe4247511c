/** Figures of one thing over time, a row a moment: one of them as a line, all of them as a table. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Column, Row, Table } from "../types.ts" */
import { h } from "../dom.js";
import { formatCell } from "../format.js";
import { figuresOf, titleOf } from "../model.js";
import { seriesPart } from "./chart.js";
import { rowsPart } from "./rows.js";

/** Rows of the table below the chart. */
const MAX_ROWS = 100;

/**
 * @param {Table} table
 * @returns {Part}
 */
export function historyPart(table) {
  const columns = figuresOf(table);
  const timeAt = table.columns.findIndex(({ name }) => name === "unixTime");
  let shown = /** @type {Column} */ (columns[0]);
  /** @type {readonly Row[]} */
  let rows = [];
  const chart = seriesPart();
  const rowsTable = rowsPart({ table, columns: table.columns, caption: table.summary });
  const draw = () => {
    const at = table.columns.indexOf(shown);
    chart.show({
      title: titleOf(shown.name),
      times: rows.map((row) => Number(row[timeAt])),
      values: rows.map((row) => (typeof row[at] === "number" ? Number(row[at]) : null)),
      format: (value) => formatCell(value, shown, 0),
    });
  };
  const choices = columns.map((column) =>
    h(
      "label",
      { title: column.description },
      h("input", {
        ...{ type: "radio", name: `history-${table.path}`, value: column.name, checked: column === shown },
        onchange: () => {
          shown = column;
          draw();
        },
      }),
      h("span", {}, titleOf(column.name)),
    ),
  );
  return {
    node: h(
      "div",
      { class: "watch" },
      h("fieldset", { class: "choices" }, h("legend", { class: "hidden" }, "Figure to draw"), ...choices),
      chart.node,
      h("details", {}, h("summary", {}, "As a table"), rowsTable.node),
    ),
    /** @param {readonly Row[]} given */
    update(given) {
      rows = [...given].sort((a, b) => Number(a[timeAt]) - Number(b[timeAt]));
      rowsTable.update(rows.toReversed().slice(0, MAX_ROWS));
      draw();
    },
  };
}
