import type { Cell } from "../../../services/shared/contract/column.ts";
import { namedRows } from "../asking.ts";
import { requireText } from "../tools/arguments.ts";
import type { Arguments, CallContext, Tool } from "../tools/tool.ts";
import type { FindEndpoint } from "./endpoints.ts";
import { describeBlocks, formatFraction, formatLine, formatNumber, formatUsd, plainText } from "./text.ts";

/** Tokens that are shown; the largest come first. */
const MAX_TOKENS = 10;

/** `wallet_liquidity`: what the LP positions of a wallet are worth and earn. */
export function createWalletLiquidity(find: FindEndpoint): Tool {
  const endpoint = find("/evm/dexa/v2/provider-summary");

  const call = async (args: Arguments, { ask, clock }: CallContext): Promise<string> => {
    const wallet = requireText(args, "wallet_address");
    const answer = await ask(endpoint, { wallet_address: wallet });
    const row = namedRows(answer)[0] ?? {};
    const pools = listOf(row.topPoolsData);
    const tokens = listOf(row.tokenExposure);
    const coverage =
      answer.positionsFromBlock === undefined
        ? "Positions older than the index are still being read from the chain: ask again in some seconds; until then sums are unknown."
        : "All positions are known.";
    const scope = "Only Aerodrome v2 pools on Base (dexa v2) are covered; positions of v3 pools are not.";
    const end = [coverage, scope, describeBlocks([answer], clock.nowMs())];
    if (row.activePositionCount === 0) {
      const isKnown = answer.positionsFromBlock !== undefined;
      return [
        `${isKnown ? `${wallet} has no LP positions` : `Of ${wallet} no LP positions are known yet`}.`,
        ...end,
      ].join("\n");
    }
    return [
      `LP positions of ${wallet}: ${describeValue(row.totalValueLockedUsd, tokens)} in ${row.activePositionCount} positions of ${row.poolCount} pools.`,
      `Swap fees earned: ${formatUsd(row.totalFeesEarned7d)} in 7 completed days, ${formatUsd(row.totalFeesEarned30d)} in 30. APR weighted by value: ${formatFraction(row.averageApr7dWeighted)} (7 days), ${formatFraction(row.averageApr30dWeighted)} (30 days).`,
      "pool | pair | value | share",
      ...pools.map(([pool, symbol0, symbol1, tvlUsd, share]) =>
        formatLine([
          String(pool),
          `${plainText(symbol0)}/${plainText(symbol1)}`,
          formatUsd(tvlUsd),
          formatFraction(share),
        ]),
      ),
      ...describeCut(Number(row.poolCount) - pools.length, "pools"),
      "token | amount | value | share",
      ...tokens
        .slice(0, MAX_TOKENS)
        .map(([token, symbol, amount, valueUsd, share]) =>
          formatLine([
            `${plainText(symbol)} ${token}`,
            formatNumber(amount),
            formatUsd(valueUsd),
            formatFraction(share),
          ]),
        ),
      ...describeCut(tokens.length - MAX_TOKENS, "tokens"),
      ...end,
    ].join("\n");
  };

  return {
    name: "wallet_liquidity",
    title: "What a wallet's LP positions are worth",
    description:
      "Value, pools, tokens, fees earned and APR of a wallet's LP positions in Aerodrome v2 pools on Base, staked ones included. Costs 1 request.",
    inputSchema: {
      type: "object",
      properties: {
        wallet_address: { type: "string", description: "0x address of the liquidity provider." },
      },
      required: ["wallet_address"],
      additionalProperties: false,
    },
    call,
  };
}

/** One token without a price makes the whole unknown; what the others are worth is known all the same. */
function describeValue(total: Cell | undefined, tokens: readonly (readonly Cell[])[]): string {
  if (typeof total === "number") return formatUsd(total);
  const priced = tokens.flatMap(([, , , valueUsd]) => (typeof valueUsd === "number" ? [valueUsd] : []));
  if (priced.length === 0) return "unknown value";
  const sum = priced.reduce((left, right) => left + right, 0);
  return `${formatUsd(sum)} of priced tokens, and ${tokens.length - priced.length} without a price or not read yet,`;
}

function listOf(cell: Cell | undefined): readonly (readonly Cell[])[] {
  return Array.isArray(cell) ? (cell as readonly (readonly Cell[])[]) : [];
}

function describeCut(count: number, what: string): string[] {
  return count > 0
    ? [`${count} smaller ${what} are not shown: evm_dexa_v2_provider_summary has what the API lists.`]
    : [];
}
