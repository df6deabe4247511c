import { EVM_ADDRESS } from "../../../services/shared/contract/param.ts";
import type { Answer, NamedRow } from "../asking.ts";
import { readInteger, requireText, toQueryValue } from "../tools/arguments.ts";
import { type Arguments, type CallContext, type Tool, ToolArgumentError } from "../tools/tool.ts";
import { CHAIN_ARGUMENT, type FindEndpoint, findSupplyLists, readChainId, supplyRows } from "./endpoints.ts";
import { describeBlocks, formatFraction, formatLine, formatUsd, plainText } from "./text.ts";

const DEFAULT_MIN_TVL_USD = 1_000_000;
const DEFAULT_SHOWN = 5;
const MAX_SHOWN = 50;
/** Rows of each list: as many as a page has. */
const ROWS = 10_000;
const LISTED = ["true", "false", "all"];

/** `best_yields`: where a token earns most, over all lending protocols. */
export function createBestYields(find: FindEndpoint): Tool {
  const lists = findSupplyLists(find);

  const call = async (args: Arguments, { ask, clock }: CallContext): Promise<string> => {
    const asset = requireText(args, "asset");
    const minTvlUsd = readInteger(args, "min_tvl_usd", {
      fallback: DEFAULT_MIN_TVL_USD,
      min: 0,
      max: Number.MAX_SAFE_INTEGER,
    });
    const limit = readInteger(args, "limit", { fallback: DEFAULT_SHOWN, min: 1, max: MAX_SHOWN });
    const listed = toQueryValue("listed", args.listed) ?? "true";
    if (!LISTED.includes(listed))
      throw new ToolArgumentError(`Cannot read listed: it is one of ${LISTED.join(", ")}.`);
    const chainId = readChainId(args);
    const isAddress = EVM_ADDRESS.test(asset);
    const query = {
      chain_id: chainId,
      listed,
      order_desc: "netSupplyApy",
      limit: String(ROWS),
      ...(minTvlUsd === 0 ? {} : { min_tvl_usd: String(minTvlUsd) }),
      ...(isAddress ? { underlying_address: asset } : {}),
    };
    const answers = await Promise.all(lists.map((endpoint) => ask(endpoint, query)));
    const found = answers
      .flatMap(supplyRows)
      .filter((row) => isAddress || isSameSymbol(row.underlyingSymbol, asset));
    const open = found.filter(takesDeposits);
    open.sort((a, b) => apyOf(b) - apyOf(a));
    const best = open.slice(0, limit);
    const what = `${asset} on chain ${chainId}, TVL from ${minTvlUsd} USD${listed === "all" ? "" : `, ${listed === "true" ? "listed by their protocol" : "not listed"}`}`;
    if (best.length === 0) {
      return [
        `Nothing takes ${what}.${describeClosed(found.length)}`,
        ...describeIncomplete(answers),
        describeBlocks(answers, clock.nowMs()),
      ].join("\n");
    }
    return [
      `Best net supply APY for ${what}; ${best.length} of ${open.length}:`,
      "net APY | protocol | name | address | TVL | withdrawable now | utilisation",
      ...best.map((row) =>
        formatLine([
          formatFraction(row.netSupplyApy),
          plainText(row.protocolId),
          plainText(row.vaultName),
          String(row.address),
          formatUsd(row.tvlUsd),
          formatUsd(row.availableLiquidityUsd),
          formatFraction(row.utilizationRate),
        ]),
      ),
      ...describeMore(open.length - best.length),
      ...describeTokens(asset, open, isAddress),
      ...describeIncomplete(answers),
      `Rates are variable and of this block; rewards are not counted.${describeClosed(found.length - open.length)}`,
      describeBlocks(answers, clock.nowMs()),
    ].join("\n");
  };

  return {
    name: "best_yields",
    title: "Best lending yields of a token",
    description:
      "Where a token earns the highest net supply APY now, over Aave v3, Euler v2 and Morpho vaults: rate, vault, TVL, what can be withdrawn. Leaves out what takes no deposits. Costs 3 requests.",
    inputSchema: {
      type: "object",
      properties: {
        asset: {
          type: "string",
          description: "Symbol or 0x address of the token to supply. Symbols are their creators' words.",
        },
        ...CHAIN_ARGUMENT,
        min_tvl_usd: { type: "integer", minimum: 0, default: DEFAULT_MIN_TVL_USD },
        listed: {
          type: "string",
          enum: LISTED,
          default: "true",
          description: "true: only what the protocol itself lists; anybody can make a vault.",
        },
        limit: { type: "integer", minimum: 1, maximum: MAX_SHOWN, default: DEFAULT_SHOWN },
      },
      required: ["asset"],
      additionalProperties: false,
    },
    call,
  };
}

function isSameSymbol(symbol: unknown, asset: string): boolean {
  return typeof symbol === "string" && symbol.toLowerCase() === asset.toLowerCase();
}

/** A vault at its cap takes nothing, whatever its switch says; one without a cap has null. */
function takesDeposits({ depositEnabled, remainingCapacityUsd }: NamedRow): boolean {
  return depositEnabled === true && remainingCapacityUsd !== 0;
}

function apyOf({ netSupplyApy }: NamedRow): number {
  return typeof netSupplyApy === "number" ? netSupplyApy : -Infinity;
}

function describeMore(count: number): string[] {
  return count === 0 ? [] : [`${count} more with lower rates: ask with a higher limit.`];
}

function describeClosed(count: number): string {
  return count === 0 ? "" : ` ${count} left out that take no deposits now.`;
}

/** One symbol may stand for several tokens, of which the caller wants one. */
function describeTokens(asset: string, rows: readonly NamedRow[], isAddress: boolean): string[] {
  const addresses = [...new Set(rows.map(({ underlyingAddress }) => String(underlyingAddress)))];
  if (isAddress) return [];
  if (addresses.length === 1) return [`${asset} is ${addresses[0]}.`];
  return [
    `${asset} stands for ${addresses.length} tokens: ${addresses.join(", ")}. Ask by address for one of them.`,
  ];
}

function describeIncomplete(answers: readonly Answer[]): string[] {
  return answers.flatMap(({ rows, total, endpoint }) =>
    rows.length < ROWS
      ? []
      : [
          `Only the first ${rows.length} of ${total ?? "more"} rows of ${endpoint.path} were looked at: raise min_tvl_usd.`,
        ],
  );
}
