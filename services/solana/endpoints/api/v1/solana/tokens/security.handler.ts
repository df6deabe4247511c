import { toCells } from "../../../../../../shared/contract/cells.ts";
import type { Cell } from "../../../../../../shared/contract/column.ts";
import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import { toWhole } from "../../../../../metrics/amount.ts";
import { dailyVolatility } from "../../../../../metrics/daily-volatility.ts";
import { securityScore } from "../../../../../metrics/security-score.ts";
import { answerAtHead } from "../../../../../serve/answer.ts";
import { findCoveredFrom } from "../../../../../serve/coverage.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { type DayActivity, readDailyCloses, readDayActivity } from "../../../../../serve/tokens/activity.ts";
import { type HolderFigures, readHolderFigures } from "../../../../../serve/tokens/holder-figures.ts";
import { type TokenRow, tokens } from "../../../../../store/collections.ts";
import { endpoint } from "./security.endpoint.ts";

export function tokenSecurityHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return ({ token_address: mint }) =>
    answerAtHead(deps.store, {
      endpoint,
      dataKind: "documents",
      read: async (checkpoint, store) => {
        const token = await store.get(tokens, { mint });
        if (token === undefined) return [];
        const query = { mint, time: checkpoint.time, coveredFrom: findCoveredFrom(checkpoint) };
        const [figures, activity, closes] = await Promise.all([
          readHolderFigures(store, token),
          readDayActivity(store, query),
          readDailyCloses(store, query),
        ]);
        const volatility = closes === undefined ? null : dailyVolatility(closes);
        return [cellsOf(token, { figures, activity, volatility })];
      },
    });
}

function cellsOf(
  token: TokenRow,
  {
    figures,
    activity,
    volatility,
  }: { figures: HolderFigures; activity: DayActivity | undefined; volatility: number | null },
): Cell[] {
  const { concentrations } = figures;
  const { mint, symbol, name, decimals, supply, mutableMetadata, transferFeeBps, nonTransferable } = token;
  const isUnread = token.readSlot === null;
  return toCells(endpoint, {
    address: mint,
    chain: "solana",
    symbol,
    name,
    totalSupply: supply === null ? null : toWhole(supply, decimals),
    holderCount: token.holderCount,
    top5HolderConcentration: concentrations[5],
    top10HolderConcentration: concentrations[10],
    top20HolderConcentration: concentrations[20],
    top50HolderConcentration: concentrations[50],
    medianBalance: figures.median,
    bottom10pctBalance: figures.bottom10,
    top10pctBalance: figures.top10,
    transaction1dCount: activity?.transactions ?? null,
    activeAccounts1dCount: activity?.accounts ?? null,
    txUniquenessRatio:
      activity === undefined || activity.transactions === 0
        ? null
        : activity.accounts / activity.transactions,
    priceVolatility30d: volatility,
    mintAuthority: token.mintAuthority,
    freezeAuthority: token.freezeAuthority,
    isToken2022: token.isToken2022,
    transferFeeBps,
    nonTransferable,
    mutableMetadata,
    securityScore: securityScore({
      hasMintAuthority: isUnread ? null : token.mintAuthority !== null,
      hasFreezeAuthority: isUnread ? null : token.freezeAuthority !== null,
      mutableMetadata,
      transferFeeBps,
      nonTransferable,
      top10HolderConcentration: concentrations[10],
    }),
  });
}
