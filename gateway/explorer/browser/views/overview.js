/** State of each chain as each service has it, and what there is to look at. */
/** @import { View } from "../dom-types.ts" */
/** @import { Context } from "../types.ts" */
import { askDocument, askTable, readKey } from "../api.js";
import { fill, h, setText } from "../dom.js";
import { formatAge, formatNumber } from "../format.js";
import { KINDS, listsOf, shortName } from "../model.js";
import { curlButton, sentenceOf } from "../parts/panel.js";
import { curlLine } from "../request.js";
import { routeTo } from "../route.js";

const COLUMNS = ["Chain", "Service", "State", "Block", "Head", "Final", "Lag", "Covered from", "Speed"];

/**
 * @param {Context} context
 * @returns {View}
 */
export function overviewView({ catalogue, signal }) {
  const body = h("tbody");
  const message = h("p", { class: "message", hidden: true });
  const versions = h("p", { class: "versions" });
  const lists = KINDS.flatMap((kind) =>
    listsOf(catalogue.tables, kind).map((table) => ({
      kind,
      table,
      count: h("td", { class: "number" }, "–"),
    })),
  );
  const curl = curlButton(() => curlLine({ origin: location.origin, key: null, path: "/status" }));
  const node = h(
    "div",
    {},
    h(
      "section",
      { class: "panel", "aria-label": "Chains" },
      h("header", {}, h("h2", {}, "Chains"), curl),
      message,
      h(
        "div",
        { class: "scroll", role: "region", "aria-label": "State of each chain", tabindex: 0 },
        h(
          "table",
          { id: "chains" },
          h("caption", { class: "hidden" }, "State of each chain"),
          h("thead", {}, h("tr", {}, ...COLUMNS.map((name) => h("th", { scope: "col" }, name)))),
          body,
        ),
      ),
      versions,
    ),
    h(
      "section",
      { class: "panel", "aria-label": "Lists" },
      h("header", {}, h("h2", {}, "Lists")),
      h(
        "div",
        { class: "scroll", role: "region", "aria-label": "Lists", tabindex: 0 },
        h(
          "table",
          {},
          h("caption", { class: "hidden" }, "Lists"),
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              ...["List", "What it has", "Rows"].map((name) =>
                h("th", { scope: "col", class: name === "Rows" ? "number" : undefined }, name),
              ),
            ),
          ),
          h(
            "tbody",
            {},
            ...lists.map(({ kind, table, count }) =>
              h(
                "tr",
                {},
                h(
                  "td",
                  {},
                  h(
                    "a",
                    { href: routeTo(`${kind}s`, "", { list: table.path }) },
                    `${kind}s · ${shortName(table)}`,
                  ),
                ),
                h("td", {}, table.summary),
                count,
              ),
            ),
          ),
        ),
      ),
    ),
  );

  const countRows = async () => {
    if (readKey() === null) return;
    await Promise.all(
      lists.map(async ({ table, count }) => {
        const answer = await askTable({ table, params: { limit: String(COUNTED) } }, signal).catch(
          () => undefined,
        );
        if (answer === undefined) return;
        const { total, rows, hasNext } = answer;
        setText(
          count,
          total !== null ? formatNumber(total) : hasNext ? `over ${COUNTED}` : formatNumber(rows.length),
        );
      }),
    );
  };
  const refresh = async () => {
    try {
      const status = await askDocument("/status", signal);
      message.hidden = true;
      showChains(body, status);
      const services = Object.entries(status.services).map(
        ([name, { serving, replicas, version }]) =>
          `${name} ${version ?? "?"} (${serving} of ${replicas} serving)`,
      );
      setText(versions, `gateway ${status.version} · ${services.join(" · ")}`);
    } catch (error) {
      if (signal.aborted) return;
      message.hidden = false;
      fill(message, sentenceOf(error));
      throw error;
    }
  };
  void countRows();
  return { title: "Overview", node, refresh };
}

/** A list that does not tell its total is counted up to here. */
const COUNTED = 100;

/**
 * @param {HTMLTableSectionElement} body
 * @param {any} status
 */
function showChains(body, { chains }) {
  const rows = Object.entries(chains).flatMap(([id, services]) =>
    Object.entries(services).map(([service, chain]) => cellsOf(id, service, chain)),
  );
  while (body.rows.length > rows.length) body.deleteRow(-1);
  for (const [at, cells] of rows.entries()) {
    const line = body.rows[at] ?? body.insertRow();
    for (const [place, text] of cells.entries()) setText(line.cells[place] ?? line.insertCell(), text);
    line.dataset.state = cells[2]?.split(" ")[0] ?? "";
  }
}

/**
 * @param {string} id
 * @param {string} service
 * @param {any} chain
 * @returns {string[]}
 */
export function cellsOf(id, service, chain) {
  const whole = (/** @type {number | undefined} */ value) =>
    value === undefined ? "–" : value.toLocaleString("en");
  const share = chain.share === undefined ? "" : ` ${Math.floor(chain.share * 100)} %`;
  const lag = [
    chain.lagSeconds === undefined ? undefined : `${chain.lagSeconds} s`,
    chain.lagBlocks === undefined ? undefined : `${chain.lagBlocks} blocks`,
  ].filter((text) => text !== undefined);
  const history =
    chain.history === undefined
      ? ""
      : `, history from ${formatAge((Date.now() - Date.parse(chain.history.from)) / 1_000)}`;
  return [
    id === chain.name.toLowerCase() ? chain.name : `${chain.name} (${id})`,
    service,
    `${chain.state}${share}${chain.why === undefined ? "" : `: ${chain.why}`}`,
    whole(chain.block),
    whole(chain.head),
    whole(chain.finalBlock),
    lag.join(" · ") || "–",
    `${chain.fromBlock === undefined ? "–" : `block ${whole(chain.fromBlock)}`}${history}`,
    chain.blocksPerSecond === undefined ? "–" : `${chain.blocksPerSecond} blocks/s`,
  ];
}
