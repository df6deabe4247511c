/** A table of rows that is brought up to date in place: the focus and the place on the screen stay. */
/** @import { Part } from "../dom-types.ts" */
/** @import { Column, Row, Table } from "../types.ts" */
import { h, setText } from "../dom.js";
import { exactCell, formatCell, isNumeric, shorten } from "../format.js";
import { linkOf, titleOf } from "../model.js";
import { routeToSubject } from "../route.js";

/**
 * @param {{
 *   readonly table: Table;
 *   readonly columns: readonly Column[];
 *   readonly caption: string;
 *   readonly chainId?: string | undefined;
 *   readonly order?: { readonly name: string; readonly isDescending: boolean } | undefined;
 *   readonly orderLink?: (name: string, isDescending: boolean) => string;
 * }} options
 * @returns {Part}
 */
export function rowsPart({ table, columns, caption, chainId, order, orderLink }) {
  const body = h("tbody");
  const heads = columns.map((column) => headCell({ column, table, order, orderLink }));
  const node = h(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: 0 },
    h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, ...heads)), body),
  );
  return {
    node,
    /** @param {readonly Row[]} rows */
    update(rows) {
      const nowMs = Date.now();
      while (body.rows.length > rows.length) body.deleteRow(-1);
      for (const [at, row] of rows.entries()) {
        const line = body.rows[at] ?? body.insertRow();
        for (const [place, column] of columns.entries()) {
          const cell = line.cells[place] ?? line.insertCell();
          updateCell(cell, { column, row, table, chainId, nowMs });
        }
      }
    },
  };
}

/**
 * @param {{
 *   readonly column: Column; readonly table: Table;
 *   readonly order?: { readonly name: string; readonly isDescending: boolean } | undefined;
 *   readonly orderLink?: (name: string, isDescending: boolean) => string;
 * }} options
 */
function headCell({ column, table, order, orderLink }) {
  const { name, description, unit } = column;
  const title = `${name}${unit === undefined ? "" : ` (${unit})`}: ${description}`;
  const isOrder = order?.name === name;
  const attributes = {
    scope: "col",
    title,
    class: isNumeric(column) ? "number" : undefined,
    "aria-sort": isOrder ? (order.isDescending ? "descending" : "ascending") : undefined,
  };
  if (orderLink === undefined || !table.sortable.includes(name)) return h("th", attributes, titleOf(name));
  const arrow = h(
    "span",
    { "aria-hidden": "true", class: "arrow" },
    isOrder ? (order.isDescending ? "▼" : "▲") : "↕",
  );
  const isDescending = isOrder ? !order.isDescending : isNumeric(column);
  return h("th", attributes, h("a", { href: orderLink(name, isDescending) }, titleOf(name), arrow));
}

/**
 * @param {HTMLTableCellElement} cell
 * @param {{
 *   readonly column: Column; readonly row: Row; readonly table: Table;
 *   readonly chainId?: string | undefined; readonly nowMs: number;
 * }} place
 */
function updateCell(cell, { column, row, table, chainId, nowMs }) {
  const value = row[table.columns.indexOf(column)] ?? null;
  const text = formatCell(value, column, nowMs);
  const exact = exactCell(value, column);
  const isOther = cell.title !== exact;
  const hadValue = cell.title !== "";
  cell.title = exact;
  if (isNumeric(column)) cell.className = "number";
  const link = linkOf(column, row, table);
  if (link === undefined) setText(cell, text);
  else {
    const href = routeToSubject(link, chainOf(row, table) ?? chainId);
    const anchor = cell.querySelector("a") ?? cell.appendChild(h("a"));
    setText(anchor, text === "–" ? shorten(link.address) : text);
    if (anchor.getAttribute("href") !== href) anchor.setAttribute("href", href);
  }
  if (isOther && hadValue) flash(cell);
}

/**
 * @param {Row} row
 * @param {Table} table
 */
function chainOf(row, table) {
  const at = table.columns.findIndex(({ name }) => name === "chainId");
  return at === -1 ? undefined : String(row[at]);
}

/**
 * Shows for a moment that a value has changed; the style sheet leaves it out for who wants less motion.
 * @param {HTMLElement} element
 */
export function flash(element) {
  element.classList.remove("changed");
  // The animation begins anew only after a layout without it.
  void element.offsetWidth;
  element.classList.add("changed");
}
