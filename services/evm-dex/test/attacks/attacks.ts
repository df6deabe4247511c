import type { Address } from "../../../../deploy/devnet/node/transactions.ts";
import type { AnyPool, Token } from "./attacker.ts";
import type { Market, Published } from "./market.ts";

/** What an attack put at stake. */
export interface Stakes {
  /** USD at honest prices that the attacker had to own for it, and what of it he does not get back. */
  readonly capitalUsd: number;
  readonly lostUsd: number;
  /** Pools and tokens of his own: what they show is bounded by what he put in. */
  readonly ownPools?: readonly string[];
  /** Honest pools whose reserves he changed: their own TVL may move. */
  readonly touched?: readonly string[];
  /** What must be said of it while it lasts. */
  readonly told?: (now: Published) => boolean;
  /** Ends it: takes everything out and swaps everything back. */
  readonly undo?: () => Promise<void>;
}

export interface Attack {
  readonly name: string;
  /** Queues its transactions; `block` mines and looks. */
  run(market: Market, block: (seconds: number) => Promise<void>): Promise<Stakes>;
}

const USD = { WETH: 3_000 } as const;
const TEN_MINUTES = Array<number>(20).fill(30);

const poolsOf = ({ chain }: Market) => {
  const { USDC, DAI, WETH, AERO, WBTC } = chain.deployment.tokens;
  const v3 = (at: number) => chain.pools[at] as AnyPool;
  const v2 = (at: number) => chain.aerodrome.pools[at] as AnyPool;
  return { USDC, DAI, WETH, AERO, WBTC, v3, v2 };
};

/** Buys with so many USDC in a Uniswap pool; the answer sells back what was bought. */
async function pushV3(
  market: Market,
  { pool, usdc, token }: { pool: AnyPool; usdc: number; token: Token },
): Promise<() => Promise<void>> {
  const { chain, attacker } = market;
  const { USDC } = poolsOf(market);
  const before = await chain.balanceOf(token.address, pool.address, await chain.headNumber());
  await attacker.sellV3(pool, USDC, usdc);
  return async () => {
    const after = await chain.balanceOf(token.address, pool.address, await chain.headNumber());
    const zeroForOne = pool.token0.address === token.address;
    await chain.swap(pool.address, { zeroForOne, amount: before - after, from: attacker.from });
  };
}

