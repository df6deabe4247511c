import {
  ASSOCIATED_TOKEN_PROGRAM,
  decodeAddress,
  findProgramAddress,
  TOKEN_2022_PROGRAM,
} from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress, SYSTEM_PROGRAM } from "../chain/addresses.ts";
import { flag, hex, i64, join, key, text, u32, u64, zeros } from "../chain/bytes.ts";
import { type AccountRef, type ProgramFrame, readonly, writable } from "../chain/execution.ts";
import { type Ledger, ProgramError } from "../chain/ledger.ts";
import {
  findTokenAccount,
  transfer,
  transferChecked,
  transferLamports,
  WRAPPED_SOL,
} from "../chain/token-program.ts";
import { expectTrade } from "./expect.ts";
import { type Exchange, emitByCall, findSides, type Pool, type SwapOrder } from "./pool.ts";

export const PUMP_PROGRAM = "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P";
const FEE_PROGRAM = "pfeeUxB6jkeY1Hxd7CsFCAjcbHA9rWtchMGdZ6VojVZ";
const self = {
  program: "pump-fun",
  programId: PUMP_PROGRAM,
  dex: "pumpfun",
  eventAuthority: findProgramAddress(["__event_authority"], PUMP_PROGRAM),
} as const;

const GLOBAL = findProgramAddress(["global"], PUMP_PROGRAM);
const FEE_RECIPIENT = "62qc2CNXwrYqQScmEdiZFFAnJR262PxWEuNQtxfafNgV";
const BUYBACK_RECIPIENT = deriveAddress("pump.fun", "buyback");
const VOLUME = findProgramAddress(["global_volume_accumulator"], PUMP_PROGRAM);
const FEE_CONFIG = findProgramAddress(["fee_config", decodeAddress(PUMP_PROGRAM)], FEE_PROGRAM);
const FEE_BPS = 95n;
const CREATOR_FEE_BPS = 30n;

/** Where a curve starts: what is sold on it, and the reserves that its price pretends. */
export const CURVE = {
  supply: 1_000_000_000_000_000n,
  realTokens: 793_100_000_000_000n,
  virtualTokens: 1_073_000_000_000_000n,
  virtualSol: 30_000_000_000n,
  /** Of a curve in USDC, whose units are a thousandth of SOL's. */
  virtualUsdc: 4_500_000_000n,
} as const;

/** A curve's first mint is the token, its second the quote: wrapped SOL where lamports move. */
export function curveAddress(mint: string): string {
  return findProgramAddress(["bonding-curve", decodeAddress(mint)], PUMP_PROGRAM);
}

interface Reserves {
  readonly virtualQuote: bigint;
  readonly virtualTokens: bigint;
  readonly realQuote: bigint;
  readonly realTokens: bigint;
}

/** What lies on the curve, of all that was ever traded on it. */
export function readReserves(ledger: Ledger, { name, mints }: Pool): Reserves {
  const realQuote = ledger.numberOf(`curve/${name}/quote`);
  const sold = ledger.numberOf(`curve/${name}/sold`);
  const start = mints[1] === WRAPPED_SOL ? CURVE.virtualSol : CURVE.virtualUsdc;
  return {
    virtualQuote: start + realQuote,
    virtualTokens: CURVE.virtualTokens - sold,
    realQuote,
    realTokens: CURVE.realTokens - sold,
  };
}

/** `aToB` sells the token for the quote; an amount in the quote buys it. */
export const pumpFun: Exchange = {
  ...self,
  swap(caller, order) {
    const isBuy = !order.aToB;
    const isNew = order.pool.mints[1] !== WRAPPED_SOL;
    const { ledger } = caller;
    const sums = isBuy ? sizeBuy(ledger, order) : sizeSale(ledger, order);
    const name = `${isBuy ? "buy" : "sell"}${isNew ? "_v2" : ""}`;
    const data = join(
      hex(DISCRIMINATORS[name] ?? ""),
      u64(sums.tokens),
      u64(isBuy ? (order.amountIn * 105n) / 100n : 0n),
      ...(name === "buy" ? [flag(true)] : []),
    );
    const accounts = isNew ? accountsV2(ledger, order) : accountsV1(ledger, order);
    caller.invoke({ program: PUMP_PROGRAM, accounts, data }, (frame) => {
      frame.log(`Instruction: ${isBuy ? "Buy" : "Sell"}${isNew ? "V2" : ""}`);
      if (isBuy) buy(frame, order, sums);
      else sell(frame, order, sums);
      emitTrade(frame, order, { ...sums, ixName: name.replace("_v2", "") });
      if (sums.received < (order.minimumOut ?? 0n)) throw new ProgramError(6_002, "slippage");
      const { pool, user, aToB } = order;
      const [amountIn, amountOut] = isBuy ? [sums.quote, sums.tokens] : [sums.tokens, sums.quote];
      const reserves = () => {
        const { realQuote, realTokens } = readReserves(ledger, pool);
        return isBuy ? ([realQuote, realTokens] as const) : ([realTokens, realQuote] as const);
      };
      expectTrade(frame, self, { pool, user, aToB, amountIn, amountOut, reserves });
    });
    return sums.received;
  },
};

