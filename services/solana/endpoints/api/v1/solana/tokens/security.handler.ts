import { toCells } from "../../../../../../shared/contract/cells.ts";
import type { Cell } from "../../../../../../shared/contract/column.ts";
import type { Handler } from "../../../../../../shared/contract/endpoint.ts";
import { toWhole } from "../../../../../metrics/amount.ts";
import { dailyVolatility } from "../../../../../metrics/daily-volatility.ts";
import { findTransferFeeBps, type MintExtensions } from "../../../../../metrics/mint-extensions.ts";
import { securityScore } from "../../../../../metrics/security-score.ts";
import { answerAtHead } from "../../../../../serve/answer.ts";
import { findCoveredFrom } from "../../../../../serve/coverage.ts";
import type { ServeDeps } from "../../../../../serve/deps.ts";
import { type DayActivity, readDailyCloses, readDayActivity } from "../../../../../serve/tokens/activity.ts";
import { type HolderFigures, readHolderFigures } from "../../../../../serve/tokens/holder-figures.ts";
import { findTokenMultiplier } from "../../../../../serve/tokens/ui-amounts.ts";
import type { CheckpointRow } from "../../../../../store/collections.ts";
import { type TokenRow, tokens } from "../../../../../store/token-collections.ts";
import { endpoint } from "./security.endpoint.ts";

export function tokenSecurityHandler(deps: ServeDeps): Handler<typeof endpoint> {
  return ({ token_address: mint }, { signal }) =>
    answerAtHead(deps.store, {
      endpoint,
      dataKind: "documents",
      signal,
      read: async (checkpoint, store) => {
        const token = await store.get(tokens, { mint });
        if (token === undefined) return [];
        const query = { mint, time: checkpoint.time, coveredFrom: findCoveredFrom(checkpoint) };
        const { leastCoverage } = deps;
        const [figures, activity, closes] = await Promise.all([
          readHolderFigures(store, { token, leastCoverage }),
          readDayActivity(store, query),
          readDailyCloses(store, query),
        ]);
        if (figures.count === null) deps.requestHolders(token);
        const volatility = closes === undefined ? null : dailyVolatility(closes);
        return [cellsOf(token, { head: checkpoint, figures, activity, volatility })];
      },
    });
}

interface Figures {
  readonly head: CheckpointRow;
  readonly figures: HolderFigures;
  readonly activity: DayActivity | undefined;
  readonly volatility: number | null;
}

function cellsOf(token: TokenRow, { head, figures, activity, volatility }: Figures): Cell[] {
  const { concentrations } = figures;
  const { mint, symbol, name, decimals, supply, mutableMetadata } = token;
  const isUnread = token.readSlot === null;
  const extensions = token.extensions as MintExtensions | null;
  const transferFeeBps = extensions === null ? null : findTransferFeeBps(extensions, head.slot);
  const multiplier = findTokenMultiplier(token, head.time);
  const scale = (amount: number | null) => (amount === null ? null : amount * multiplier);
  return toCells(endpoint, {
    address: mint,
    chain: "solana",
    symbol,
    name,
    totalSupply: supply === null ? null : toWhole(supply, decimals) * multiplier,
    holderCount: figures.count,
    top5HolderConcentration: concentrations[5],
    top10HolderConcentration: concentrations[10],
    top20HolderConcentration: concentrations[20],
    top50HolderConcentration: concentrations[50],
    medianBalance: scale(figures.median),
    bottom10pctBalance: scale(figures.bottom10),
    top10pctBalance: scale(figures.top10),
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
    nonTransferable: isSet(extensions, "nonTransferable"),
    mutableMetadata,
    securityScore: securityScore({
      hasMintAuthority: isUnread ? null : token.mintAuthority !== null,
      hasFreezeAuthority: isUnread ? null : token.freezeAuthority !== null,
      mutableMetadata,
      transferFeeBps,
      extensions,
      top10HolderConcentration: concentrations[10],
    }),
    permanentDelegate: extensions?.permanentDelegate ?? null,
    transferHookProgram: extensions?.transferHook?.program ?? null,
    transferHookAuthority: extensions?.transferHook?.authority ?? null,
    frozenByDefault: isSet(extensions, "isFrozenByDefault"),
    pausable: isSet(extensions, "pausable"),
    paused: extensions === null ? null : extensions.pausable?.isPaused === true,
    mintCloseAuthority: extensions?.closeAuthority ?? null,
    uiAmountMultiplier: extensions === null ? null : multiplier,
    uiAmountChanges:
      extensions === null ? null : extensions.scaledAmount !== undefined || extensions.interest !== undefined,
    confidentialTransfers: isSet(extensions, "confidentialTransfers"),
    holdersCoverage: figures.coverage,
  });
}

function isSet(extensions: MintExtensions | null, name: keyof MintExtensions): boolean | null {
  return extensions === null ? null : extensions[name] !== undefined;
}
