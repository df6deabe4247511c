import type { Cell } from "../../../services/shared/contract/column.ts";
import { type NamedRow, namedRows } from "../asking.ts";
import type { CallContext } from "../tools/tool.ts";
import type { FindEndpoint } from "./endpoints.ts";
import { describeBlocks, formatFraction, formatNumber, formatPercent, formatUsd, plainText } from "./text.ts";

/** The latest transactions, of which one has the price. */
const TRANSACTIONS = "20";

/** What somebody could do to holders, by column: present = the sentence applies. */
const POWERS: readonly (readonly [column: string, text: string])[] = [
  ["mintAuthority", "more can be minted, by"],
  ["freezeAuthority", "balances can be frozen, by"],
  ["permanentDelegate", "anybody's balance can be moved or burned, by"],
  ["transferHookProgram", "every transfer runs, and may be refused by,"],
  ["transferHookAuthority", "a program that refuses transfers can be set, by"],
  ["mintCloseAuthority", "the mint can be closed once its supply is 0, by"],
];

/** States that speak against a token where they are true. */
const STATES: readonly (readonly [column: string, text: string])[] = [
  ["nonTransferable", "it cannot be transferred"],
  ["frozenByDefault", "new accounts are frozen"],
  ["pausable", "transfers can be paused"],
  ["paused", "transfers are paused now"],
  ["mutableMetadata", "name and symbol can still change"],
  ["uiAmountChanges", "shown amounts can be rescaled"],
  ["confidentialTransfers", "balances may be hidden"],
];

/** Columns that are null while the mint or its extensions are unread, besides where there is nothing: an unread one is no safe one. */
const READ_SIGNS = ["totalSupply", "transferFeeBps", "mutableMetadata"];

export function createSolanaTokenReport(find: FindEndpoint) {
  const security = find("/api/v1/solana/tokens/security");
  const transactions = find("/api/v1/solana/token-transactions");

  return async (token: string, { ask, clock }: CallContext): Promise<string> => {
    const [facts, trades] = await Promise.all([
      ask(security, { token_address: token }),
      ask(transactions, { token_address: token, days: "1", limit: TRANSACTIONS }),
    ]);
    const row = namedRows(facts)[0];
    if (row === undefined)
      return `Nothing is known of ${token}: no indexed trade has it.\n${describeBlocks([facts], clock.nowMs())}`;
    const findings = listFindings(row);
    const unread = READ_SIGNS.filter((column) => row[column] === null);
    return [
      `${plainText(row.symbol) || "(no symbol)"} ${plainText(row.name)}, ${token}`,
      `Security score ${formatNumber(row.securityScore)} of 100 (explain_column securityScore has the formula).`,
      findings.length === 0
        ? "Against it: nothing found among authorities and extensions."
        : `Against it: ${findings.join("; ")}.`,
      ...(unread.length === 0
        ? []
        : [`Not known yet: ${unread.join(", ")}. What the mint allows cannot be judged without it.`]),
      describeHolders(row),
      `Last 24 hours: ${formatNumber(row.transaction1dCount)} transactions by ${formatNumber(row.activeAccounts1dCount)} accounts. Volatility of 30 days ${formatFraction(row.priceVolatility30d)} a day.`,
      describePrice(namedRows(trades), clock.nowMs()),
      `These are facts of the chain, no advice: liquidity and the people behind it are not judged. ${describeBlocks([facts], clock.nowMs())}`,
    ].join("\n");
  };
}

function describeHolders(row: NamedRow): string {
  const supply = `Supply ${formatNumber(row.totalSupply)}, of which known balances cover ${formatFraction(row.holdersCoverage)}.`;
  if (row.holderCount === null)
    return `${supply} Holders and their shares are unknown until enough are known.`;
  const shares = [row.top5HolderConcentration, row.top10HolderConcentration, row.top20HolderConcentration];
  return `${supply} ${formatNumber(row.holderCount)} holders; the 5, 10, 20 largest have ${shares.map(formatPercent).join(", ")}.`;
}

function listFindings(row: NamedRow): string[] {
  const powers = POWERS.flatMap(([column, text]) => {
    const account = row[column];
    return typeof account === "string" ? [`${text} ${account}`] : [];
  });
  const fee =
    typeof row.transferFeeBps === "number" && row.transferFeeBps > 0
      ? [`each transfer costs ${formatPercent(row.transferFeeBps / 100)}`]
      : [];
  const states = STATES.flatMap(([column, text]) => (row[column] === true ? [text] : []));
  return [...powers, ...fee, ...states];
}

function describePrice(rows: readonly NamedRow[], nowMs: number): string {
  if (rows.length === 0) return "No transaction in the last 24 hours.";
  const priced = rows.find(({ priceUSD }) => typeof priceUSD === "number");
  if (priced === undefined) return `None of the latest ${rows.length} transactions has a price.`;
  const price: Cell | undefined = priced.priceUSD;
  const ageSeconds = Math.max(0, Math.round(nowMs / 1000 - Number(priced.blockTime)));
  const shown = typeof price === "number" && price < 0.01 ? `${formatNumber(price)} USD` : formatUsd(price);
  return `Latest priced transaction: ${shown} a token, ${ageSeconds} s ago, ${priced.transactionType} on ${priced.dex}.`;
}
