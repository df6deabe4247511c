/** What the explorer shows, from the declarations alone: no path of an endpoint is named here. */
/** @import { Column, Kind, Link, Param, Row, Table } from "./types.ts" */

/** @type {readonly Kind[]} */
export const KINDS = ["pool", "vault", "token", "wallet", "curator"];

/** Tables of more rows than this per request are asked for in pages. */
export const PAGE_ROWS = 50;

export const CANDLE_PRICES = ["openPrice", "highPrice", "lowPrice", "closePrice"];

const TOKEN = /^(token(\d|In|Out)?|underlying|loan|collateral)(Address)?$/;

/**
 * What the address of a parameter is of. In lending a pool is a place to lend to, as a vault is.
 * @param {string} name
 * @param {string} family
 * @returns {Kind | undefined}
 */
export function kindOfParam(name, family) {
  // A vault's address, or what else a row of lending is named by.
  if (name === "id" && family === "lending") return "vault";
  if (!name.endsWith("_address")) return undefined;
  const what = name.slice(0, -"_address".length);
  if (what === "pool") return family === "lending" ? "vault" : "pool";
  if (["underlying", "loan", "collateral"].includes(what)) return "token";
  return KINDS.find((kind) => kind === what);
}

/**
 * What the addresses of a column are of.
 * @param {Pick<Column, "name" | "type">} column
 * @param {Pick<Table, "family">} table
 * @returns {Kind | undefined}
 */
export function kindOfColumn({ name, type }, { family }) {
  if (type !== "String" && type !== "Nullable(String)") return undefined;
  if (name === "poolAddress" || name === "poolId") return family === "lending" ? "vault" : "pool";
  if (name === "vaultAddress") return "vault";
  if (name === "curatorAddress") return "curator";
  if (name === "providerId") return "wallet";
  // Solana's name for the mint in its list of tokens.
  if (name === "programId" && family === "solana") return "token";
  return TOKEN.test(name) ? "token" : undefined;
}

/**
 * The column that says what a row is about: the kind that the list is named for, else its first address.
 * @param {Table} table
 */
export function keyColumnOf(table) {
  const columns = table.columns.filter((column) => kindOfColumn(column, table) !== undefined);
  const rank = ["vault", "pool", "curator", "wallet", "token"];
  const ranked = columns.map((column) => ({ column, at: rank.indexOf(kindOfColumn(column, table) ?? "") }));
  // Curators stand before their vaults in a row, and the row is of the vault.
  return ranked.sort((a, b) => a.at - b.at)[0]?.column;
}

/** @param {Table} table */
export function isPaged(table) {
  return table.params.some(({ name }) => name === "limit");
}

/**
 * Lists of all pools, vaults, tokens …: they need no parameter and come in pages.
 * @param {readonly Table[]} tables
 * @param {Kind} kind
 */
export function listsOf(tables, kind) {
  return tables.filter((table) => {
    const key = keyColumnOf(table);
    const isList = isPaged(table) && !table.params.some(({ required }) => required);
    // A market's rows name tokens, and are not of them: its own id is no address.
    const isOfMarkets = table.columns.some(({ name }) => name === "marketId");
    return isList && !isOfMarkets && key !== undefined && kindOfColumn(key, table) === kind;
  });
}

/**
 * @param {Param} param
 * @param {string} address
 */
function takes({ pattern }, address) {
  return pattern === undefined || new RegExp(pattern).test(address);
}

/**
 * Requests that answer something about an address: the tables that take it, the needed and the merely filtered by it.
 * @param {readonly Table[]} tables
 * @param {{ readonly kind: Kind; readonly address: string; readonly chainId?: string | undefined }} subject
 * @returns {{ readonly table: Table; readonly param: string }[]}
 */
export function tablesAbout(tables, { kind, address, chainId }) {
  const about = tables.flatMap((table) => {
    const chain = table.params.find(({ name }) => name === "chain_id");
    if (chainId !== undefined && chain?.options?.every((id) => String(id) !== chainId)) return [];
    const fitting = table.params.filter(
      (param) => kindOfParam(param.name, table.family) === kind && takes(param, address),
    );
    const others = table.params.filter(
      (param) => param.required && param.name.endsWith("_address") && !fitting.includes(param),
    );
    return others.length > 0 ? [] : fitting.map(({ name }) => ({ table, param: name }));
  });
  // Transactions between two times are those of the last days: once on a page is enough.
  const paths = about.map(({ table }) => table.path);
  return about.filter(
    ({ table }) => !(needs(table, "after_time") && paths.some((path) => table.path.startsWith(`${path}-`))),
  );
}

