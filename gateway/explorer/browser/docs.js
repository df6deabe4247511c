/** The documentation: a form below each endpoint that sends its request, with the visitor's key. */
/** @import { Catalogue, Params, Table } from "./types.ts" */
import { askDocument, keepKey, readKey } from "./api.js";
import { fill, h, setText } from "./dom.js";
import { formatNumber } from "./format.js";
import { inputOf } from "./parts/fields.js";
import { curlButton } from "./parts/panel.js";
import { MAX_SHOWN, prettyAnswer } from "./parts/pretty.js";
import { curlLine, pathWithQuery } from "./request.js";

/** Forms of a table that can be read on a page; Arrow and Parquet are for programs. */
const FORMATS = ["objects", "csv", "ndjson"];

/** @param {HTMLElement} place */
function showKeyField(place) {
  const input = h("input", {
    type: "password",
    name: "key",
    value: readKey() ?? "",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => keepKey(input.value.trim() || null),
  });
  fill(
    place,
    h("label", {}, h("span", {}, "API key for “Try it”"), input),
    h("span", { class: "soft" }, "It stays in this tab, and goes nowhere but to this host."),
  );
  place.addEventListener("submit", (event) => event.preventDefault());
  place.hidden = false;
}

/**
 * @param {HTMLDetailsElement} place
 * @param {Table} table
 */
function setUpForm(place, table) {
  const example = new URLSearchParams(place.dataset.query);
  const orders = table.sortable.length === 0 ? [] : ["order_asc", "order_desc"];
  const inputs = new Map([
    ...table.params.map(
      (param) => /** @type {const} */ ([param.name, inputOf(param, example.get(param.name) ?? "")]),
    ),
    ...orders.map(
      (name) => /** @type {const} */ ([name, h("input", { name, autocomplete: "off", spellcheck: "false" })]),
    ),
    /** @type {const} */ ([
      "format",
      inputOf(
        {
          ...{ name: "format", description: "", required: false, type: "string" },
          ...{ options: FORMATS, default: "json" },
        },
        "",
      ),
    ]),
  ]);
  const required = new Set(table.params.filter((param) => param.required).map(({ name }) => name));
  const fields = [...inputs].map(([name, input]) =>
    h("label", {}, h("span", {}, required.has(name) ? `${name} *` : name), input),
  );
  /** @returns {Params} */
  const given = () => Object.fromEntries([...inputs].map(([name, input]) => [name, input.value.trim()]));
  const path = () => pathWithQuery(table.path, given());
  const curl = curlButton(() => curlLine({ origin: location.origin, key: readKey(), path: path() }));
  const told = h("p", { role: "status", class: "told" });
  const headers = h("pre", { tabindex: 0, role: "region", "aria-label": "Headers of the answer" });
  const body = h("pre", { tabindex: 0, role: "region", "aria-label": "Body of the answer" });
  const more = h("details", {}, h("summary", {}, "Headers"), headers);
  const answer = h("div", { hidden: true }, more, body);
  let sent = new AbortController();
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    sent.abort();
    sent = new AbortController();
    setText(told, "Sent …");
    try {
      await ask({ path: path(), signal: sent.signal, told, headers, body });
      answer.hidden = false;
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "AbortError"))
        setText(told, "This host cannot be reached.");
    }
  };
  place.append(
    h(
      "form",
      { "aria-label": `Try ${table.path}`, onsubmit: send },
      h("div", { class: "fields" }, ...fields),
      h("p", {}, h("button", { type: "submit" }, "Send"), curl),
    ),
    told,
    answer,
  );
}

/**
 * Sends a request and shows all of its answer, an error as well as a table.
 * @param {{
 *   readonly path: string;
 *   readonly signal: AbortSignal;
 *   readonly told: HTMLElement;
 *   readonly headers: HTMLElement;
 *   readonly body: HTMLElement;
 * }} request
 */
async function ask({ path, signal, told, headers, body }) {
  const key = readKey();
  const startedMs = performance.now();
  const response = await fetch(path, {
    ...{ signal, cache: "no-store" },
    ...(key !== null && { headers: { "X-API-KEY": key } }),
  });
  const text = await response.text();
  const tookMs = Math.round(performance.now() - startedMs);
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`);
  setText(headers, lines.join("\n"));
  const pretty = prettyAnswer(text);
  const isCut = pretty.length > MAX_SHOWN;
  setText(body, isCut ? `${pretty.slice(0, MAX_SHOWN)}\n…` : pretty);
  const facts = [`${response.status}`, `${tookMs} ms`, `${formatNumber(text.length)} characters`];
  if (isCut) facts.push(`the first ${formatNumber(MAX_SHOWN)} are shown`);
  if (key === null && response.status === 401) facts.push("set a key at the top of the page");
  setText(told, facts.join(" · "));
}

async function start() {
  /** @type {Catalogue} */
  const catalogue = await askDocument(new URL("catalogue.json", import.meta.url).href);
  const tables = new Map(catalogue.tables.map((table) => [table.path, table]));
  showKeyField(/** @type {HTMLElement} */ (document.getElementById("try-key")));
  for (const place of /** @type {NodeListOf<HTMLDetailsElement>} */ (
    document.querySelectorAll("details.try")
  )) {
    const table = tables.get(place.dataset.path ?? "");
    if (table === undefined) continue;
    // Thirty forms are made only where one is wanted.
    place.addEventListener("toggle", () => setUpForm(place, table), { once: true });
    place.hidden = false;
  }
}

// Without it the page is what it is without scripts: all of the documentation.
start().catch((error) => console.error(error));