const DISCRIMINATORS: Readonly<Record<string, string>> = {
  buy: "66063d1201daebea",
  sell: "33e685a4017f83ad",
  buy_v2: "b817ee6167c5d33d",
  sell_v2: "5df6823ce7e940b2",
};

/** What the curve itself receives or pays; fees are beside it. */
interface Sums {
  readonly tokens: bigint;
  readonly quote: bigint;
  readonly fee: bigint;
  readonly creatorFee: bigint;
  readonly received: bigint;
}

function sizeBuy(ledger: Ledger, { pool, amountIn }: SwapOrder): Sums {
  const { virtualQuote, virtualTokens, realTokens } = readReserves(ledger, pool);
  const quote = (amountIn * 10_000n) / (10_000n + FEE_BPS + CREATOR_FEE_BPS);
  const tokens = (virtualTokens * quote) / (virtualQuote + quote);
  if (tokens === 0n || tokens > realTokens) throw new ProgramError(6_005, "the curve is complete");
  return { tokens, quote, ...computeFees(quote), received: tokens };
}

function sizeSale(ledger: Ledger, { pool, amountIn }: SwapOrder): Sums {
  const { virtualQuote, virtualTokens, realQuote } = readReserves(ledger, pool);
  const quote = (virtualQuote * amountIn) / (virtualTokens + amountIn);
  if (quote === 0n || quote > realQuote) throw new ProgramError(6_003, "too little on the curve");
  const fees = computeFees(quote);
  return { tokens: amountIn, quote, ...fees, received: quote - fees.fee - fees.creatorFee };
}

function computeFees(quote: bigint) {
  return {
    fee: (quote * FEE_BPS + 9_999n) / 10_000n,
    creatorFee: (quote * CREATOR_FEE_BPS + 9_999n) / 10_000n,
  };
}

function recordTrade(ledger: Ledger, { name }: Pool, change: { quote: bigint; sold: bigint }): void {
  ledger.numbers.set(`curve/${name}/quote`, ledger.numberOf(`curve/${name}/quote`) + change.quote);
  ledger.numbers.set(`curve/${name}/sold`, ledger.numberOf(`curve/${name}/sold`) + change.sold);
}

function buy(frame: ProgramFrame, order: SwapOrder, { tokens, quote, fee, creatorFee }: Sums): void {
  const { pool, user } = order;
  const { userOut, vaultOut, userIn, vaultIn } = findSides(frame.ledger, order);
  moveToken(frame, pool, { from: vaultOut, to: userOut, authority: pool.address, amount: tokens });
  recordTrade(frame.ledger, pool, { quote, sold: tokens });
  if (pool.mints[1] === WRAPPED_SOL) {
    transferLamports(frame, { from: user, to: pool.address, lamports: quote });
    transferLamports(frame, { from: user, to: FEE_RECIPIENT, lamports: fee });
    transferLamports(frame, { from: user, to: creatorVault(pool), lamports: creatorFee });
    return;
  }
  transferChecked(frame, { from: userIn, to: vaultIn, authority: user, amount: quote });
  transferChecked(frame, { from: userIn, to: feeAccount(frame.ledger, pool), authority: user, amount: fee });
  transferChecked(frame, {
    from: userIn,
    to: creatorAccount(frame.ledger, pool),
    authority: user,
    amount: creatorFee,
  });
}

function sell(
  frame: ProgramFrame,
  order: SwapOrder,
  { tokens, quote, fee, creatorFee, received }: Sums,
): void {
  const { ledger } = frame;
  const { pool, user } = order;
  const { userOut, vaultOut, userIn, vaultIn } = findSides(ledger, order);
  moveToken(frame, pool, { from: userIn, to: vaultIn, authority: user, amount: tokens });
  recordTrade(ledger, pool, { quote: -quote, sold: -tokens });
  if (pool.mints[1] === WRAPPED_SOL) {
    // The program owns the curve: it moves the lamports without a call.
    ledger.addLamports(pool.address, -quote);
    ledger.addLamports(user, received);
    ledger.addLamports(FEE_RECIPIENT, fee);
    ledger.addLamports(creatorVault(pool), creatorFee);
    return;
  }
  const pay = (to: string, amount: bigint) =>
    transferChecked(frame, { from: vaultOut, to, authority: pool.address, amount });
  pay(userOut, received);
  pay(feeAccount(ledger, pool), fee);
  pay(creatorAccount(ledger, pool), creatorFee);
}

/** The older token program's tokens go by Transfer. */
function moveToken(frame: ProgramFrame, pool: Pool, order: Parameters<typeof transfer>[1]): void {
  const isNew = frame.ledger.mint(pool.mints[0]).program === TOKEN_2022_PROGRAM;
  (isNew ? transferChecked : transfer)(frame, order);
}

