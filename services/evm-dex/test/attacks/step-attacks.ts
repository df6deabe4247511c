import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import type { Token } from "./attacker.ts";
import type { Attack } from "./attacks.ts";
import type { Market } from "./market.ts";
import { rawPrice, type SteppedPool, stepPrice } from "./price-steps.ts";

/** Less than what a single pool must not do at once; the smaller one also where it stands off the others at first. */
const STEP = 1.009;
const SMALL_STEP = 1.005;
const STEPS = Array<number>(20).fill(6);
const FIVE_MINUTES = Array<number>(10).fill(30);

/** AERO's pools: Aerodrome's and Uniswap's with USDC, and Uniswap's with WETH. */
export function aeroPools({ chain }: Market) {
  const { AERO, USDC } = chain.deployment.tokens;
  const stepped = (pool: { address: Address; token0: Token; token1: Token }, fee?: number): SteppedPool => ({
    ...{ address: pool.address, token0: pool.token0, token1: pool.token1, fee },
  });
  const v3 = (at: number) => {
    const pool = chain.pools[at];
    if (pool === undefined) throw new Error(`There is no pool ${at}.`);
    return stepped(pool, pool.spec.fee);
  };
  const aerodrome = chain.aerodrome.pools[2];
  if (aerodrome === undefined) throw new Error("There is no Aerodrome pool of AERO.");
  return { AERO, USDC, aerodrome: stepped(aerodrome), withUsdc: v3(5), withWeth: v3(7) };
}

/** Somebody else's trades of a cent or so, which move nothing. */
export async function tradeHonestly({ chain }: Market, pools: readonly SteppedPool[]): Promise<void> {
  const from = chain.accounts[3] as Address;
  for (const { address, token0, fee } of pools) {
    const amount = 10n ** BigInt(token0.decimals - 2);
    if (fee === undefined) await chain.aerodrome.swap(address, { zeroForOne: true, amountIn: amount, from });
    else await chain.swap(address, { zeroForOne: true, amount, from });
  }
}

/** Walks pools of AERO by factors for each step, while the others trade at their price; then leaves them there. */
async function walk(
  market: Market,
  at: {
    moved: readonly { pool: SteppedPool; factor: number }[];
    others: readonly SteppedPool[];
    steps: readonly number[];
    rest: readonly number[];
    block: (seconds: number) => Promise<void>;
  },
): Promise<{ usd: number; undo: () => Promise<void> }> {
  const { chain, attacker } = market;
  const { AERO, USDC } = aeroPools(market);
  const before = await Promise.all(at.moved.map(({ pool }) => rawPrice(chain, pool)));
  let usd = 0;
  const step = async (pool: SteppedPool, factor: number) => {
    const paid = await stepPrice(chain, { pool, token: AERO, factor, from: attacker.from });
    return paid.token.address === USDC.address ? paid.whole : 0;
  };
  for (const seconds of at.steps) {
    for (const { pool, factor } of at.moved) usd += await step(pool, factor);
    await tradeHonestly(market, at.others);
    await at.block(seconds);
  }
  for (const seconds of at.rest) {
    await tradeHonestly(market, at.others);
    await at.block(seconds);
  }
  const undo = async () => {
    for (const [i, { pool }] of at.moved.entries()) {
      const now = await rawPrice(chain, pool);
      const ratio = (before[i] as number) / now;
      await step(pool, pool.token0.address === AERO.address ? ratio : 1 / ratio);
    }
  };
  return { usd, undo };
}

export const STEP_ATTACKS: readonly Attack[] = [
  {
    name: "most of an old pool's liquidity bought, then walked a fifth away in steps of 0.5 %, while the others trade",
    async run(market, block) {
      const { chain, attacker } = market;
      const { USDC, aerodrome, withUsdc, withWeth } = aeroPools(market);
      const { address, token0 } = aerodrome;
      const [held0, held1] = await chain.aerodrome.reserves(address, await chain.headNumber());
      await chain.aerodrome.addLiquidity(address, [held0 * 3n, held1 * 3n], { from: attacker.from });
      for (const seconds of [2, 360]) await block(seconds);
      const { usd, undo } = await walk(market, {
        moved: [{ pool: aerodrome, factor: SMALL_STEP }],
        others: [withUsdc, withWeth],
        ...{ steps: [...STEPS, ...STEPS], rest: FIVE_MINUTES, block },
      });
      const side = Number(token0.address === USDC.address ? held0 : held1) / 1e6;
      return {
        ...{ capitalUsd: 6 * side + usd, lostUsd: 2 * 0.003 * usd, touched: [address] },
        undo: async () => {
          await undo();
          await block(2);
          await attacker.removeLiquidity(address);
        },
      };
    },
  },
  {
    name: "two old pools with three quarters of the weight together, 8 and 12 % off for five minutes",
    async run(market, block) {
      const { aerodrome, withUsdc, withWeth } = aeroPools(market);
      const { usd, undo } = await walk(market, {
        moved: [
          { pool: aerodrome, factor: 1.08 },
          { pool: withUsdc, factor: 1.12 },
        ],
        others: [withWeth],
        ...{ steps: [2], rest: FIVE_MINUTES, block },
      });
      const touched = [aerodrome.address, withUsdc.address];
      return { capitalUsd: usd, lostUsd: 2 * 0.003 * usd, touched, undo };
    },
  },
  {
    name: "the same two walked a fifth away together in steps of 0.9 %",
    async run(market, block) {
      const { aerodrome, withUsdc, withWeth } = aeroPools(market);
      const { usd, undo } = await walk(market, {
        moved: [
          { pool: aerodrome, factor: STEP },
          { pool: withUsdc, factor: STEP },
        ],
        others: [withWeth],
        ...{ steps: STEPS, rest: FIVE_MINUTES, block },
      });
      const touched = [aerodrome.address, withUsdc.address];
      return { capitalUsd: usd, lostUsd: 2 * 0.003 * usd, touched, undo };
    },
  },
];
