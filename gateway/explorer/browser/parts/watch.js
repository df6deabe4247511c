/** The main figures of a record as lines, from the moment that the page was opened: the API has no history of them. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Column, Row, Table } from "../types.ts" */
import { h } from "../dom.js";
import { formatCell } from "../format.js";
import { titleOf } from "../model.js";
import { seriesPart } from "./chart.js";

const MAX_POINTS = 1_200;
/** What was seen stays while the tab does: who comes back finds the line that they left. @type {Map<string, { times: number[]; values: number[] }>} */
const seen = new Map();

/**
 * @param {readonly Column[]} columns
 * @param {{ readonly table: Table; readonly memory: string }} place
 * @returns {Part}
 */
export function watchPart(columns, { table, memory }) {
  let shown = /** @type {Column} */ (columns[0]);
  const chart = seriesPart();
  const draw = () => {
    const { times, values } = historyOf(shown);
    chart.show({
      title: `${titleOf(shown.name)} since this page was opened`,
      times,
      values,
      format: (value) => formatCell(value, shown, Date.now()),
    });
  };
  const historyOf = (/** @type {Column} */ { name }) => {
    const key = `${memory} ${name}`;
    const known = seen.get(key) ?? { times: [], values: [] };
    seen.set(key, known);
    return known;
  };
  const choices = columns.map((column) =>
    h(
      "label",
      { title: column.description },
      h("input", {
        ...{ type: "radio", name: `watch-${memory}`, value: column.name, checked: column === shown },
        onchange: () => {
          shown = column;
          draw();
        },
      }),
      h("span", {}, titleOf(column.name)),
    ),
  );
  const node = h(
    "div",
    { class: "watch" },
    h("fieldset", { class: "choices" }, h("legend", { class: "hidden" }, "Figure to follow"), ...choices),
    chart.node,
  );
  return {
    node,
    /** @param {readonly Row[]} rows */
    update([row]) {
      if (row === undefined) return;
      for (const column of columns) {
        const value = row[table.columns.indexOf(column)];
        if (typeof value === "number") keep(historyOf(column), value);
      }
      // Nothing to draw while all of them are unknown.
      node.hidden = columns.every((column) => historyOf(column).values.length === 0);
      draw();
    },
  };
}

/**
 * @param {{ times: number[]; values: number[] }} history
 * @param {number} value
 */
function keep({ times, values }, value) {
  const nowS = Math.floor(Date.now() / 1_000);
  if (times.at(-1) === nowS) return;
  times.push(nowS);
  values.push(value);
  if (times.length > MAX_POINTS) {
    times.shift();
    values.shift();
  }
}
