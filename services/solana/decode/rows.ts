import { readU64 } from "./bytes.ts";
import { readCurveTrade, TRADE_EVENT } from "./curve.ts";
import { disagreementOf, findEvent, type Moved } from "./events.ts";
import { endOfCalls } from "./flatten.ts";
import type { Found, Laid } from "./lay.ts";
import type { Disagreement, LiquidityChange, Trade } from "./model.ts";
import { type TouchedPool, touchedPools } from "./pools.ts";
import { accountAt, type Beneath, type Side } from "./sides.ts";

type PoolRow = Trade | LiquidityChange;

export interface Told {
  readonly rows: PoolRow[];
  readonly disagreements: Disagreement[];
}

/** Adds what an exchange's instruction tells: a row of each pool, and where its events say otherwise. */
export function tellInstruction(laid: Laid, found: Found, told: Told): void {
  const { at, program, instruction } = found;
  const end = endOfCalls(laid.flat, at, (other) => laid.found.some((one) => one.at === other));
  const beneath = { found, end };
  const disagree = (what: string) =>
    told.disagreements.push({ instructionIndex: at, program: program.layout.name, what });
  if (isFeeCollection(laid, found)) return;
  let leg = 0;
  for (const pool of touchedPools(laid, beneath)) {
    if (typeof pool === "string") {
      disagree(pool);
      // The next leg is the same one whether this one is known or not.
      leg++;
      continue;
    }
    if (pool.disagreement !== undefined) disagree(pool.disagreement);
    const rows = rowsOf(laid, found, { pool, leg });
    if (rows.length === 0 && instruction.layout.effect === "trade") {
      disagree(`${instruction.layout.name} moved no tokens through the pool`);
    }
    told.rows.push(...rows);
    const first = rows[0];
    if (first !== undefined) {
      const what = checkEvent(laid, beneath, { pool, leg, row: first });
      if (what !== undefined) disagree(what);
    }
    leg += Math.max(1, rows.length);
  }
}

/** Without liquidity, an instruction that removes some only pays the position's fees. */
function isFeeCollection(laid: Laid, { at, instruction }: Found): boolean {
  const { liquidityAt } = instruction.layout;
  const data = laid.data[at];
  if (liquidityAt === undefined || data === undefined || data.length < liquidityAt + 16) return false;
  return readU64(data, liquidityAt) === 0n && readU64(data, liquidityAt + 8) === 0n;
}

interface Leg {
  readonly pool: TouchedPool;
  readonly leg: number;
}

function rowsOf(laid: Laid, found: Found, { pool, leg }: Leg): PoolRow[] {
  const { effect } = found.instruction.layout;
  const place = placeOf(laid, found, { pool, leg });
  if (effect === "trade") {
    const trade = tradeOf(pool.sides);
    return trade === undefined ? [] : [{ kind: "trade", ...place, ...trade }];
  }
  const rows: PoolRow[] = [];
  for (const kind of ["remove_liquidity", "add_liquidity"] as const) {
    if (effect !== kind && effect !== "rebalance") continue;
    const [amountA, amountB] = amountsOf(pool, kind === "add_liquidity" ? "in" : "out");
    if (amountA === 0n && amountB === 0n) continue;
    const isSecond = effect === "rebalance" && kind === "add_liquidity";
    rows.push({ kind, ...place, leg: leg + (isSecond ? 1 : 0), ...tokensOf(pool), amountA, amountB });
  }
  return rows;
}

function amountsOf({ sides }: TouchedPool, way: "in" | "out"): [bigint, bigint] {
  return [sides[0][way], sides[1]?.[way] ?? 0n];
}

function tokensOf({
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
function placeOf(laid: Laid, found: Found, { pool, leg }: Leg) {
  const user = accountAt(laid, found, found.instruction.layout.user);
  const { dex, name } = found.program.layout;
  return {
    instructionIndex: found.at,
    leg,
    dex,
    program: name,
    pool: pool.address,
    account: laid.keys[user !== undefined && user < laid.signerCount ? user : 0] as string,
  };
}

/** The side that gained is what went in. Undefined where nothing moved, or both sides the same way. */
function tradeOf(sides: TouchedPool["sides"]) {
  const [first, second] = sides;
  if (second === undefined) return undefined;
  const gained = [first.in - first.out, second.in - second.out] as const;
  if (gained[0] === 0n && gained[1] === 0n) return undefined;
  if (gained[0] >= 0n && gained[1] <= 0n) return swapped(first, second);
  if (gained[0] <= 0n && gained[1] >= 0n) return swapped(second, first);
  return undefined;
}

function swapped(into: Side, out: Side) {
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
  laid: Laid,
  { found, end }: Beneath,
  { pool, leg, row }: Leg & { row: PoolRow },
): string | undefined {
  const moved = movedOf(pool, row);
  if (found.program.layout.name === "pump-fun") return checkCurveEvent(laid, { found, end }, moved);
  const { event } = found.instruction;
  if (event === undefined) return undefined;
  const data = findEvent(laid, { found, end, discriminator: event.discriminator, nth: leg });
  return data === undefined ? undefined : disagreementOf(event.layout, data, moved);
}

function movedOf(pool: TouchedPool, row: PoolRow): Moved {
  if (row.kind !== "trade") {
    const amounts = [row.amountA, row.amountB] as const;
    return { inOut: amounts, vaults: amounts };
  }
  const isFirstIn = row.tokenIn === pool.sides[0].token.mint;
  const inOut = [row.amountIn, row.amountOut] as const;
  return { inOut, vaults: isFirstIn ? inOut : [row.amountOut, row.amountIn] };
}

/** Its event tells the token's side first; lamports were compared when they were read. */
function checkCurveEvent(laid: Laid, { found, end }: Beneath, { vaults }: Moved): string | undefined {
  const data = findEvent(laid, { found, end, discriminator: TRADE_EVENT, nth: 0 });
  if (data === undefined) return undefined;
  const { amount, quoteAmount } = readCurveTrade(data);
  if (vaults[0] === amount && vaults[1] === quoteAmount) return undefined;
  return `TradeEvent tells ${amount} and ${quoteAmount}, the curve moved ${vaults[0]} and ${vaults[1]}`;
}
