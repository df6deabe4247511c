import {
  ASSOCIATED_TOKEN_PROGRAM,
  decodeAddress,
  findProgramAddress,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts";
import { flag, hex, i64, join, key, u64 } from "../chain/bytes.ts";
import { type AccountRef, type ProgramFrame, readonly, writable } from "../chain/execution.ts";
import { type Ledger, ProgramError } from "../chain/ledger.ts";
import { burn, findTokenAccount, mintTo, transferChecked } from "../chain/token-program.ts";
import { expectLiquidity, expectTrade } from "./expect.ts";
import { payIn, payOut, sizeAddition, sizeRemoval } from "./liquidity.ts";
import {
  type Exchange,
  emitByCall,
  type LiquidityOrder,
  mapSides,
  type Pool,
  type SwapOrder,
  sideAccount,
} from "./pool.ts";

const programId = "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA";
const FEE_PROGRAM = "pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ";
const self = {
  program: "pumpswap",
  programId,
  dex: "pumpfun",
  eventAuthority: findProgramAddress(["__event_authority"], programId),
} as const;

const CONFIG = findProgramAddress(["global_config"], programId);
const VOLUME = findProgramAddress(["global_volume_accumulator"], programId);
const FEE_CONFIG = findProgramAddress(["fee_config", decodeAddress(programId)], FEE_PROGRAM);
const FEE_RECIPIENT = deriveAddress("pumpswap", "protocol fee recipient");
const LP_BPS = 20n;
const PROTOCOL_BPS = 5n;
const CREATOR_BPS = 5n;

const computeFee = (amount: bigint, bps: bigint) => (amount * bps + 9_999n) / 10_000n;

/** The first mint is the base token, the second the quote. Fees are always in the quote. */
export const pumpswap: Exchange = {
  ...self,
  swap(caller, order) {
    const { ledger } = caller;
    const isBuy = !order.aToB;
    const sums = isBuy ? sizeBuy(ledger, order) : sizeSale(ledger, order);
    const data = isBuy
      ? join(hex("66063d1201daebea"), u64(sums.base), u64((order.amountIn * 105n) / 100n), flag(true))
      : join(hex("33e685a4017f83ad"), u64(sums.base), u64(0));
    caller.invoke({ program: programId, accounts: swapAccounts(ledger, order), data }, (frame) => {
      frame.log(`Instruction: ${isBuy ? "Buy" : "Sell"}`);
      const reserves = mapSides((side) => ledger.amountOf(order.pool.vaults[side]));
      const held = mapSides((side) =>
        ledger.amountOf(findTokenAccount(ledger, order.user, order.pool.mints[side])),
      );
      move(frame, order, sums);
      emitTrade(frame, order, { ...sums, reserves, held });
      if (sums.received < (order.minimumOut ?? 0n)) throw new ProgramError(6_004, "slippage");
      const { pool, user, aToB } = order;
      const [amountIn, amountOut] = isBuy ? [sums.throughPool, sums.base] : [sums.base, sums.throughPool];
      expectTrade(frame, self, { pool, user, aToB, amountIn, amountOut });
    });
    return sums.received;
  },
  addLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const lp = pumpLpMint(pool);
    const supply = ledger.mint(lp).supply;
    const { shares, sent } = sizeAddition(ledger, order, supply);
    const data = join(hex("f223c68952e1f2b6"), ...[shares, sent[0] * 2n, sent[1] * 2n].map(u64));
    caller.invoke({ program: programId, accounts: liquidityAccounts(ledger, order), data }, (frame) => {
      frame.log("Instruction: Deposit");
      const event = startLiquidityEvent(frame, order, {
        shares,
        limits: mapSides((side) => sent[side] * 2n),
      });
      payIn(frame, order, sent);
      mintTo(frame, {
        mint: lp,
        account: findTokenAccount(ledger, user, lp),
        authority: pool.address,
        amount: shares,
      });
      emitByCall(frame, self, [hex("78f83d531f8e6b90"), ...event(sent)]);
      expectLiquidity(frame, self, { kind: "add_liquidity", pool, user, amounts: sent });
    });
  },
  removeLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const lp = pumpLpMint(pool);
    const account = findTokenAccount(ledger, user, lp);
    const { shares, amounts } = sizeRemoval(ledger, order, {
      held: ledger.amountOf(account),
      total: ledger.mint(lp).supply,
    });
    const data = join(hex("b712469c946da122"), u64(shares), u64(0), u64(0));
    caller.invoke({ program: programId, accounts: liquidityAccounts(ledger, order), data }, (frame) => {
      frame.log("Instruction: Withdraw");
      const event = startLiquidityEvent(frame, order, { shares, limits: [0n, 0n] });
      payOut(frame, order, amounts);
      burn(frame, { mint: lp, account, authority: user, amount: shares });
      emitByCall(frame, self, [hex("1609851aa02c47c0"), ...event(amounts)]);
      expectLiquidity(frame, self, { kind: "remove_liquidity", pool, user, amounts });
    });
  },
};

