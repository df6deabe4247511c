import { deriveAddress } from "../chain/addresses.ts";
import { hex, join } from "../chain/bytes.ts";
import { type Caller, type ProgramFrame, readonly } from "../chain/execution.ts";
import { type Ledger, ProgramError } from "../chain/ledger.ts";
import { computeTransferFee, findTokenAccount } from "../chain/token-program.ts";
import type { ExchangeName } from "../expected.ts";

export type Pair<T> = readonly [T, T];

/** The same of a pool's first and second token. */
export function mapSides<T>(make: (side: 0 | 1) => T): Pair<T> {
  return [make(0), make(1)];
}

/** A pool of two tokens, in the order in which its exchange counts them. */
export interface Pool {
  /** What its other accounts are derived from. */
  readonly name: string;
  readonly address: string;
  readonly mints: Pair<string>;
  readonly vaults: Pair<string>;
  /** Signs for the vaults. */
  readonly authority: string;
  readonly feeBps: number;
}

export interface SwapOrder {
  readonly pool: Pool;
  readonly user: string;
  /** Token A goes in. */
  readonly aToB: boolean;
  readonly amountIn: bigint;
  /** The swap fails below this; default 0. */
  readonly minimumOut?: bigint;
  /** Picks one of the exchange's forms of the instruction. */
  readonly form: number;
}

export interface LiquidityOrder {
  readonly pool: Pool;
  readonly user: string;
  /** Adds this part of what the pool holds, or removes this part of what the user has; in 1/10,000. */
  readonly bps: number;
  readonly form: number;
}

/** An exchange's program, as far as anyone uses it. */
export interface Exchange {
  /** As in facts. */
  readonly program: string;
  readonly programId: string;
  readonly dex: ExchangeName;
  /** Returns what the user received. */
  swap(caller: Caller, order: SwapOrder): bigint;
  addLiquidity?(caller: Caller, order: LiquidityOrder): void;
  removeLiquidity?(caller: Caller, order: LiquidityOrder): void;
}

/** An account of a pool whose contents do not matter. */
export function sideAccount(pool: Pool, role: string): string {
  return deriveAddress("pool account", pool.name, role);
}

/** What a swap moves: the token and vault that go in, and those that come out. */
export interface Sides {
  readonly mintIn: string;
  readonly mintOut: string;
  readonly vaultIn: string;
  readonly vaultOut: string;
  readonly userIn: string;
  readonly userOut: string;
}

export function findSides(
  ledger: Ledger,
  { pool, user, aToB }: Pick<SwapOrder, "pool" | "user" | "aToB">,
): Sides {
  const [a, b] = aToB ? ([0, 1] as const) : ([1, 0] as const);
  const [mintIn, mintOut] = [pool.mints[a], pool.mints[b]];
  return {
    mintIn,
    mintOut,
    vaultIn: pool.vaults[a],
    vaultOut: pool.vaults[b],
    userIn: findTokenAccount(ledger, user, mintIn),
    userOut: findTokenAccount(ledger, user, mintOut),
  };
}

/** Anchor's error for a price that moved too far. */
const SLIPPAGE = 6_001;

export interface Quote {
  /** What the vault receives of the amount that is sent. */
  readonly received: bigint;
  /** The exchange's fee, part of what is received. */
  readonly fee: bigint;
  /** What leaves the other vault. */
  readonly out: bigint;
}

/** Constant product over the vaults' balances, the fee taken off what comes in. */
export function quote(ledger: Ledger, order: SwapOrder): Quote {
  const { mintIn, vaultIn, vaultOut } = findSides(ledger, order);
  const received = order.amountIn - computeTransferFee(ledger.mint(mintIn), order.amountIn);
  const fee = (received * BigInt(order.pool.feeBps) + 9_999n) / 10_000n;
  const [reserveIn, reserveOut] = [ledger.amountOf(vaultIn), ledger.amountOf(vaultOut)];
  const out = (reserveOut * (received - fee)) / (reserveIn + received - fee);
  if (out === 0n) throw new ProgramError(6_000, "nothing comes out");
  return { received, fee, out };
}

/** Checked once both transfers are made: a failed swap has its transfers among its inner instructions. */
export function checkSlippage({ minimumOut = 0n }: SwapOrder, received: bigint): void {
  if (received < minimumOut) throw new ProgramError(SLIPPAGE, "slippage");
}

/** Square root of the price of A in B, in 64 fractional bits. */
export function sqrtPriceX64(ledger: Ledger, { vaults }: Pool): bigint {
  return sqrt((ledger.amountOf(vaults[1]) << 128n) / (ledger.amountOf(vaults[0]) || 1n));
}

export function computeTick(ledger: Ledger, { vaults }: Pool): number {
  const price = Number(ledger.amountOf(vaults[1])) / Number(ledger.amountOf(vaults[0]) || 1n);
  return Math.floor(Math.log(price) / Math.log(1.0001));
}

export function sqrt(value: bigint): bigint {
  if (value < 2n) return value;
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

const EVENT_CPI = hex("e445a52e51cb9a1d");

/** An event as #[event_cpi] writes it: the program calls itself. */
export function emitByCall(
  frame: ProgramFrame,
  { programId, eventAuthority }: { programId: string; eventAuthority: string },
  fields: readonly Uint8Array[],
): void {
  frame.invoke({
    program: programId,
    accounts: [readonly(eventAuthority)],
    data: join(EVENT_CPI, ...fields),
  });
}
