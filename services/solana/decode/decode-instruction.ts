import { readU64 } from "./bytes.ts";
import { readCurveTrade, TRADE_EVENT } from "./curve.ts";
import { compareEvent, findEvent, type MovedAmounts } from "./events.ts";
import { findScopeEnd } from "./flatten.ts";
import type { Disagreement, LiquidityChange, Trade } from "./model.ts";
import type { ExchangeCall, ParsedTransaction } from "./parse-transaction.ts";
import { findTouchedPools, type TouchedPool } from "./pools.ts";
import { type InstructionScope, readAccountIndex, type Side } from "./sides.ts";

type PoolEventRow = Trade | LiquidityChange;

export interface DecodedRows {
  readonly rows: PoolEventRow[];
  readonly disagreements: Disagreement[];
}

/** Adds what an exchange's instruction tells: a row of each pool, and where its events say otherwise. */
export function decodeInstruction(parsed: ParsedTransaction, call: ExchangeCall, decoded: DecodedRows): void {
  const { instructionIndex, program, instruction } = call;
  const end = findScopeEnd(parsed.flattened, instructionIndex, (other) =>
    parsed.exchangeCalls.some((one) => one.instructionIndex === other),
  );
  const scope = { call, end };
  const disagree = (reason: string) =>
    decoded.disagreements.push({ instructionIndex, program: program.layout.name, reason });
  if (isFeeCollection(parsed, call)) return;
  let leg = 0;
  for (const pool of findTouchedPools(parsed, scope)) {
    if (typeof pool === "string") {
      disagree(pool);
      // The next leg is the same one whether this one is known or not.
      leg++;
      continue;
    }
    if (pool.disagreement !== undefined) disagree(pool.disagreement);
    const rows = buildRows(parsed, call, { pool, leg });
    if (rows.length === 0 && instruction.layout.effect === "trade") {
      disagree(`${instruction.layout.name} moved no tokens through the pool`);
    }
    decoded.rows.push(...rows);
    const first = rows[0];
    if (first !== undefined) {
      const reason = checkEvent(parsed, scope, { pool, leg, row: first });
      if (reason !== undefined) disagree(reason);
    }
    leg += Math.max(1, rows.length);
  }
}

/** Without liquidity, an instruction that removes some only pays the position's fees. */
function isFeeCollection(
  parsed: ParsedTransaction,
  { instructionIndex, instruction }: ExchangeCall,
): boolean {
  const { liquidityOffset } = instruction.layout;
  const data = parsed.instructionData[instructionIndex];
  if (liquidityOffset === undefined || data === undefined || data.length < liquidityOffset + 16) return false;
  return readU64(data, liquidityOffset) === 0n && readU64(data, liquidityOffset + 8) === 0n;
}

interface Leg {
  readonly pool: TouchedPool;
  readonly leg: number;
}

function buildRows(parsed: ParsedTransaction, call: ExchangeCall, { pool, leg }: Leg): PoolEventRow[] {
  const { effect } = call.instruction.layout;
  const place = buildRowBase(parsed, call, { pool, leg });
  if (effect === "trade") {
    const trade = buildTrade(pool.sides);
    return trade === undefined ? [] : [{ kind: "trade", ...place, ...trade }];
  }
  const rows: PoolEventRow[] = [];
  for (const kind of ["remove_liquidity", "add_liquidity"] as const) {
    if (effect !== kind && effect !== "rebalance") continue;
    const [amountA, amountB] = pickAmounts(pool, kind === "add_liquidity" ? "in" : "out");
    if (amountA === 0n && amountB === 0n) continue;
    const isSecond = effect === "rebalance" && kind === "add_liquidity";
    rows.push({ kind, ...place, leg: leg + (isSecond ? 1 : 0), ...pickTokens(pool), amountA, amountB });
  }
  return rows;
}

function pickAmounts({ sides }: TouchedPool, way: "in" | "out"): [bigint, bigint] {
  return [sides[0][way], sides[1]?.[way] ?? 0n];
}

function pickTokens({
  sides: [first, second],
}: TouchedPool): Pick<LiquidityChange, "tokenA" | "decimalsA" | "tokenB" | "decimalsB"> {
  return {
    tokenA: first.token.mint,
    decimalsA: first.token.decimals,
    tokenB: second?.token.mint ?? "",
    decimalsB: second?.token.decimals ?? 0,
  };
}

/**
 * Who trades is the account that the instruction names for it, where that signed the transaction itself. Routers have
 * accounts of their own trade: then it is the fee payer.
 */
function buildRowBase(parsed: ParsedTransaction, call: ExchangeCall, { pool, leg }: Leg) {
  const user = readAccountIndex(parsed, call, call.instruction.layout.user);
  const { dex, name } = call.program.layout;
  return {
    instructionIndex: call.instructionIndex,
    leg,
    dex,
    program: name,
    pool: pool.address,
    account: parsed.keys[user !== undefined && user < parsed.signerCount ? user : 0] as string,
  };
}

/** The side that gained is what went in. Undefined where nothing moved, or both sides the same way. */
function buildTrade(sides: TouchedPool["sides"]) {
  const [first, second] = sides;
  if (second === undefined) return undefined;
  const gained = [first.in - first.out, second.in - second.out] as const;
  if (gained[0] === 0n && gained[1] === 0n) return undefined;
  if (gained[0] >= 0n && gained[1] <= 0n) return buildTradeSides(first, second);
  if (gained[0] <= 0n && gained[1] >= 0n) return buildTradeSides(second, first);
  return undefined;
}

function buildTradeSides(into: Side, out: Side) {
  return {
    tokenIn: into.token.mint,
    amountIn: into.in,
    decimalsIn: into.token.decimals,
    reserveIn: into.reserve,
    tokenOut: out.token.mint,
    amountOut: out.out,
    decimalsOut: out.token.decimals,
    reserveOut: out.reserve,
  };
}

function checkEvent(
  parsed: ParsedTransaction,
  { call, end }: InstructionScope,
  { pool, leg, row }: Leg & { row: PoolEventRow },
): string | undefined {
  const moved = listMovedAmounts(pool, row);
  if (call.program.layout.name === "pump-fun") return checkCurveEvent(parsed, { call, end }, moved);
  const { event } = call.instruction;
  if (event === undefined) return undefined;
  const data = findEvent(parsed, { call, end, discriminator: event.discriminator, nth: leg });
  return data === undefined ? undefined : compareEvent(event.layout, data, moved);
}

function listMovedAmounts(pool: TouchedPool, row: PoolEventRow): MovedAmounts {
  if (row.kind !== "trade") {
    const amounts = [row.amountA, row.amountB] as const;
    return { inOut: amounts, vaults: amounts };
  }
  const isFirstIn = row.tokenIn === pool.sides[0].token.mint;
  const inOut = [row.amountIn, row.amountOut] as const;
  return { inOut, vaults: isFirstIn ? inOut : [row.amountOut, row.amountIn] };
}

/** Its event tells the token's side first; lamports were compared when they were read. */
function checkCurveEvent(
  parsed: ParsedTransaction,
  { call, end }: InstructionScope,
  { vaults }: MovedAmounts,
): string | undefined {
  const data = findEvent(parsed, { call, end, discriminator: TRADE_EVENT, nth: 0 });
  if (data === undefined) return undefined;
  const { amount, quoteAmount } = readCurveTrade(data);
  if (vaults[0] === amount && vaults[1] === quoteAmount) return undefined;
  return `TradeEvent tells ${amount} and ${quoteAmount}, the curve moved ${vaults[0]} and ${vaults[1]}`;
}