/** Of Token-2022, as PumpSwap makes them. */
export function pumpLpMint(pool: Pool): string {
  return sideAccount(pool, "lp mint");
}

interface Sums {
  readonly base: bigint;
  /** By the product alone. */
  readonly quote: bigint;
  readonly lpFee: bigint;
  readonly protocolFee: bigint;
  readonly creatorFee: bigint;
  /** Quote that the pool's vault receives or pays, fees that it pays included. */
  readonly throughPool: bigint;
  /** Quote that the user pays or receives. */
  readonly user: bigint;
  readonly received: bigint;
}

function sizeBuy(ledger: Ledger, { pool, amountIn }: SwapOrder): Sums {
  const [base, quote] = mapSides((side) => ledger.amountOf(pool.vaults[side]));
  const budget = (amountIn * 10_000n) / (10_000n + LP_BPS + PROTOCOL_BPS + CREATOR_BPS);
  const out = (base * budget) / (quote + budget);
  if (out === 0n) throw new ProgramError(6_000, "nothing comes out");
  const needed = (quote * out + base - out - 1n) / (base - out);
  const fees = computeFees(needed);
  const throughPool = needed + fees.lpFee;
  return {
    base: out,
    quote: needed,
    ...fees,
    throughPool,
    user: throughPool + fees.protocolFee + fees.creatorFee,
    received: out,
  };
}

function sizeSale(ledger: Ledger, { pool, amountIn }: SwapOrder): Sums {
  const [base, quote] = mapSides((side) => ledger.amountOf(pool.vaults[side]));
  const out = (quote * amountIn) / (base + amountIn);
  const fees = computeFees(out);
  const throughPool = out - fees.lpFee;
  const received = throughPool - fees.protocolFee - fees.creatorFee;
  if (received <= 0n) throw new ProgramError(6_000, "nothing comes out");
  return { base: amountIn, quote: out, ...fees, throughPool, user: received, received };
}

function computeFees(quote: bigint) {
  return {
    lpFee: computeFee(quote, LP_BPS),
    protocolFee: computeFee(quote, PROTOCOL_BPS),
    creatorFee: computeFee(quote, CREATOR_BPS),
  };
}

function move(frame: ProgramFrame, { pool, user, aToB }: SwapOrder, sums: Sums): void {
  const { ledger } = frame;
  const [userBase, userQuote] = mapSides((side) => findTokenAccount(ledger, user, pool.mints[side]));
  const [poolBase, poolQuote] = pool.vaults;
  const fees = [
    { to: findTokenAccount(ledger, FEE_RECIPIENT, pool.mints[1]), amount: sums.protocolFee },
    { to: findTokenAccount(ledger, creatorAuthority(pool), pool.mints[1]), amount: sums.creatorFee },
  ];
  if (aToB) {
    transferChecked(frame, { from: userBase, to: poolBase, authority: user, amount: sums.base });
    transferChecked(frame, { from: poolQuote, to: userQuote, authority: pool.address, amount: sums.user });
    for (const fee of fees) transferChecked(frame, { ...fee, from: poolQuote, authority: pool.address });
  } else {
    transferChecked(frame, { from: poolBase, to: userBase, authority: pool.address, amount: sums.base });
    transferChecked(frame, { from: userQuote, to: poolQuote, authority: user, amount: sums.throughPool });
    for (const fee of fees) transferChecked(frame, { ...fee, from: userQuote, authority: user });
  }
}

