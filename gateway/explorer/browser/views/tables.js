/** Every endpoint by its service, and the search for an address. */
/** @import { View } from "../dom-types.ts" */
/** @import { Context } from "../types.ts" */
import { h } from "../dom.js";
import { KINDS, tablesAbout } from "../model.js";
import { routeTo, routeToSubject } from "../route.js";

/**
 * @param {Context} context
 * @returns {View}
 */
export function tablesView({ catalogue }) {
  const families = [...new Set(catalogue.tables.map(({ family }) => family))];
  return {
    title: "All tables",
    node: h(
      "div",
      {},
      ...families.map((family) =>
        h(
          "section",
          { class: "panel", "aria-label": family },
          h("header", {}, h("h2", {}, family)),
          h(
            "ul",
            { class: "endpoints" },
            ...catalogue.tables
              .filter((table) => table.family === family)
              .map((table) =>
                h(
                  "li",
                  {},
                  h("a", { href: routeTo("table", table.path.slice(1)) }, table.path),
                  h("span", {}, table.summary),
                ),
              ),
          ),
        ),
      ),
    ),
  };
}

/**
 * What an address or a name may be: the pages to look at.
 * @param {Context} context
 * @returns {View}
 */
export function searchView({ catalogue, route }) {
  const text = (route.params.q ?? "").trim();
  const kinds = KINDS.filter(
    (kind) => isAddress(text) && tablesAbout(catalogue.tables, { kind, address: text }).length > 0,
  );
  const links = kinds.map((kind) =>
    h("li", {}, h("a", { href: routeToSubject({ kind, address: text }) }, `as a ${kind}`)),
  );
  const lists = /** @type {const} */ (["pools", "vaults", "tokens"]).map((view) =>
    h("li", {}, h("a", { href: routeTo(view, "", { q: text }) }, `in the lists of ${view}`)),
  );
  return {
    title: `Search: ${text}`,
    node: h(
      "section",
      { class: "panel" },
      links.length > 0 &&
        h("div", {}, h("h2", {}, "This address"), h("ul", { class: "endpoints" }, ...links)),
      h("h2", {}, "This text"),
      h("ul", { class: "endpoints" }, ...lists),
    ),
  };
}

/** @param {string} text */
export function isAddress(text) {
  return /^0x[0-9a-fA-F]{40}$/.test(text) || /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(text);
}
