/** Everything about one address: each table that takes it, as the shape of its answer asks for. */
/** @import { Part, View } from "../dom-types.ts" */
/** @import { Answer, Context, Column, Kind, Params, Question, Row, Table } from "../types.ts" */
import { ApiError } from "../api.js";
import { fill, h, setText } from "../dom.js";
import { shorten } from "../format.js";
import { isPaged, isRecordOf, linkOf, mainColumns, shapeOf, tablesAbout } from "../model.js";
import { candlesPart } from "../parts/candles.js";
import { historyPart } from "../parts/history.js";
import { panel } from "../parts/panel.js";
import { recordPart } from "../parts/record.js";
import { rowsPart } from "../parts/rows.js";
import { DEFAULT_RANGE, fillParams, RANGES } from "../request.js";
import { routeTo } from "../route.js";

/** Rows of a list on the page of an address; the list itself has the others. */
const FIRST_ROWS = 15;

/** @typedef {{ readonly table: Table; readonly param: string }} About */
/** @typedef {{ readonly node: HTMLElement; readonly about: About; isAway: boolean; refresh(signal: AbortSignal): Promise<Answer> }} Shown */

/**
 * @param {Kind} kind
 * @returns {(context: Context) => View}
 */
export function subjectView(kind) {
  return ({ catalogue, route, signal }) => {
    const address = route.rest;
    const chainId = route.params.chain_id;
    const range = route.params.range ?? DEFAULT_RANGE;
    const about = tablesAbout(catalogue.tables, { kind, address, chainId });
    const name = h("span", { class: "name" });
    const nothing = h("p", { class: "message", hidden: true, role: "status" });
    const panels = about
      .map((each) => ({ each, order: orderOf(each) }))
      .sort((a, b) => a.order - b.order)
      .map(({ each }) =>
        panelOf(each, {
          kind,
          address,
          within: route.params,
          chainId,
          range,
          onAnswer: (answer) => nameBy(each.table, answer),
        }),
      );
    const hasTimes = about.some(({ table }) =>
      table.params.some(({ name, required }) => required && /_time$|^days$/.test(name)),
    );
    const node = h(
      "div",
      { class: "subject" },
      h("p", { class: "address" }, name, h("code", {}, address), copyButton(address)),
      hasTimes &&
        rangeChoice(range, (chosen) => routeTo(route.view, route.rest, { ...route.params, range: chosen })),
      nothing,
      ...panels.map((each) => each.node),
    );

    /** @type {(table: Table, answer: Answer) => void} */
    const nameBy = (table, answer) => {
      const title = nameOf(table, answer, { kind, address });
      if (title === undefined || name.textContent !== "") return;
      fill(name, title);
      document.title = `${title} · ${kind} · chaintables`;
    };
    const refresh = async () => {
      const asked = panels.filter((each) => !each.isAway);
      const failures = (await Promise.all(asked.map((each) => refreshOne(each, signal)))).filter(
        (error) => error !== undefined,
      );
      const isNothing = panels.every((each) => each.isAway);
      nothing.hidden = !isNothing;
      if (isNothing) setText(nothing, `No table of this instance knows ${shorten(address)} as a ${kind}.`);
      if (failures.length > 0) throw failures[0];
    };
    return { title: `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${shorten(address)}`, node, refresh };
  };
}

/**
 * @param {Shown} shown
 * @param {AbortSignal} signal
 * @returns {Promise<unknown>} what failed
 */
async function refreshOne(shown, signal) {
  const { table, param } = shown.about;
  try {
    const { rows } = await shown.refresh(signal);
    // Of several kinds of pools or vaults it is one: the others say nothing, at this block or the next.
    shown.isAway =
      rows.length === 0 &&
      (isRecordOf(table, param) || table.params.some((each) => each.name === param && !each.required));
  } catch (error) {
    shown.isAway = error instanceof ApiError && error.status === 404;
    if (!shown.isAway) return error;
  } finally {
    shown.node.hidden = shown.isAway;
  }
  return undefined;
}

/** @param {About} about */
function orderOf({ table, param }) {
  const shape = shapeOf(table);
  if (shape === "candles") return 0;
  if (isRecordOf(table, param)) return 1;
  return shape === "history" ? 2 : 3;
}

/**
 * @param {About} about
 * @param {{ readonly kind: Kind; readonly address: string; readonly within: Params; readonly chainId: string | undefined; readonly range: string; readonly onAnswer: (answer: Answer) => void }} subject
 * @returns {Shown}
 */