function creatorAuthority({ name }: Pool): string {
  return deriveAddress("creator vault", name);
}

/** Who has to have an account of the quote before the first trade. */
export function pumpswapOwners(pool: Pool): readonly string[] {
  return [FEE_RECIPIENT, creatorAuthority(pool)];
}

function swapAccounts(ledger: Ledger, { pool, user, aToB }: SwapOrder): AccountRef[] {
  const programs = pool.mints.map((mint) => readonly(ledger.mint(mint).program));
  return [
    ...[pool.address, user].map(writable),
    readonly(CONFIG),
    ...pool.mints.map(readonly),
    ...pool.mints.map((mint) => writable(findTokenAccount(ledger, user, mint))),
    ...pool.vaults.map(writable),
    readonly(FEE_RECIPIENT),
    writable(findTokenAccount(ledger, FEE_RECIPIENT, pool.mints[1])),
    ...programs,
    ...[SYSTEM_PROGRAM, ASSOCIATED_TOKEN_PROGRAM, self.eventAuthority, programId].map(readonly),
    writable(findTokenAccount(ledger, creatorAuthority(pool), pool.mints[1])),
    readonly(creatorAuthority(pool)),
    ...(aToB ? [] : [writable(VOLUME), writable(deriveAddress("pumpswap volume", user))]),
    ...[FEE_CONFIG, FEE_PROGRAM].map(readonly),
  ];
}

function liquidityAccounts(ledger: Ledger, { pool, user }: LiquidityOrder): AccountRef[] {
  const lp = pumpLpMint(pool);
  return [
    writable(pool.address),
    readonly(CONFIG),
    writable(user),
    ...pool.mints.map(readonly),
    writable(lp),
    ...[...pool.mints, lp].map((mint) => writable(findTokenAccount(ledger, user, mint))),
    ...pool.vaults.map(writable),
    ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM, self.eventAuthority, programId].map(readonly),
  ];
}

type Before = Record<"reserves" | "held", readonly [bigint, bigint]>;

function emitTrade(
  frame: ProgramFrame,
  { pool, user, aToB, amountIn }: SwapOrder,
  sums: Sums & Before,
): void {
  const { ledger } = frame;
  const afterLpFee = aToB ? sums.quote - sums.lpFee : sums.quote + sums.lpFee;
  emitByCall(frame, self, [
    hex(aToB ? "3e2f370aa503dc2a" : "67f4521f2cf57777"),
    i64(frame.time),
    ...[sums.base, aToB ? 0n : (amountIn * 105n) / 100n, ...sums.held, ...sums.reserves, sums.quote].map(u64),
    ...[LP_BPS, sums.lpFee, PROTOCOL_BPS, sums.protocolFee, afterLpFee, sums.user].map(u64),
    ...[pool.address, user].map(key),
    ...mapSides((side) => key(findTokenAccount(ledger, user, pool.mints[side]))),
    ...[FEE_RECIPIENT, findTokenAccount(ledger, FEE_RECIPIENT, pool.mints[1])].map(key),
    key(deriveAddress("creator", pool.name)),
    ...[CREATOR_BPS, sums.creatorFee].map(u64),
    // Volume of the user, in events of buys only: not simulated.
    ...(aToB ? [] : [flag(true), u64(0), u64(0), u64(0), i64(frame.time)]),
  ]);
}

/** The event's fields before the transfers; amounts come last. */
function startLiquidityEvent(
  frame: ProgramFrame,
  { pool, user }: LiquidityOrder,
  { shares, limits }: { shares: bigint; limits: readonly [bigint, bigint] },
): (amounts: readonly [bigint, bigint]) => Uint8Array[] {
  const { ledger, time } = frame;
  const lp = pumpLpMint(pool);
  const accounts = mapSides((side) => findTokenAccount(ledger, user, pool.mints[side]));
  const held = accounts.map((account) => ledger.amountOf(account));
  const reserves = pool.vaults.map((vault) => ledger.amountOf(vault));
  const supply = ledger.mint(lp).supply;
  return (amounts) => [
    i64(time),
    ...[shares, ...limits, ...held, ...reserves, ...amounts, supply].map(u64),
    ...[pool.address, user, ...accounts, findTokenAccount(ledger, user, lp)].map(key),
  ];
}
