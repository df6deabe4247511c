import { type Answer, type NamedRow, namedRows } from "../asking.ts";
import type { CallContext } from "../tools/tool.ts";
import { type FindEndpoint, findSupplyLists, listOfChain, supplyRows } from "./endpoints.ts";
import { describeBlocks, formatFraction, formatLine, formatNumber, formatUsd, plainText } from "./text.ts";

const POOL_LISTS = ["/evm/dexb/v3/pools", "/evm/clones/v3/pools"];
const SHOWN_POOLS = 5;
const SHOWN_VAULTS = 3;
const ROWS = "1000";

export function createEvmTokenReport(find: FindEndpoint) {
  const poolLists = POOL_LISTS.map(find);
  const supplyLists = findSupplyLists(find);

  return async (
    { token, chainId }: { readonly token: string; readonly chainId: string },
    { ask, clock }: CallContext,
  ): Promise<string> => {
    const lists = listOfChain(poolLists, chainId);
    const [pools, supplies] = await Promise.all([
      Promise.all(
        lists.map((endpoint) =>
          ask(endpoint, {
            chain_id: chainId,
            token_address: token,
            order_asc: "createdAt",
            limit: String(SHOWN_POOLS),
          }),
        ),
      ),
      Promise.all(
        supplyLists.map((endpoint) =>
          ask(endpoint, {
            chain_id: chainId,
            underlying_address: token,
            order_desc: "netSupplyApy",
            limit: ROWS,
          }),
        ),
      ),
    ]);
    const vaults = supplies.flatMap(supplyRows);
    return [
      `${symbolOf(token, pools, vaults)} ${token}, chain ${chainId}`,
      describePrice(vaults),
      ...describePools(pools, token),
      ...describeVaults(vaults, supplies),
      "Aerodrome v2 pools cannot be listed by token: evm_dexa_v2_pools has all of them. What the contract may do to holders is not read on EVM chains.",
      describeBlocks([...pools, ...supplies], clock.nowMs()),
    ].join("\n");
  };
}

function symbolOf(token: string, pools: readonly Answer[], vaults: readonly NamedRow[]): string {
  const pool = pools.flatMap(namedRows)[0];
  const symbol = pool === undefined ? vaults[0]?.underlyingSymbol : symbolsOf(pool, token).own;
  return plainText(symbol) || "(symbol not known)";
}

/** Symbols of a pool of the token: its own, and that of the token on the other side. */
function symbolsOf({ token0Address, token0Symbol, token1Symbol }: NamedRow, token: string) {
  const isToken0 = String(token0Address).toLowerCase() === token.toLowerCase();
  return isToken0 ? { own: token0Symbol, other: token1Symbol } : { own: token1Symbol, other: token0Symbol };
}

/** Lending has one price a token; it is what the amounts in USD were multiplied by. */
function describePrice(vaults: readonly NamedRow[]): string {
  const priced = vaults.find(({ supply, supplyUsd }) => Number(supply) > 0 && typeof supplyUsd === "number");
  if (priced === undefined)
    return "Price: none in lending; pool_report of one of its pools has a relative one.";
  const price = Number(priced.supplyUsd) / Number(priced.supply);
  return `Price ${formatUsd(price)} (${plainText(priced.priceSource)}).`;
}

function describePools(pools: readonly Answer[], token: string): string[] {
  const counts = pools.map(
    ({ total, rows, endpoint }) => `${total ?? `${rows.length} or more`} in ${endpoint.path.split("/")[2]}`,
  );
  const rows = pools.flatMap(namedRows).slice(0, SHOWN_POOLS);
  if (rows.length === 0) return ["Pools: none in Uniswap v3 or its clones."];
  return [
    `Pools: ${counts.join(", ")}. The oldest:`,
    ...rows.map((row) => {
      return formatLine([
        String(row.poolAddress),
        `with ${plainText(symbolsOf(row, token).other)}`,
        `fee ${formatNumber(Number(row.fee) / 10_000)} %`,
        plainText(row.dexName),
        `since ${row.createdAt}`,
      ]);
    }),
  ];
}

function describeVaults(vaults: readonly NamedRow[], supplies: readonly Answer[]): string[] {
  if (vaults.length === 0) return ["Lending: nothing takes it."];
  const isCut = supplies.some(({ rows }) => rows.length === Number(ROWS));
  const listed = vaults.filter((row) => row.listed === true);
  const tvlUsd = listed.reduce((sum, row) => sum + Number(row.tvlUsd ?? 0), 0);
  const best = [...listed].sort((a, b) => Number(b.netSupplyApy ?? -1) - Number(a.netSupplyApy ?? -1));
  return [
    `Lending: ${vaults.length}${isCut ? " or more" : ""} vaults and reserves, ${listed.length} of them listed by their protocol with a TVL of ${formatUsd(tvlUsd)} together. Best of these (best_yields compares by TVL):`,
    ...best
      .slice(0, SHOWN_VAULTS)
      .map((row) =>
        formatLine([
          formatFraction(row.netSupplyApy),
          plainText(row.protocolId),
          plainText(row.vaultName),
          String(row.address),
          formatUsd(row.tvlUsd),
        ]),
      ),
  ];
}
