import { readU64 } from "./bytes.ts";
import { compareCurveEvent } from "./curve-sides.ts";
import { compareEvent, findEvent, type MovedAmounts } from "./events.ts";
import type { Disagreement, LiquidityChange, Trade } from "./model.ts";
import { findTouchedPools, type TouchedPool } from "./pools.ts";
import type { Side } from "./sides.ts";
import {
  type ExchangeCall,
  type InstructionScope,
  openScope,
  type ParsedTransaction,
  readAccountIndex,
} from "./transaction/parse-transaction.ts";

type PoolEventRow = Trade | LiquidityChange;

export interface DecodedRows {
  readonly rows: PoolEventRow[];
  readonly disagreements: Disagreement[];
}

/** Adds the rows of an exchange's instruction, one for each pool, and where its events disagree with them. */
export function decodeInstruction(parsed: ParsedTransaction, call: ExchangeCall, decoded: DecodedRows): void {
  const { instructionIndex, program, instruction } = call;
  const scope = openScope(parsed, call);
  const disagree = (reason: string) =>
    decoded.disagreements.push({ instructionIndex, program: program.layout.name, reason });
  if (isFeeCollection(scope)) return;
  let leg = 0;
  for (const pool of findTouchedPools(scope)) {
    if (typeof pool === "string") {
      disagree(pool);
      // The next leg has the same number whether this one is known or not.
      leg++;
      continue;
    }
    if (pool.disagreement !== undefined) disagree(pool.disagreement);
    const rows = buildRows(scope, { pool, leg });
    if (rows.length === 0 && instruction.layout.effect === "trade") {
      disagree(`${instruction.layout.name} moved no tokens through the pool`);
    }
    decoded.rows.push(...rows);
    const first = rows[0];
    if (first !== undefined) {
      const reason = checkEvent(scope, { pool, leg, row: first });
      if (reason !== undefined) disagree(reason);
    }
    leg += Math.max(1, rows.length);
  }
}

/** A removal of no liquidity only pays the position's fees. */
function isFeeCollection({ parsed, call }: InstructionScope): boolean {
  const { liquidityOffset } = call.instruction.layout;
  const data = parsed.instructionData[call.instructionIndex];
  if (liquidityOffset === undefined || data === undefined || data.length < liquidityOffset + 16) return false;
  return readU64(data, liquidityOffset) === 0n && readU64(data, liquidityOffset + 8) === 0n;
}

/** What all rows of a pool in an instruction have. */
type RowBase = Pick<Trade, "instructionIndex" | "dex" | "program" | "pool" | "account">;

interface Leg {
  readonly pool: TouchedPool;
  readonly leg: number;
}

function buildRows(scope: InstructionScope, { pool, leg }: Leg): PoolEventRow[] {
  const { call } = scope;
  const { effect } = call.instruction.layout;
  const base: RowBase = {
    instructionIndex: call.instructionIndex,
    dex: call.program.layout.dex,
    program: call.program.layout.name,
    pool: pool.address,
    account: findAccount(scope),
  };
  if (effect === "trade") {
    const [into, out] = orderSides(pool.sides) ?? [];
    return into === undefined || out === undefined ? [] : [buildTrade(base, { leg, into, out })];
  }
  const [first, second] = pool.sides;
  const rows: PoolEventRow[] = [];
  for (const kind of ["remove_liquidity", "add_liquidity"] as const) {
    if (effect !== kind && effect !== "rebalance") continue;
    const [amountA, amountB] = pickAmounts(pool, kind === "add_liquidity" ? "in" : "out");
    if (amountA === 0n && amountB === 0n) continue;
    const isSecond = effect === "rebalance" && kind === "add_liquidity";
    rows.push({
      kind,
      instructionIndex: base.instructionIndex,
      leg: leg + (isSecond ? 1 : 0),
      dex: base.dex,
      program: base.program,
      pool: base.pool,
      account: base.account,
      tokenA: first.token.mint,
      amountA,
      decimalsA: first.token.decimals,
      tokenB: second?.token.mint ?? "",
      amountB,
      decimalsB: second?.token.decimals ?? 0,
    });
  }
  return rows;
}

function pickAmounts({ sides }: TouchedPool, direction: "in" | "out"): [bigint, bigint] {
  return [sides[0][direction], sides[1]?.[direction] ?? 0n];
}

/**
 * The trader is the account that the instruction names, if it signed the transaction itself. Routers trade with accounts
 * of their own: then it is the fee payer.
 */
function findAccount(scope: InstructionScope): string {
  const { parsed, call } = scope;
  const user = readAccountIndex(scope, call.instruction.layout.user);
  return parsed.keys[user !== undefined && user < parsed.signerCount ? user : 0] as string;
}

/** The side that gained is what went in, and comes first. Undefined where nothing moved, or both sides the same way. */
function orderSides([first, second]: TouchedPool["sides"]): [Side, Side] | undefined {
  if (second === undefined) return undefined;
  const gained = [first.in - first.out, second.in - second.out] as const;
  if (gained[0] === 0n && gained[1] === 0n) return undefined;
  if (gained[0] >= 0n && gained[1] <= 0n) return [first, second];
  if (gained[0] <= 0n && gained[1] >= 0n) return [second, first];
  return undefined;
}

function buildTrade(base: RowBase, { leg, into, out }: { leg: number; into: Side; out: Side }): Trade {
  return {
    kind: "trade",
    instructionIndex: base.instructionIndex,
    leg,
    dex: base.dex,
    program: base.program,
    pool: base.pool,
    account: base.account,
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
  scope: InstructionScope,
  { pool, leg, row }: Leg & { row: PoolEventRow },
): string | undefined {
  const { program, instruction } = scope.call;
  const moved = listMovedAmounts(pool, row);
  if (program.layout.name === "pump-fun") return compareCurveEvent(scope, moved.vaults);
  const { event } = instruction;
  if (event === undefined) return undefined;
  const data = findEvent(scope, { discriminator: event.discriminator, nth: leg });
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