export function findCreator({ name }: Pool): string {
  return deriveAddress("creator", name);
}

/** Finding an address takes a tenth of a millisecond. */
const derived = new Map<string, string>();

function derive(seed: string, owner: string): string {
  const name = `${seed}/${owner}`;
  const known = derived.get(name) ?? findProgramAddress([seed, decodeAddress(owner)], PUMP_PROGRAM);
  derived.set(name, known);
  return known;
}

function creatorVault(pool: Pool): string {
  return derive("creator-vault", findCreator(pool));
}

export function feeAccount(ledger: Ledger, { mints }: Pool): string {
  return findTokenAccount(ledger, FEE_RECIPIENT, mints[1]);
}

export function creatorAccount(ledger: Ledger, pool: Pool): string {
  return findTokenAccount(ledger, creatorVault(pool), pool.mints[1]);
}

/** Accounts of tokens that exist before the first trade: whose, and of which mint. */
export function curveOwners(pool: Pool): readonly string[] {
  return [FEE_RECIPIENT, creatorVault(pool)];
}

function accountsV1(ledger: Ledger, order: SwapOrder): AccountRef[] {
  const { pool, user, aToB } = order;
  const [mint] = pool.mints;
  const { program } = ledger.mint(mint);
  const common = [
    readonly(GLOBAL),
    writable(FEE_RECIPIENT),
    readonly(mint),
    ...[pool.address, pool.vaults[0], findTokenAccount(ledger, user, mint), user].map(writable),
    readonly(SYSTEM_PROGRAM),
  ];
  const creator = writable(creatorVault(pool));
  const events = [readonly(self.eventAuthority), readonly(PUMP_PROGRAM)];
  const fees = [readonly(FEE_CONFIG), readonly(FEE_PROGRAM)];
  return aToB
    ? [...common, creator, readonly(program), ...events, ...fees]
    : [
        ...common,
        readonly(program),
        creator,
        ...events,
        writable(VOLUME),
        writable(userVolume(user)),
        ...fees,
      ];
}

function accountsV2(ledger: Ledger, order: SwapOrder): AccountRef[] {
  const { pool, user, aToB } = order;
  const [mint, quoteMint] = pool.mints;
  return [
    ...[GLOBAL, mint, quoteMint, ledger.mint(mint).program, ledger.mint(quoteMint).program].map(readonly),
    readonly(ASSOCIATED_TOKEN_PROGRAM),
    ...[FEE_RECIPIENT, feeAccount(ledger, pool)].map(writable),
    ...[BUYBACK_RECIPIENT, findTokenAccount(ledger, BUYBACK_RECIPIENT, quoteMint)].map(writable),
    ...[pool.address, ...pool.vaults, user].map(writable),
    ...[mint, quoteMint].map((each) => writable(findTokenAccount(ledger, user, each))),
    ...[creatorVault(pool), creatorAccount(ledger, pool)].map(writable),
    readonly(deriveAddress("pump.fun", "sharing", pool.name)),
    ...(aToB ? [] : [writable(VOLUME)]),
    ...[userVolume(user), findTokenAccount(ledger, userVolume(user), quoteMint)].map(writable),
    ...[FEE_CONFIG, FEE_PROGRAM, SYSTEM_PROGRAM, self.eventAuthority, PUMP_PROGRAM].map(readonly),
  ];
}

function userVolume(user: string): string {
  return derive("user_volume_accumulator", user);
}

function emitTrade(frame: ProgramFrame, order: SwapOrder, sums: Sums & { readonly ixName: string }): void {
  const { pool, user, aToB } = order;
  const { virtualQuote, virtualTokens, realQuote, realTokens } = readReserves(frame.ledger, pool);
  const isSol = pool.mints[1] === WRAPPED_SOL;
  const ofSol = (amount: bigint) => u64(isSol ? amount : 0n);
  emitByCall(frame, self, [
    hex("bddb7fd34ee661ee"),
    key(pool.mints[0]),
    ...[ofSol(sums.quote), u64(sums.tokens), flag(!aToB), key(user), i64(frame.time)],
    ...[ofSol(virtualQuote), u64(virtualTokens), ofSol(realQuote), u64(realTokens)],
    ...[key(FEE_RECIPIENT), u64(FEE_BPS), u64(sums.fee)],
    ...[key(findCreator(pool)), u64(CREATOR_FEE_BPS), u64(sums.creatorFee)],
    // Volume of the user: not simulated.
    ...[flag(!aToB), u64(0), u64(0), u64(0), i64(frame.time)],
    ...[text(sums.ixName), flag(false), u64(0), u64(0), u64(0), u64(0), u32(0)],
    isSol ? zeros(32) : key(pool.mints[1]),
    ...[sums.quote, virtualQuote, realQuote].map(u64),
  ]);
}
