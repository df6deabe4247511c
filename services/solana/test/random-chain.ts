import { createHash } from "node:crypto";
import fc from "fast-check";
import { encodeBase58 } from "../../shared/contract/base58.ts";
import type {
  BalanceChange,
  DecodedTransaction,
  Dex,
  LiquidityChange,
  SupplyChange,
  Trade,
} from "../decode/model.ts";
import { WRAPPED_SOL } from "../decode/model.ts";
import { EXCHANGES } from "../endpoints/params.ts";
import type { TimedBlock } from "../ingest/timed-block.ts";
import { ANCHORS } from "../price/limits.ts";

/** A valid address, the same for the same name. */
export function deriveAddress(name: string): string {
  return encodeBase58(createHash("sha256").update(name).digest());
}

export const USDC = ANCHORS[0] as string;
export const MEME = deriveAddress("MEME");
export const RARE = deriveAddress("RARE");
const DECIMALS = new Map([
  [USDC, 6],
  [WRAPPED_SOL, 9],
  [MEME, 6],
  [RARE, 0],
]);
export const MINTS: readonly string[] = [...DECIMALS.keys()];
export const OWNERS = Array.from({ length: 14 }, (_, i) => deriveAddress(`owner ${i}`));

export interface TestPool {
  readonly address: string;
  readonly dex: Dex;
  readonly tokens: readonly [string, string];
}

/** Each of one exchange; two of the same pair. */
export const POOLS: readonly TestPool[] = [
  ["58oQChx4yWmvKdwLLZzBi4ChoCc2fqCUWBkwMihLYQo2", 0, WRAPPED_SOL, USDC],
  [deriveAddress("pool 1"), 1, WRAPPED_SOL, USDC],
  [deriveAddress("pool 2"), 2, MEME, WRAPPED_SOL],
  [deriveAddress("pool 3"), 3, MEME, USDC],
  [deriveAddress("pool 4"), 0, RARE, MEME],
].map(([address, dex, a, b]) => ({
  address: address as string,
  dex: EXCHANGES[dex as number] as Dex,
  tokens: [a as string, b as string],
}));

const amount = fc.oneof(
  fc.bigInt({ min: 1n, max: 10n ** 5n }),
  fc.bigInt({ min: 10n ** 6n, max: 10n ** 11n }),
);
const maybeAmount = fc.oneof({ weight: 1, arbitrary: fc.constant(0n) }, { weight: 3, arbitrary: amount });
const reserve = fc.option(fc.bigInt({ min: 10n ** 10n, max: 10n ** 15n }), { freq: 6 });
const place = { instructionIndex: fc.nat(2), leg: fc.nat(1) };
const pool = fc.constantFrom(...POOLS);
const decimalsOf = (mint: string): number => DECIMALS.get(mint) as number;

function atPool({ address, dex }: TestPool, account: string) {
  return { dex, program: "some-program", pool: address, account };
}

const trade: fc.Arbitrary<Trade> = fc
  .record({
    ...{ ...place, pool, isReversed: fc.boolean(), amountIn: amount, amountOut: amount },
    ...{ reserveIn: reserve, reserveOut: reserve, account: fc.constantFrom(...OWNERS) },
  })
  .map(({ pool: at, isReversed, account, ...moved }) => {
    const [tokenIn, tokenOut] = isReversed ? ([at.tokens[1], at.tokens[0]] as const) : at.tokens;
    const decimals = { decimalsIn: decimalsOf(tokenIn), decimalsOut: decimalsOf(tokenOut) };
    return { kind: "trade", ...moved, ...atPool(at, account), tokenIn, tokenOut, ...decimals };
  });

const liquidity: fc.Arbitrary<LiquidityChange> = fc
  .record({
    ...{ ...place, pool, amountA: maybeAmount, amountB: maybeAmount },
    ...{ kind: fc.constantFrom("add_liquidity" as const, "remove_liquidity" as const) },
    account: fc.constantFrom(...OWNERS),
  })
  .map(({ pool: at, account, ...moved }) => {
    const [tokenA, tokenB] = at.tokens;
    const decimals = { decimalsA: decimalsOf(tokenA), decimalsB: decimalsOf(tokenB) };
    return { ...moved, ...atPool(at, account), tokenA, tokenB, ...decimals };
  });

const supply: fc.Arbitrary<SupplyChange> = fc
  .record({
    kind: fc.constantFrom("mint" as const, "burn" as const),
    instructionIndex: fc.integer({ min: 3, max: 5 }),
    leg: fc.nat(1),
    mint: fc.constantFrom(MEME, RARE),
    amount: fc.oneof(fc.constantFrom(1n, 5n, 2n ** 64n - 1n), amount),
    accountCount: fc.integer({ min: 2, max: 4 }),
    authority: fc.option(fc.constantFrom(...OWNERS)),
  })
  .map((found) => ({ ...found, decimals: decimalsOf(found.mint) }));

const balance: fc.Arbitrary<BalanceChange> = fc
  .record({
    tokenAccount: fc.constantFrom("t1", "t2", "t3").map(deriveAddress),
    mint: fc.constantFrom(MEME, RARE),
    owner: fc.option(fc.constantFrom(...OWNERS), { freq: 9 }),
    before: amount,
    after: maybeAmount,
  })
  .map((found) => ({ ...found, decimals: decimalsOf(found.mint), isToken2022: found.mint === RARE }));

const transactions: fc.Arbitrary<DecodedTransaction[]> = fc
  .array(
    fc.record({
      feePayer: fc.constantFrom(...OWNERS),
      events: fc.uniqueArray(
        fc.oneof({ weight: 4, arbitrary: trade }, { weight: 2, arbitrary: liquidity }, supply),
        { selector: ({ instructionIndex, leg }) => `${instructionIndex} ${leg}`, minLength: 1, maxLength: 4 },
      ),
      balances: fc.array(balance, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((found) =>
    found.map((each, i) => ({ ...each, transactionIndex: 2 * i, signature: "", disagreements: [] })),
  );

export const FIRST_SLOT = 101;
/** 2023-11-14T22:13:20Z. */
export const FIRST_TIME = 1_700_000_000;

/**
 * Blocks from FIRST_SLOT and FIRST_TIME on, `name` in their hashes and signatures. Some slots were skipped, and several
 * blocks may share a second.
 * @param options.pause seconds between two blocks
 */
export function randomBlocks(options: {
  name: string;
  pause: fc.Arbitrary<number>;
  minLength: number;
  maxLength: number;
}): fc.Arbitrary<TimedBlock[]> {
  const { name, pause, minLength, maxLength } = options;
  const block = fc.record({ skipped: fc.nat(2), seconds: pause, transactions });
  return fc.array(block, { minLength, maxLength }).map((found) => {
    let slot = FIRST_SLOT - 1;
    let time = FIRST_TIME;
    return found.map(({ skipped, seconds, transactions: held }, at) => {
      const parentSlot = slot;
      slot += at === 0 ? 1 : 1 + Math.max(0, skipped - 1);
      time += at === 0 ? 0 : seconds;
      const signed = held.map((each, i) => ({ ...each, signature: deriveAddress(`${name} ${slot} ${i}`) }));
      return { slot, parentSlot, blockhash: deriveAddress(`${name} ${slot}`), time, transactions: signed };
    });
  });
}
