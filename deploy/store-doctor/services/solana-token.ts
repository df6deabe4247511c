import type { Store } from "../../../services/shared/storage/port.ts";
import type { Candle } from "../../../services/solana/metrics/candle.ts";
import { joinCandles } from "../../../services/solana/metrics/candle.ts";
import { toContested } from "../../../services/solana/store/candle-row.ts";
import {
  type CandleRow,
  type CheckpointRow,
  candles,
  segments,
  tokenRows,
} from "../../../services/solana/store/collections.ts";
import { type KeptRows, keepsTokenList } from "../../../services/solana/store/kept-rows.ts";
import { firstSlotFrom } from "../../../services/solana/store/queries.ts";
import { holders, tokens } from "../../../services/solana/store/token-collections.ts";
import { type Findings, RESTART_INGEST, readAgain } from "../finding.ts";

const TODO = readAgain("solana", "solana");
const [MINUTE, HOUR, DAY] = [60, 3_600, 86_400] as const;
/** The newest of a token's candles and segments that are looked at. */
const MINUTES = 60;
const HOURS = 26;
const SEGMENTS = 3;
/** Of tokens with more holders these are not counted: that takes seconds. */
const MOST_HOLDERS = 200_000;

interface TokenScope {
  readonly mint: string;
  readonly checkpoint: CheckpointRow;
  /** Candles count every trade, lists have the rows that the installation keeps. */
  readonly kept: KeptRows;
}

/** A token's candles against its rows, longer candles against shorter ones, and counts against what they count. */
export async function lookAtToken(view: Store, findings: Findings, scope: TokenScope): Promise<void> {
  const { mint, checkpoint } = scope;
  const [beyond] = await view.find(tokenRows, {
    filter: { mint, slot: { gt: checkpoint.slot } },
    limit: 1,
    fields: ["slot"],
  });
  findings.require("rows beyond the head", {
    holds: beyond === undefined,
    what: `The checkpoint is slot ${checkpoint.slot}, and ${mint} has rows of slot ${beyond?.slot}.`,
    todo: RESTART_INGEST,
  });
  await lookAtMinutes(view, findings, scope);
  await lookAtLonger(view, findings, { mint, seconds: HOUR, parts: MINUTE, count: HOURS });
  await lookAtLonger(view, findings, { mint, seconds: DAY, parts: HOUR, count: 2 });
  await lookAtHolders(view, findings, mint);
  await lookAtSegments(view, findings, scope);
}

function newest(view: Store, { mint, seconds, count }: { mint: string; seconds: number; count: number }) {
  return view.find(candles, {
    filter: { mint, seconds },
    order: [{ field: "start", direction: "desc" }],
    limit: count,
  });
}

async function lookAtMinutes(view: Store, findings: Findings, { mint, checkpoint, kept }: TokenScope) {
  const isWhole = kept.exchanges === undefined && keepsTokenList(kept, mint);
  for (const { start, transactions } of await newest(view, { mint, seconds: MINUTE, count: MINUTES })) {
    if (start < checkpoint.rowsFromTime) continue;
    const from = await firstSlotFrom(view, start);
    const to = (await firstSlotFrom(view, start + MINUTE)) ?? checkpoint.slot + 1;
    const rows = from === undefined ? 0 : await view.count(tokenRows, { mint, slot: { gte: from, lt: to } });
    findings.require("sums of tokens", {
      holds: isWhole ? rows === transactions : rows <= transactions,
      what: `${mint}: the minute ${start} counts ${transactions} transactions, and ${rows} rows are stored.`,
      todo: `If the ingest has SOLANA_EXCHANGES, SOLANA_TOKENS or SOLANA_POOLS, set them for this command too. ${TODO}`,
    });
  }
}

async function lookAtLonger(
  view: Store,
  findings: Findings,
  { mint, seconds, parts, count }: { mint: string; seconds: number; parts: number; count: number },
): Promise<void> {
  for (const row of await newest(view, { mint, seconds, count })) {
    const { start } = row;
    const shorter = await view.find(candles, {
      filter: { mint, seconds: parts, start: { gte: start, lt: start + seconds } },
      order: [{ field: "start", direction: "asc" }],
    });
    const transactions = shorter.reduce((sum, each) => sum + each.transactions, 0);
    // A candle that waits for a contest about a price has two readings, and a longer one those of the first contest alone.
    const isContested = [row, ...shorter].some(({ ifRefused }) => ifRefused !== null);
    const isSame =
      transactions === row.transactions &&
      (isContested ||
        isSameCandle(candleOf(row), joinCandles(shorter.flatMap((part) => candleOf(part) ?? []))));
    findings.require("sums of tokens", {
      holds: isSame,
      what: `${mint}: the candle of ${seconds} s at ${start} is not what its ${shorter.length} candles of ${parts} s make.`,
      todo: TODO,
    });
  }
}

const candleOf = (row: CandleRow): Candle | undefined => toContested(row).candle;

/** Sums of USD are exact in any order, those of tokens but for rounding. */
function isSameCandle(a: Candle | undefined, b: Candle | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const { volumeToken: left, ...one } = a;
  const { volumeToken: right, ...other } = b;
  return JSON.stringify(one) === JSON.stringify(other) && Math.abs(left - right) <= 1e-9 * Math.abs(left);
}

async function lookAtHolders(view: Store, findings: Findings, mint: string): Promise<void> {
  const token = await view.get(tokens, { mint });
  if (token === undefined || token.holderCount > MOST_HOLDERS) return;
  const count = await view.count(holders, { token: token.number });
  findings.require("holders", {
    holds: count === token.holderCount,
    what: `${mint}: ${token.holderCount} holders are told, and ${count} are stored.`,
    todo: TODO,
  });
}

/** Consecutive rows: each segment is followed by the next, and counts the rows between its slots. */
async function lookAtSegments(
  view: Store,
  findings: Findings,
  { mint, checkpoint }: TokenScope,
): Promise<void> {
  const last = await view.find(segments, {
    filter: { list: `token ${mint}` },
    order: [{ field: "number", direction: "desc" }],
    limit: SEGMENTS,
    fields: ["number", "firstSlot", "lastSlot", "rows"],
  });
  for (const [i, { firstSlot, lastSlot, number, rows }] of last.entries()) {
    const next = last[i - 1];
    if (next !== undefined)
      findings.require("coverage", {
        holds: next.number === number + 1 && next.firstSlot > lastSlot,
        what: `${mint}: segment ${next.number} does not follow on segment ${number}.`,
        todo: TODO,
      });
    if (firstSlot < checkpoint.rowsFromSlot) continue;
    const stored = await view.count(tokenRows, { mint, slot: { gte: firstSlot, lte: lastSlot } });
    findings.require("coverage", {
      holds: stored === rows,
      what: `${mint}: segment ${number} counts ${rows} rows, and ${stored} are stored.`,
      todo: TODO,
    });
  }
}
