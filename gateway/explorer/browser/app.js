/** The frame: key, navigation, and the view that the fragment of the address names. */
/** @import { View } from "./dom-types.ts" */
/** @import { Catalogue, Context, Kind } from "./types.ts" */
import { askDocument, keepKey, readKey } from "./api.js";
import { announce, fill, h, setText } from "./dom.js";
import { isPaused, keepFresh, setPaused } from "./live.js";
import { KINDS } from "./model.js";
import { keyOfLink, parseRoute, routeTo } from "./route.js";
import { listView, tableView } from "./views/list.js";
import { overviewView } from "./views/overview.js";
import { subjectView } from "./views/subject.js";
import { searchView, tablesView } from "./views/tables.js";

/** @type {Readonly<Record<string, (context: Context) => View>>} */
const VIEWS = {
  overview: overviewView,
  tables: tablesView,
  search: searchView,
  table: tableView,
  ...Object.fromEntries(
    KINDS.flatMap((kind) => [
      [`${kind}s`, listView(kind)],
      [kind, subjectView(kind)],
    ]),
  ),
};
const NAVIGATION = [
  ["overview", "Overview"],
  ["pools", "Pools"],
  ["vaults", "Vaults"],
  ["tokens", "Tokens"],
  ["curators", "Curators"],
  ["tables", "All tables"],
];

let leave = new AbortController();

/** @param {string} id */
function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {Catalogue} catalogue
 * @param {boolean} isFirst
 */
function show(catalogue, isFirst) {
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const route = parseRoute(location.hash);
  const make = VIEWS[route.view];
  const view = make?.({ catalogue, route, signal }) ?? {
    title: "Not found",
    node: h("p", {}, "There is no such page."),
  };
  document.title = `${view.title} · chaintables`;
  const heading = h("h1", { tabindex: -1 }, view.title);
  fill(byId("main"), heading, view.node);
  const current =
    route.view === "table"
      ? "tables"
      : KINDS.includes(/** @type {Kind} */ (route.view))
        ? `${route.view}s`
        : route.view;
  fill(
    byId("navigation"),
    ...NAVIGATION.map(([name = "", label]) =>
      h("a", { href: routeTo(name), "aria-current": name === current ? "page" : undefined }, label),
    ),
    h("a", { href: "docs" }, "API docs"),
  );
  // Who uses a keyboard or a screen reader begins at the new page.
  if (!isFirst) {
    heading.focus();
    scrollTo(0, 0);
  }
  const { refresh } = view;
  if (refresh === undefined) return;
  const refreshAndLight = async () => {
    try {
      await refresh();
      if (!signal.aborted) byId("live").dataset.state = "live";
    } catch (error) {
      if (!signal.aborted) byId("live").dataset.state = "failing";
      throw error;
    }
  };
  // The view itself says what failed.
  refreshAndLight().catch(() => {});
  void keepFresh(refreshAndLight, signal);
}

/** @param {() => void} showAgain */
function setUpKey(showAgain) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("key-dialog"));
  const input = /** @type {HTMLInputElement} */ (byId("key-input"));
  const button = byId("key");
  const label = () => setText(button, readKey() === null ? "Set API key" : `Key ${readKey()?.slice(0, 8)}…`);
  const use = (/** @type {string | null} */ key) => {
    keepKey(key);
    dialog.close();
    label();
    announce(key === null ? "The key is forgotten." : "The key is used from now on.");
    showAgain();
  };
  button.addEventListener("click", () => {
    input.value = readKey() ?? "";
    dialog.showModal();
  });
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    use(input.value.trim() || null);
  });
  byId("key-forget").addEventListener("click", () => use(null));
  byId("key-cancel").addEventListener("click", () => dialog.close());
  label();
}

function setUpLive() {
  const button = byId("live");
  const label = () => {
    button.setAttribute("aria-pressed", String(isPaused()));
    setText(byId("live-text"), isPaused() ? "Paused" : "Live");
  };
  button.addEventListener("click", () => {
    setPaused(!isPaused());
    label();
  });
  label();
}

/** The fragment names the view: the usual jump to an anchor would leave it. */
function setUpSkip() {
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
  });
}

function setUpSearch() {
  const input = /** @type {HTMLInputElement} */ (byId("search-input"));
  byId("search").addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim() !== "") location.hash = routeTo("search", "", { q: input.value.trim() });
  });
}

/** Takes the key out of a link that carries one, and out of the address and the history with it. */
function takeKeyOfLink() {
  const key = keyOfLink(location.hash);
  if (key === undefined) return false;
  keepKey(key);
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  return true;
}

async function start() {
  takeKeyOfLink();
  /** @type {Catalogue} */
  const catalogue = await askDocument(new URL("catalogue.json", import.meta.url).href);
  const again = () => show(catalogue, false);
  setUpKey(again);
  setUpLive();
  setUpSkip();
  setUpSearch();
  addEventListener("hashchange", () => {
    if (takeKeyOfLink()) setText(byId("key"), `Key ${readKey()?.slice(0, 8)}…`);
    again();
  });
  show(catalogue, true);
}

start().catch((error) => {
  fill(
    byId("main"),
    h(
      "p",
      { class: "message error" },
      `The explorer could not start: ${error.message}. Load the page again.`,
    ),
  );
});