export const ATTACKS: readonly Attack[] = [
  {
    name: "fresh deep pool of a major token at twice its price",
    async run(market, block) {
      const { attacker } = market;
      const { WETH, DAI } = poolsOf(market);
      const pool = await attacker.pool([WETH, DAI], [5_000, 30e6]);
      for (const seconds of [2, 30, 60]) await block(seconds);
      const stakes = { capitalUsd: 45e6, lostUsd: 0, ownPools: [pool] };
      return { ...stakes, undo: () => attacker.removeLiquidity(pool) };
    },
  },
  {
    name: "thin bridge: a token at a billion dollars, and WETH against it",
    async run(market, block) {
      const { attacker } = market;
      const { WETH, USDC } = poolsOf(market);
      const scam = await attacker.token();
      const first = await attacker.pool([scam, USDC], [0.00002, 20_997]);
      const second = await attacker.pool([scam, WETH], [1e12, 0.01]);
      await block(2);
      await attacker.sell(await poolAt(market, second), WETH, 0.001);
      for (const seconds of [2, 60, 400]) await block(seconds);
      const ownPools = [first, second];
      return { capitalUsd: 21_030, lostUsd: 0, ownPools, undo: () => attacker.removeLiquidity(first) };
    },
  },
  {
    name: "flash loan: the deepest pool pushed and put back in one block",
    async run(market, block) {
      const { attacker, chain } = market;
      const { WETH, v3 } = poolsOf(market);
      const { USDC } = poolsOf(market);
      const head = await chain.headNumber();
      const before = await chain.balanceOf(WETH.address, v3(0).address, head);
      await attacker.sellV3(v3(0), USDC, 6e6);
      await chain.swap(v3(0).address, {
        ...{ zeroForOne: v3(0).token0.address === WETH.address, from: attacker.from },
        amount: before / 4n,
      });
      await block(2);
      const left = before - (await chain.balanceOf(WETH.address, v3(0).address, await chain.headNumber()));
      const undo = async () => {
        if (left > 0n)
          await chain.swap(v3(0).address, {
            zeroForOne: v3(0).token0.address === WETH.address,
            amount: left,
            from: attacker.from,
          });
        else
          await chain.swap(v3(0).address, {
            zeroForOne: v3(0).token0.address !== WETH.address,
            amount: left,
            from: attacker.from,
          });
      };
      return { capitalUsd: 0, lostUsd: 6e6 * 0.0005 * 2, touched: [v3(0).address], undo };
    },
  },
  {
    name: "the deepest pool pushed and held for ten minutes",
    async run(market, block) {
      const { WETH, v3 } = poolsOf(market);
      const undo = await pushV3(market, { pool: v3(0), usdc: 6e6, token: WETH });
      for (const seconds of [2, ...TEN_MINUTES]) await block(seconds);
      return { capitalUsd: 6e6, lostUsd: 6e6 * 0.0005 * 2, touched: [v3(0).address], undo };
    },
  },
  {
    name: "a token's dominant pool pushed by half and held for ten minutes",
    async run(market, block) {
      const { WBTC, v3 } = poolsOf(market);
      const undo = await pushV3(market, { pool: v3(2), usdc: 2e6, token: WBTC });
      for (const seconds of [2, ...TEN_MINUTES]) await block(seconds);
      return { capitalUsd: 2e6, lostUsd: 2e6 * 0.003 * 2, touched: [v3(2).address], undo };
    },
  },
  {
    name: "donated depth: a million dollars given to a thin pool",
    async run(market, block) {
      const { attacker } = market;
      const { USDC, v3 } = poolsOf(market);
      await attacker.donate(USDC, v3(8).address, 1e6);
      await attacker.sellV3(v3(8), USDC, 10);
      for (const seconds of [2, 60, 400]) await block(seconds);
      return { capitalUsd: 1e6, lostUsd: 1e6, touched: [v3(8).address] };
    },
  },
  {
    name: "lying balanceOf: 1e40 tokens in a pool of 15,000 dollars",
    async run(market, block) {
      const { attacker } = market;
      const { USDC } = poolsOf(market);
      const liar = await attacker.hostileToken();
      const priced = await attacker.pool([liar, USDC], [15_000, 15_000]);
      const pool = await attacker.poolV3([liar, USDC], 10n ** 9n);
      await block(2);
      await attacker.hostile(liar, "lie", 10n ** 22n);
      await attacker.sellV3(await poolAt(market, pool), USDC, 0.000001);
      for (const seconds of [2, 60, 400]) await block(seconds);
      return { capitalUsd: 15_260, lostUsd: 0, ownPools: [priced, pool] };
    },
  },
  {
    name: "fee-on-transfer token that keeps half",
    async run(market, block) {
      const { attacker } = market;
      const { USDC } = poolsOf(market);
      const token = await attacker.hostileToken();
      await attacker.hostile(token, "tax", 5_000n);
      const pool = await attacker.pool([token, USDC], [20_000, 20_000]);
      await block(2);
      await attacker.sell(await poolAt(market, pool), USDC, 1_000);
      for (const seconds of [2, 60, 400]) await block(seconds);
      return { capitalUsd: 21_000, lostUsd: 0, ownPools: [pool] };
    },
  },
  {
    name: "wash volume between two tokens that thin pools price at a billion",
    async run(market, block) {
      const { attacker } = market;
      const { USDC } = poolsOf(market);
      const [a, b] = [await attacker.token(), await attacker.token()];
      const priced = [
        await attacker.pool([a, USDC], [0.00002, 20_000]),
        await attacker.pool([b, USDC], [0.00002, 20_000]),
      ];
      const wash = await attacker.pool([a, b], [1e9, 1e9]);
      await block(2);
      for (let i = 0; i < 5; i++) {
        await attacker.sell(await poolAt(market, wash), i % 2 === 0 ? a : b, 1e8);
        await block(60);
      }
      await block(400);
      return { capitalUsd: 40_000, lostUsd: 0, ownPools: [...priced, wash] };
    },
  },
  {
    name: "depeg of an anchor: DAI sold to 0.8 in all its pools",
    async run(market, block) {
      const { attacker, chain, usdt } = market;
      const { USDC, DAI, v2, v3 } = poolsOf(market);
      const other = await attacker.pool([usdt, DAI], [0.001, 0.001]);
      const at = [v3(4), v2(1), await poolAt(market, other)];
      await attacker.sellV3(v3(4), DAI, 1.5e6);
      await attacker.sell(v2(1), DAI, 3.9e6);
      await attacker.sell(at[2] as AnyPool, DAI, 0.5e6);
      for (const seconds of [2, ...TEN_MINUTES]) await block(seconds);
      const undo = async () => {
        await attacker.sell(v2(1), USDC, 3.9e6);
        await attacker.sell(at[2] as AnyPool, usdt, 0.44e6);
        const dai = await chain.balanceOf(USDC.address, v3(4).address, await chain.headNumber());
        await attacker.sellV3(v3(4), USDC, 8e6 - Number(dai) / 1e6);
      };
      const told = ({ prices }: Published) => (prices.get(DAI.address) ?? 1) < 0.97;
      const touched = at.map(({ address }) => address);
      return { capitalUsd: 5.9e6, lostUsd: 5.9e6 * 0.1, touched, told, undo };
    },
  },
  {
    name: "drained pool: most providers of AERO leave, the rest is pushed threefold",
    async run(market, block) {
      const { attacker, chain } = market;
      const { USDC, AERO, v2 } = poolsOf(market);
      for (const provider of chain.aerodrome.providers.slice(0, 3))
        await attacker.removeLiquidity(v2(2).address, 1n, provider);
      await block(2);
      const { address } = v2(2);
      const before = await chain.balanceOf(AERO.address, address, await chain.headNumber());
      await attacker.sell(v2(2), USDC, 1e6);
      for (const seconds of [2, ...TEN_MINUTES]) await block(seconds);
      const undo = async () => {
        const amountIn = before - (await chain.balanceOf(AERO.address, address, await chain.headNumber()));
        const zeroForOne = v2(2).token0.address === AERO.address;
        await chain.aerodrome.swap(address, { zeroForOne, amountIn, from: attacker.from });
      };
      return { capitalUsd: 1e6, lostUsd: 1e6 * 0.006, touched: [address], undo };
    },
  },
  {
    name: "two colluding pools, deeper than all others together, at twice the price for ten minutes",
    async run(market, block) {
      const { attacker } = market;
      const { WETH, DAI } = poolsOf(market);
      const first = await attacker.pool([market.usdt, WETH], [20e6, 3_333]);
      const second = await attacker.pool([DAI, WETH], [20e6, 3_333]);
      for (const seconds of [2, ...TEN_MINUTES]) await block(seconds);
      const undo = async () => {
        for (const pool of [first, second]) await attacker.removeLiquidity(pool);
      };
      return { capitalUsd: 60e6, lostUsd: 0, ownPools: [first, second], undo };
    },
  },
  {
    name: "liquidity bought in an old pool until it is most of all, then pushed by half for ten minutes",
    async run(market, block) {
      const { attacker, chain } = market;
      const { USDC, AERO, v2 } = poolsOf(market);
      const { address, token0 } = v2(2);
      const [held0, held1] = await chain.aerodrome.reserves(address, await chain.headNumber());
      const add: [bigint, bigint] = [held0 * 3n, held1 * 3n];
      await chain.aerodrome.addLiquidity(address, add, { from: attacker.from });
      for (const seconds of [2, 360]) await block(seconds);
      const before = await chain.balanceOf(AERO.address, address, await chain.headNumber());
      const usdc = Number(token0.address === USDC.address ? held0 : held1) / 1e6;
      await attacker.sell(v2(2), USDC, usdc * 4 * 0.23);
      for (const seconds of [2, ...TEN_MINUTES]) await block(seconds);
      const undo = async () => {
        const amountIn = before - (await chain.balanceOf(AERO.address, address, await chain.headNumber()));
        const zeroForOne = token0.address === AERO.address;
        await chain.aerodrome.swap(address, { zeroForOne, amountIn, from: attacker.from });
        await block(2);
        await attacker.removeLiquidity(address);
      };
      return { capitalUsd: usdc * 7, lostUsd: usdc * 4 * 0.23 * 0.006, touched: [address], undo };
    },
  },
  {
    name: "a token that imitates USDC's symbol, and WETH against it at ten times the price",
    async run(market, block) {
      const { attacker } = market;
      const { WETH } = poolsOf(market);
      const fake = await attacker.token("USDC", 6);
      const pool = await attacker.pool([fake, WETH], [9e9, 3]);
      for (const seconds of [2, 60, 400]) await block(seconds);
      return { capitalUsd: 3 * USD.WETH, lostUsd: 0, ownPools: [pool] };
    },
  },
  {
    name: "twenty dust pools that repeat the lie of one",
    async run(market, block) {
      const { attacker } = market;
      const { WETH, USDC } = poolsOf(market);
      const ownPools: Address[] = [];
      for (let i = 0; i < 20; i++) {
        const scam = await attacker.token();
        if (i % 5 === 0) ownPools.push(await attacker.pool([scam, USDC], [0.001, 12_000]));
        ownPools.push(await attacker.pool([scam, WETH], [1, 0.004]));
      }
      for (const seconds of [2, 60, 400]) await block(seconds);
      return { capitalUsd: 48_240, lostUsd: 0, ownPools };
    },
  },
];

/** A pool by its address; its tokens in their order. */
async function poolAt({ chain }: Market, address: Address): Promise<AnyPool> {
  const read = async (selector: string) => {
    const word = await chain.anvil.rpc.call<string>("eth_call", [{ to: address, data: selector }, "pending"]);
    return { address: `0x${word.slice(-40)}` as Address };
  };
  return { address, token0: await read("0x0dfe1681"), token1: await read("0xd21220a7") };
}
