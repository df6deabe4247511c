/** A form of a table's parameters, as they are declared. */
/** @import { Param, Params, Table } from "../types.ts" */
import { h } from "../dom.js";
import { keyColumnOf } from "../model.js";

const LEFT_OUT = ["limit", "offset"];

/**
 * @param {Table} table
 * @param {{ readonly params: Params; readonly goTo: (changed: Params) => string }} route
 */
export function fieldsPart(table, { params, goTo }) {
  const declared = table.params.filter(
    ({ name, options }) => !LEFT_OUT.includes(name) && options?.length !== 1,
  );
  // A filter by text is the search.
  const shown = declared.filter(({ name }) => name !== "filter");
  const inputs = new Map(shown.map((param) => [param.name, inputOf(param, params[param.name] ?? "")]));
  const search = h("input", {
    type: "search",
    name: "q",
    value: params.q ?? "",
    placeholder: "Symbol, name or address",
    autocomplete: "off",
    spellcheck: "false",
  });
  const isSearchable = keyColumnOf(table) !== undefined;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const values = Object.fromEntries([...inputs].map(([name, input]) => [name, input.value.trim()]));
    location.hash = goTo({ ...values, ...(isSearchable && { q: search.value.trim() }) });
  };
  const filters = shown.map((param) =>
    h(
      "label",
      { title: param.description },
      h("span", {}, `${param.name}${param.required ? " *" : ""}`),
      inputs.get(param.name),
    ),
  );
  const isFiltered = shown.some(({ name }) => params[name]);
  const needsInput = shown.some(({ required }) => required);
  return h(
    "form",
    { class: "fields", role: "search", "aria-label": `Search: ${table.summary}`, onsubmit: submit },
    isSearchable &&
      h("label", { class: "search" }, h("span", { class: "hidden" }, "Search in this list"), search),
    h("button", { type: "submit" }, "Apply"),
    filters.length > 0 &&
      h(
        "details",
        { open: isFiltered || needsInput },
        h("summary", {}, "Filters"),
        h("div", { class: "filters" }, ...filters),
      ),
  );
}

/**
 * @param {Param} param
 * @param {string} value
 * @returns {HTMLInputElement | HTMLSelectElement}
 */
export function inputOf({ name, options, type, default: standard, example, minimum, maximum }, value) {
  const choices = type === "boolean" ? ["true", "false"] : options?.map(String);
  if (choices === undefined) {
    const kind =
      type === "integer" || type === "number"
        ? { type: "number", min: minimum, max: maximum, step: type === "integer" ? 1 : "any" }
        : { type: "text" };
    return h("input", {
      name,
      value,
      placeholder: example ?? "",
      autocomplete: "off",
      spellcheck: "false",
      ...kind,
    });
  }
  const empty = h("option", { value: "" }, standard === undefined ? "any" : `${standard} (default)`);
  const select = h(
    "select",
    { name },
    empty,
    ...choices
      .filter((choice) => choice !== String(standard))
      .map((choice) => h("option", { value: choice }, choice)),
  );
  select.value = value;
  return select;
}
