import type { Cell } from "../../../services/shared/contract/column.ts";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { type Answer, type Ask, AskError, type NamedRow, namedRows } from "../asking.ts";
import { requireText } from "../tools/arguments.ts";
import { toolNameOf } from "../tools/endpoint-tool.ts";
import type { Arguments, CallContext, Tool } from "../tools/tool.ts";
import { CHAIN_ARGUMENT, type FindEndpoint, listOfChain, readChainId } from "./endpoints.ts";
import {
  describeBlocks,
  formatFraction,
  formatLine,
  formatNumber,
  formatPercent,
  formatUsd,
  plainText,
} from "./text.ts";

/** Endpoints that may know the pool, in the order in which they are asked: the address does not tell whose it is. */
const POOL_PATHS = ["/evm/dexb/v3/pool", "/evm/clones/v3/pool", "/evm/dexa/v3/pool", "/evm/dexa/v2/pool"];
const V2_PATH = "/evm/dexa/v2/pool";
const APR_DAYS = "7";

/** `pool_report`: price, TVL, volume and fees of one EVM pool, of whichever family it is. */
export function createPoolReport(find: FindEndpoint): Tool {
  const endpoints = POOL_PATHS.map(find);

  const call = async (args: Arguments, { ask, clock }: CallContext): Promise<string> => {
    const pool = requireText(args, "pool_address");
    const chainId = readChainId(args);
    const answer = await askInTurn(ask, endpoints, { chainId, pool });
    const row = namedRows(answer)[0] ?? {};
    const lines = answer.endpoint.path === V2_PATH ? describeV2(row) : describeV3(row);
    return [
      ...lines,
      `Pool ${pool}, chain ${chainId}, ${dexOf(answer.endpoint, row)}, since ${row.createdAt}. ${describeBlocks([answer], clock.nowMs())}`,
      `Everything else: ${toolNameOf(answer.endpoint)}.`,
    ].join("\n");
  };

  return {
    name: "pool_report",
    title: "What a pool is and earns",
    description:
      "One EVM pool by its address, whatever its DEX (Uniswap v3 and clones, Aerodrome): pair, price, TVL, and by range volume, fee APR, volatility, swaps and users. Costs 1 to 4 requests, until the pool's family is found.",
    inputSchema: {
      type: "object",
      properties: {
        pool_address: { type: "string", description: "0x address of the pool." },
        ...CHAIN_ARGUMENT,
      },
      required: ["pool_address"],
      additionalProperties: false,
    },
    call,
  };
}

async function askInTurn(
  ask: Ask,
  endpoints: readonly Endpoint[],
  { chainId, pool }: { readonly chainId: string; readonly pool: string },
): Promise<Answer> {
  for (const endpoint of listOfChain(endpoints, chainId)) {
    const days = endpoint.path === V2_PATH ? { apr_days_annualized: APR_DAYS } : {};
    try {
      return await ask(endpoint, { chain_id: chainId, pool_address: pool, ...days });
    } catch (error) {
      if (!(error instanceof AskError) || error.code !== "not_found") throw error;
    }
  }
  throw new AskError("not_found", `No indexed DEX of chain ${chainId} has a pool at ${pool}.`);
}

const FAMILY_NAMES: Readonly<Record<string, string>> = {
  "/evm/dexb/v3/pool": "Uniswap v3",
  "/evm/dexa/v3/pool": "Aerodrome Slipstream",
};

function dexOf({ path }: Endpoint, { dexName, stable }: NamedRow): string {
  if (path === V2_PATH) return `Aerodrome v2 (${stable === true ? "stable" : "volatile"})`;
  return FAMILY_NAMES[path] ?? plainText(dexName);
}

function describeV3(row: NamedRow): string[] {
  const [symbol0, symbol1] = [plainText(row.token0Symbol), plainText(row.token1Symbol)];
  const hasApr = row.feeApr !== undefined;
  const ranges = (row.timeRanges ?? []) as readonly string[];
  const at = (name: string, place: number) => (row[name] as readonly Cell[] | undefined)?.[place];
  return [
    `${symbol0}/${symbol1}, fee ${formatPercent(Number(row.feeTier) / 10_000)}: 1 ${symbol0} = ${formatNumber(row.currentPoolPrice)} ${symbol1}. TVL ${formatUsd(row.poolTvlUsd)}.`,
    formatLine([
      "range",
      "volume",
      ...(hasApr ? ["fee APR of the TVL"] : []),
      "price volatility",
      "swaps",
      "users",
    ]),
    ...ranges.map((range, place) =>
      formatLine([
        range,
        formatUsd(at("swapVolumeUsd", place)),
        ...(hasApr ? [formatFraction(at("feeApr", place))] : []),
        formatPercent(at("priceVolatilityPct", place)),
        formatNumber(at("swapCount", place)),
        formatNumber(at("uniqueUserCount", place)),
      ]),
    ),
    `Unknown is what reaches back before the index, or has no price. ${symbol0} is ${row.token0Address}, ${symbol1} is ${row.token1Address}.`,
  ];
}

function describeV2(row: NamedRow): string[] {
  const [symbol0, symbol1] = [plainText(row.token0Symbol), plainText(row.token1Symbol)];
  return [
    `${symbol0}/${symbol1}, fee ${formatFraction(row.fee)}: ${formatNumber(row.reserve0)} ${symbol0} at ${formatUsd(row.token0PriceUsd)}, ${formatNumber(row.reserve1)} ${symbol1} at ${formatUsd(row.token1PriceUsd)}. TVL ${formatUsd(row.poolTvlUsd)}.`,
    `Volume ${formatUsd(row.volume24hUsd)} in 24 hours, ${formatUsd(row.volume7dUsd)} in 7 completed days; fees ${formatUsd(row.fees7dUsd)} in those.`,
    `APR over ${APR_DAYS} days: ${formatFraction(row.totalApr)} = ${formatFraction(row.swapFeeApr)} of swap fees + ${formatFraction(row.rewardApr)} of rewards, which staked positions earn.`,
    `Unknown is what reaches back before the index, or has no price. ${symbol0} is ${row.token0}, ${symbol1} is ${row.token1}.`,
  ];
}
