import { asOfParams } from "../../shared/contract/as-of.ts";
import type { Cell } from "../../shared/contract/column.ts";
import { isRequired } from "../../shared/contract/define.ts";
import type { Endpoint, ParamsOf } from "../../shared/contract/endpoint.ts";
import { parseQuery } from "../../shared/contract/parse.ts";
import type { ExampleCandidate, FindExampleCandidates } from "../../shared/service/examples.ts";
import type { HandlerTable } from "../../shared/service/handlers.ts";

/** First rows of a list that become scenes: those with the largest values. */
const ROWS = 20;
const DAY = 86_400;
const DEADLINE_MS = 3_000;
/** The default of the parameter chain_id. */
const DEFAULT_CHAIN = 8453;

type Row = Readonly<Record<string, Cell>>;

export interface SceneDeps {
  readonly endpoints: readonly Endpoint[];
  readonly handlers: HandlerTable;
  readonly chains: readonly { readonly chainId: number }[];
}

/**
 * Finds example parameters. Each scene is a row of a list: a parameter takes the value of the column with its name
 * (vault_address of `vaultAddress`). The list is the endpoint itself if it requires no parameters, else the list of the
 * same protocol (of any, where the path names none) that has the most of its parameters as columns.
 */
export function findExampleScenes({ endpoints, handlers, chains }: SceneDeps): FindExampleCandidates {
  const ids = chains
    .map(({ chainId }) => chainId)
    .sort((a, b) => Number(b === DEFAULT_CHAIN) - Number(a === DEFAULT_CHAIN));
  return async (endpoint) => {
    const scenes: ExampleCandidate[] = [];
    for (const chainId of ids) {
      for (const list of listsFor(endpoint, endpoints)) {
        const rows = await readRows(list, { handlers, chainId });
        const found = rows.map((row) => sceneOf(row, { endpoint, list, chainId }));
        scenes.push(...found.filter((scene) => scene !== undefined));
        if (scenes.length > 0) break;
      }
    }
    return scenes;
  };
}

/** Lists whose rows have all required parameters of the endpoint, the best one first. */
function listsFor(endpoint: Endpoint, endpoints: readonly Endpoint[]): Endpoint[] {
  const protocolOf = ({ path }: Endpoint) => path.split("/").slice(0, 4).join("/");
  const names = Object.keys(endpoint.params);
  const scoreOf = (list: Endpoint) => names.filter((name) => columnFor(name, list) !== undefined).length;
  return endpoints
    .filter((list) => protocolOf(endpoint) === endpoint.path || protocolOf(list) === protocolOf(endpoint))
    .filter((list) => !Object.keys(list.params).some((name) => isRequired(list, name)))
    .filter((list) =>
      names.every((name) => !isRequired(endpoint, name) || columnFor(name, list) !== undefined),
    )
    .sort((a, b) => Number(b === endpoint) - Number(a === endpoint) || scoreOf(b) - scoreOf(a));
}

function columnFor(param: string, { columns }: Endpoint): string | undefined {
  return columns.find(({ name }) => name === columnName(param))?.name;
}

/** Columns of parameters that are not named as they are. */
const COLUMNS: Readonly<Record<string, string>> = {
  id: "vaultAddress",
  after_time: "updatedAt",
  before_time: "updatedAt",
};

/** vault_address → vaultAddress. */
function columnName(param: string): string {
  const named = COLUMNS[param];
  if (named !== undefined) return named;
  return param.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
}

async function readRows(
  list: Endpoint,
  { handlers, chainId }: { handlers: HandlerTable; chainId: number },
): Promise<Row[]> {
  const { params } = parseQuery(list, `chain_id=${chainId}&limit=${ROWS}`);
  const context = { session: "examples", signal: AbortSignal.timeout(DEADLINE_MS) };
  const answer = await handlers[list.path]?.(params as ParamsOf<Endpoint>, context);
  return (answer?.rows ?? []).map((row) => {
    const cells = (typeof row === "string" ? JSON.parse(row) : row) as readonly Cell[];
    return Object.fromEntries(list.columns.map(({ name }, position) => [name, cells[position] ?? null]));
  });
}

/** Undefined where the row lacks a required parameter. */
function sceneOf(
  row: Row,
  { endpoint, list, chainId }: { endpoint: Endpoint; list: Endpoint; chainId: number },
): ExampleCandidate | undefined {
  const scene: Record<string, string | undefined> = {};
  for (const name of Object.keys(endpoint.params)) {
    if (name === "limit" || name === "offset" || Object.hasOwn(asOfParams, name)) continue;
    scene[name] = textFor(name, row);
    if (scene[name] === undefined && isRequired(endpoint, name)) return undefined;
  }
  // The TVL of another list's row does not apply to the rows of this one.
  if (list !== endpoint && "min_tvl_usd" in endpoint.params) scene.min_tvl_usd = "0";
  return { ...scene, chain_id: String(chainId) };
}

/** The cell of the parameter's column; for min_tvl_usd half of the row's TVL, so that the row passes. */
function textFor(param: string, row: Row): string | undefined {
  if (param === "min_tvl_usd") {
    const tvl = row.tvlUsd ?? row.totalTvlUsd;
    return typeof tvl === "number" && tvl < Number.MAX_SAFE_INTEGER ? String(Math.floor(tvl / 2)) : "0";
  }
  const value = row[columnName(param)];
  if (param === "after_time" || param === "before_time") {
    const headTime = Date.parse(String(value)) / 1_000;
    return String(param === "after_time" ? headTime - DAY : headTime + 1);
  }
  return value === null || value === undefined ? undefined : String(value);
}
