/** The lists of a kind: one tab for each, with search, filters, orders and pages. */
/** @import { View } from "../dom-types.ts" */
/** @import { Answer, Context, Kind, Params, Row, Table } from "../types.ts" */
import { h, setText } from "../dom.js";
import { isPaged, kindOfParam, listsOf, mainColumns, PAGE_ROWS, shortName } from "../model.js";
import { fieldsPart } from "../parts/fields.js";
import { panel } from "../parts/panel.js";
import { rowsPart } from "../parts/rows.js";
import { fillParams } from "../request.js";
import { routeTo } from "../route.js";

/** What a search for a piece of text looks through where the API has no such filter. */
const SEARCHED_ROWS = 1_000;

/**
 * @param {Kind} kind
 * @returns {(context: Context) => View}
 */
export function listView(kind) {
  return (context) => {
    const { catalogue, route } = context;
    const lists = listsOf(catalogue.tables, kind);
    const table = lists.find(({ path }) => path === route.params.list) ?? lists[0];
    const title = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}s`;
    if (table === undefined) return { title, node: h("p", {}, `No endpoint lists ${kind}s.`) };
    const tabs = h(
      "nav",
      { class: "tabs", "aria-label": `Lists of ${kind}s` },
      ...lists.map((list) =>
        h(
          "a",
          {
            href: routeTo(route.view, "", { list: list.path }),
            title: list.summary,
            "aria-current": list === table ? "page" : undefined,
          },
          shortName(list),
        ),
      ),
    );
    const { node, refresh } = tableBody(table, context);
    return { title, node: h("div", {}, tabs, node), refresh };
  };
}

/**
 * Any table by its path.
 * @param {Context} context
 * @returns {View}
 */
export function tableView(context) {
  const path = `/${context.route.rest}`;
  const table = context.catalogue.tables.find((each) => each.path === path);
  if (table === undefined) return { title: "Not found", node: h("p", {}, `There is no table at ${path}.`) };
  return { title: table.summary, ...tableBody(table, context) };
}

/**
 * @param {Table} table
 * @param {Context} context
 * @returns {Pick<View, "node" | "refresh">}
 */
function tableBody(table, { route, signal }) {
  const { params } = route;
  const goTo = (/** @type {Params} */ changed) =>
    routeTo(route.view, route.rest, { ...params, offset: "", ...changed });
  const search = searchOf(table, params.q ?? "");
  const offset = Number(params.offset ?? 0);
  const order = orderOf(params);
  const paged = isPaged(table);
  const given = {
    ...params,
    ...search.params,
    ...(paged && { limit: String(search.limit), offset: String(offset) }),
  };
  const filled = fillParams(table, given, { nowMs: Date.now() });
  const fields = fieldsPart(table, { params, goTo });
  const intro = h("p", { class: "summary" }, table.description ?? table.summary);
  if (filled === undefined) {
    const missing = table.params
      .filter(({ name, required }) => required && !params[name])
      .map(({ name }) => name);
    return {
      node: h(
        "div",
        {},
        intro,
        fields,
        h("p", { class: "message" }, `Fill in ${missing.join(", ")} to ask this table.`),
      ),
    };
  }
  const wantsAll = params.columns === "all";
  const columns = wantsAll ? table.columns : mainColumns(table);
  const chainId = params.chain_id;
  const orderLink = (/** @type {string} */ name, /** @type {boolean} */ isDescending) =>
    goTo({ order_asc: isDescending ? "" : name, order_desc: isDescending ? name : "" });
  const rows = rowsPart({ table, columns, caption: table.summary, chainId, order, orderLink });
  const shown = h("span", { class: "count", role: "status" });
  const before = h(
    "a",
    {
      class: "step",
      href: goTo({ offset: offset > PAGE_ROWS ? String(offset - PAGE_ROWS) : "" }),
      rel: "prev",
    },
    "← Previous",
  );
  const next = h(
    "a",
    { class: "step", href: goTo({ offset: String(offset + PAGE_ROWS) }), rel: "next" },
    "Next →",
  );
  const toggle = h(
    "a",
    { href: routeTo(route.view, route.rest, { ...params, columns: wantsAll ? "" : "all" }) },
    wantsAll ? "Main columns" : `All ${table.columns.length} columns`,
  );
  const part = {
    node: h(
      "div",
      {},
      rows.node,
      h(
        "nav",
        { class: "pages", "aria-label": "Pages" },
        before,
        shown,
        next,
        columns.length < table.columns.length || wantsAll ? toggle : null,
      ),
    ),
    update: (/** @type {readonly Row[]} */ given) => rows.update(given.filter((row) => search.matches(row))),
  };
  const view = panel({
    ...{ title: table.summary, part },
    ask: () => ({ table, params: filled }),
    onAnswer: (answer) => {
      before.hidden = offset === 0 || search.isLocal;
      next.hidden = !answer.hasNext || search.isLocal;
      setText(
        shown,
        tellCount(answer, {
          offset,
          found: answer.rows.filter((row) => search.matches(row)).length,
          isLocal: search.isLocal,
        }),
      );
    },
  });
  const refresh = async () => {
    await view.refresh(signal);
  };
  return { node: h("div", {}, intro, fields, view.node), refresh };
}

/**
 * @param {Answer} answer
 * @param {{ readonly offset: number; readonly found: number; readonly isLocal: boolean }} place
 */
function tellCount({ rows, total, hasNext }, { offset, found, isLocal }) {
  if (isLocal)
    return `${found} found in ${hasNext ? `the first ${rows.length.toLocaleString("en")}` : `all ${rows.length}`} rows`;
  if (rows.length === 0) return "no rows";
  const all = total === null ? "" : ` of ${total.toLocaleString("en")}`;
  return `rows ${(offset + 1).toLocaleString("en")} to ${(offset + rows.length).toLocaleString("en")}${all}`;
}

/** @param {Params} params */
function orderOf({ order_asc: ascending, order_desc: descending }) {
  const name = descending || ascending;
  return name ? { name, isDescending: Boolean(descending) } : undefined;
}

/**
 * How a text is looked for: by the table's own filter where it has one for it, else in the rows as they come.
 * @param {Table} table
 * @param {string} text
 * @returns {{ readonly params: Params; readonly limit: number; readonly isLocal: boolean; matches(row: Row): boolean }}
 */
export function searchOf(table, text) {
  const wanted = text.trim();
  const all = { params: {}, limit: PAGE_ROWS, isLocal: false, matches: () => true };
  if (wanted === "") return all;
  const byText = table.params.find(({ name }) => name === "filter");
  if (byText !== undefined) return { ...all, params: { filter: wanted } };
  const byAddress = table.params.find(
    ({ name, pattern }) =>
      kindOfParam(name, table.family) !== undefined &&
      pattern !== undefined &&
      new RegExp(pattern).test(wanted),
  );
  const max = table.params.find(({ name }) => name === "limit")?.maximum ?? SEARCHED_ROWS;
  const lower = wanted.toLowerCase();
  return {
    // An address may be of a token or of the row itself: only one of many kinds has a filter.
    ...{
      params: byAddress === undefined || isOwn(table, byAddress.name) ? {} : { [byAddress.name]: wanted },
    },
    limit: Math.min(SEARCHED_ROWS, max),
    isLocal: true,
    matches: (row) => row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(lower)),
  };
}

/**
 * @param {Table} table
 * @param {string} name
 */
function isOwn(table, name) {
  return table.columns.some(
    (column) => column.name === name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
  );
}