/**
 * @param {Table} table
 * @param {string} name
 */
function needs({ params }, name) {
  return params.some((param) => param.name === name && param.required);
}

/**
 * Whether the answer is one row about the address itself: a table of neither pages nor orders, or a list that is filtered
 * by its own key.
 * @param {Table} table
 * @param {string} param
 */
export function isRecordOf(table, param) {
  if (!isPaged(table)) return table.sortable.length === 0 && shapeOf(table) === "rows";
  return keyColumnOf(table)?.name === camelCase(param);
}

/** @param {string} name */
function camelCase(name) {
  return name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
}

/**
 * @param {Pick<Table, "columns">} table
 * @returns {"candles" | "history" | "rows"}
 */
export function shapeOf({ columns }) {
  const names = columns.map(({ name }) => name);
  const isCandles = [...CANDLE_PRICES, "unixTime"].every((name) => names.includes(name));
  if (isCandles) return "candles";
  return names.includes("unixTime") ? "history" : "rows";
}

/**
 * Figures of a candle that are neither prices nor volume, and so are charts of their own.
 * @param {Pick<Table, "columns">} table
 */
export function linesOf({ columns }) {
  return columns.filter(({ name, unit }) => unit === "USD" && ![...CANDLE_PRICES, "volume"].includes(name));
}

/**
 * What can be drawn: numbers, but for the time itself.
 * @param {Pick<Table, "columns">} table
 */
export function figuresOf({ columns }) {
  return columns.filter(({ name, type }) => name !== "unixTime" && /Float64|U?Int(32|64)/.test(type));
}

/**
 * Columns to show at first: an address gives way to the name beside it, an amount to its value in USD.
 * @param {Table} table
 */
export function mainColumns(table) {
  const names = new Set(table.columns.map(({ name }) => name));
  const key = keyColumnOf(table)?.name;
  return table.columns.filter(({ name, type }) => {
    // Unless it is a token's, whose symbol leads to it as well.
    if (name === key && !names.has(name.replace(/Address$/, "Symbol"))) return true;
    if (/Decimals$|^chainId$|^instructionIndex$/.test(name) || type.startsWith("Array(")) return false;
    if (names.has(`${name}Usd`)) return false;
    return !["Symbol", "Name"].some((end) => names.has(name.replace(/Address$/, "") + end));
  });
}

/**
 * Where a cell leads: the address in it, or the one beside a symbol or name.
 * @param {Column} column
 * @param {Row} row
 * @param {Table} table
 * @returns {Link | undefined}
 */
export function linkOf(column, row, table) {
  const beside = column.name.replace(/(Symbol|Name)$/, "");
  const source =
    table.columns.find(({ name }) => name === column.name && kindOfColumn(column, table) !== undefined) ??
    (beside === column.name
      ? undefined
      : table.columns.find(({ name }) => name === beside || name === `${beside}Address`));
  if (source === undefined) return undefined;
  const kind = kindOfColumn(source, table);
  const address = row[table.columns.indexOf(source)];
  if (kind === undefined || typeof address !== "string" || /^(0x0*)?$/.test(address)) return undefined;
  return { kind, address, within: withinOf(row, table, source.name) };
}

/**
 * What tells apart the rows of one address: a pool to lend to has a row for each token.
 * @param {Row} row
 * @param {Table} table
 * @param {string} source
 */
function withinOf(row, table, source) {
  const at = table.columns.findIndex(({ name }) => name === "underlyingAddress");
  const token = row[at];
  const isShared = source === "poolAddress" && table.params.some(({ name }) => name === "pool_address");
  /** @type {Record<string, string>} */
  const within = isShared && typeof token === "string" ? { underlying_address: token } : {};
  return within;
}

/**
 * "/evm/lending/lendingc/v1/vaults" as "lendingc v1": what tells a list from its siblings.
 * @param {Pick<Table, "path">} table
 */
export function shortName({ path }) {
  const steps = path.split("/").filter((step) => step !== "");
  const telling = steps
    .slice(0, -1)
    .filter((step, at) => !["evm", "lending", "api"].includes(step) && !(at === 1 && step === "v1"));
  return telling.length === 0 ? (steps.at(-1) ?? path) : telling.join(" ");
}

/**
 * "poolTvlUsd" as "Pool TVL USD": words for people, the declared name is in the tooltip.
 * @param {string} name
 */
export function titleOf(name) {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(" ")
    .map((word) =>
      /^(tvl|usd|apr|apy|ltv|lltv|id|lp)$/i.test(word) ? word.toUpperCase() : word.toLowerCase(),
    );
  const text = words.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