function panelOf(about, { kind, address, within, chainId, range, onAnswer }) {
  const { table, param } = about;
  const ask = () => questionOf(about, { address, within, chainId, range });
  const title = roleOf(param, kind) === "" ? table.summary : `${table.summary}, ${roleOf(param, kind)}`;
  return {
    ...panel({ title, part: partOf(about, { address, chainId }), ask, onAnswer }),
    about,
    isAway: false,
  };

  /**
   * @param {About} about
   * @param {{ readonly address: string; readonly chainId: string | undefined }} subject
   * @returns {Part}
   */
  function partOf({ table, param }, { address, chainId }) {
    const shape = shapeOf(table);
    if (shape === "candles") return candlesPart(table);
    if (shape === "history") return historyPart(table);
    const rows = rowsPart({ table, columns: mainColumns(table), caption: table.summary, chainId });
    if (!isRecordOf(table, param)) return rows;
    const record = recordPart(table, {
      chainId,
      memory: `${table.path} ${address} ${within.underlying_address ?? ""}`,
    });
    return oneOrMany(record, rows);
  }
}

/**
 * "as collateral": in which role a table knows the address, where that is not the usual one.
 * @param {string} param
 * @param {Kind} kind
 */
function roleOf(param, kind) {
  const role = param.replace(/_address$/, "");
  return role === kind || role === "id" || (kind === "vault" && role === "pool") ? "" : `as ${role}`;
}

/**
 * A row as a record; several, which are told apart by more than the address, as rows.
 * @param {Part} one
 * @param {Part} many
 * @returns {Part}
 */
function oneOrMany(one, many) {
  return {
    node: h("div", {}, one.node, many.node),
    update(given) {
      one.node.hidden = given.length !== 1;
      many.node.hidden = given.length === 1;
      (given.length === 1 ? one : many).update(given);
    },
  };
}

/**
 * @param {About} about
 * @param {{ readonly address: string; readonly within: Params; readonly chainId: string | undefined; readonly range: string }} subject
 * @returns {Question}
 */
function questionOf({ table, param }, { address, within, chainId, range }) {
  const given = {
    ...within,
    [param]: address,
    ...(chainId !== undefined && { chain_id: chainId }),
    ...(isPaged(table) && { limit: String(FIRST_ROWS) }),
  };
  return { table, params: fillParams(table, given, { range, nowMs: Date.now() }) ?? given };
}

/**
 * What people call it: the pair of a pool, the name of a vault, the symbol beside a token's address.
 * @param {Table} table
 * @param {Pick<Answer, "rows">} answer
 * @param {{ readonly kind: Kind; readonly address: string }} subject
 */
export function nameOf(table, { rows }, { kind, address }) {
  const isSubject = (/** @type {Row} */ row) => (/** @type {Column} */ column) => {
    const link = linkOf(column, row, table);
    return link?.kind === kind && link.address.toLowerCase() === address.toLowerCase();
  };
  const row = rows[0];
  if (row === undefined) return undefined;
  const read = (/** @type {string} */ name) => {
    const value = row[table.columns.findIndex((column) => column.name === name)];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  const isOne = rows.length === 1;
  if (kind === "pool") {
    const pair = [read("token0Symbol"), read("token1Symbol")].filter((symbol) => symbol !== undefined);
    return isOne && pair.length === 2 ? pair.join(" / ") : undefined;
  }
  const named = table.columns.find((column) => /(Symbol|Name)$/.test(column.name) && isSubject(row)(column));
  if (named !== undefined) return read(named.name);
  return isOne && kind === "token" && read("address") === address
    ? (read("name") ?? read("symbol"))
    : undefined;
}

/**
 * @param {string} chosen
 * @param {(range: string) => string} linkTo
 */
function rangeChoice(chosen, linkTo) {
  return h(
    "nav",
    { class: "tabs", "aria-label": "Range of time" },
    ...RANGES.map(({ name }) =>
      h("a", { href: linkTo(name), "aria-current": name === chosen ? "true" : undefined }, name),
    ),
  );
}

/** @param {string} text */
function copyButton(text) {
  const button = h("button", { type: "button" }, "Copy");
  button.setAttribute("aria-label", "Copy the address");
  button.addEventListener("click", () => {
    void navigator.clipboard?.writeText(text).then(() => setText(button, "Copied"));
  });
  return button;
}
