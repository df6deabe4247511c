import { type AttackMarket, pair, SCAM, SOL, type TestPair } from "./attack-market.ts";
import { deriveAddress, MEME, USDC } from "./random-chain.ts";

/** What somebody does to a market, and what it may move at most. */
export interface Attack {
  readonly name: string;
  /** USD of honest tokens that the attacker must have in pools. */
  readonly capitalUsd: number;
  /** Largest relative error of SOL or MEME, in it and after it. */
  readonly atMost: number;
  /** Trades before the attack, when the attacker's pools are as old as the others. */
  prepare?(market: AttackMarket, hours: number): void;
  run(market: AttackMarket): void;
}

/** The two swaps that once set SOL to 10,000,000 USD. */
export function twoSwaps(market: AttackMarket): void {
  const priced = pair("scam-usdc", [SCAM, USDC], [5, 10_100]);
  market.trade(priced, { tokenIn: USDC, tokenOut: SCAM, amounts: [100, 0.0001] });
  const bridge = pair("scam-sol", [SCAM, SOL], [1_000, 1]);
  market.trade(bridge, { tokenIn: SCAM, tokenOut: SOL, amounts: [1, 0.1] });
  market.block(1);
}

/** A new pool whose price is `factor` times the true one, traded every other second. */
function freshPool(market: AttackMarket, pool: { usdc: number; factor: number; seconds: number }): void {
  const { usdc, factor, seconds } = pool;
  const at = pair("fresh", [SOL, USDC], [usdc / market.solUsd / factor, usdc]);
  for (let passed = 0; passed < seconds; passed += 2) {
    market.trade(at, { tokenIn: USDC, tokenOut: SOL, amounts: [factor * market.solUsd, 1] });
    market.block(2);
    if (passed % 60 === 0) market.rest(1);
  }
}

export const OLD = { pool: pair("old", [SOL, USDC], [0, 0]), other: pair("old 2", [SOL, USDC], [0, 0]) };

/** Lets pools of an attacker earn their age with honest trades. */
export function age(
  market: AttackMarket,
  { pools, capitalUsd, hours }: { pools: readonly TestPair[]; capitalUsd: number; hours: number },
): void {
  for (let minutes = 0; minutes < hours * 60; minutes++) {
    for (const at of pools) {
      at.reserves = [capitalUsd / market.solUsd, capitalUsd];
      market.trade(at, { tokenIn: USDC, tokenOut: SOL, amounts: [market.solUsd, 1] });
    }
    market.rest(60);
  }
}

/** Trades between others' trades at these times the true price, one after the other, a block of two seconds each. */
export function tradeWithOneself(
  market: AttackMarket,
  { pool, factors, minutes }: { pool: TestPair; factors: readonly number[]; minutes: number },
): void {
  for (let minute = 0; minute < minutes; minute++) {
    for (const factor of factors) {
      market.trade(pool, { tokenIn: USDC, tokenOut: SOL, amounts: [factor * market.solUsd, 1] });
      market.block(2);
    }
    market.rest(60);
  }
}

export const ATTACKS: readonly Attack[] = [
  { name: "two swaps over a worthless token", capitalUsd: 10_225, atMost: 0.01, run: twoSwaps },
  {
    name: "fresh pool, 10 times as deep and at twice the price, for 4 minutes",
    ...{ capitalUsd: 37.5e6, atMost: 0.01 },
    run: (market) => freshPool(market, { usdc: 25e6, factor: 2, seconds: 240 }),
  },
  {
    name: "fresh pool, 10 times as deep and 8 % off, held 10 minutes",
    ...{ capitalUsd: 48e6, atMost: 0.01 },
    run: (market) => freshPool(market, { usdc: 25e6, factor: 1.08, seconds: 600 }),
  },
  {
    name: "thin bridge to deep pools, for an hour",
    ...{ capitalUsd: 10_226, atMost: 0.01 },
    run(market) {
      const priced = pair("scam-usdc", [SCAM, USDC], [10_100, 10_100]);
      const bridges = [MEME, SOL].map((mint) => pair(`scam-${mint}`, [SCAM, mint], [1e9, 1]));
      for (let minutes = 0; minutes < 60; minutes++) {
        market.trade(priced, { tokenIn: USDC, tokenOut: SCAM, amounts: [1, 1] });
        for (const at of bridges)
          market.trade(at, { tokenIn: SCAM, tokenOut: at.tokens[1], amounts: [1e3, 0.1] });
        market.rest(60);
      }
    },
  },
  {
    name: "push of the deepest pool within a block",
    ...{ capitalUsd: 1e6, atMost: 0.01 },
    run(market) {
      const at = market.honest("sol-usdc");
      const bought = market.swap(at, USDC, 1e6);
      market.block(1);
      market.swap(at, SOL, bought);
      market.block(1);
    },
  },
  {
    name: "pool with two thirds of the weight leaves the others, held 30 minutes",
    ...{ capitalUsd: 16e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool], capitalUsd: 8e6, hours }),
    run(market) {
      for (let minutes = 0; minutes < 30; minutes++) {
        market.trade(OLD.pool, { tokenIn: USDC, tokenOut: SOL, amounts: [2 * market.solUsd, 1] });
        market.rest(60);
      }
    },
  },
  {
    name: "two colluding pools with two fifths of the weight, for an hour",
    ...{ capitalUsd: 5.2e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool, OLD.other], capitalUsd: 1.3e6, hours }),
    run(market) {
      for (let minutes = 0; minutes < 60; minutes++) {
        for (const at of [OLD.pool, OLD.other])
          market.trade(at, { tokenIn: USDC, tokenOut: SOL, amounts: [3 * market.solUsd, 1] });
        market.rest(60);
      }
    },
  },
  {
    name: "old pool with most of the weight, drained after a trade 8 % off",
    ...{ capitalUsd: 16e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool], capitalUsd: 8e6, hours }),
    run(market) {
      market.trade(OLD.pool, { tokenIn: USDC, tokenOut: SOL, amounts: [1.08 * market.solUsd, 1] });
      market.drain(OLD.pool, 0.9999);
      market.block(1);
      market.rest(3_600);
    },
  },
  {
    name: "old pool with a sixth of the weight trades with itself at three times and a third of the price, between others' trades",
    ...{ capitalUsd: 1.6e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool], capitalUsd: 0.8e6, hours }),
    run: (market) => tradeWithOneself(market, { pool: OLD.pool, factors: [3, 1, 1 / 3, 1], minutes: 30 }),
  },
  {
    name: "the same 8 % off, which agrees with the price",
    ...{ capitalUsd: 1.6e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool], capitalUsd: 0.8e6, hours }),
    run: (market) => tradeWithOneself(market, { pool: OLD.pool, factors: [1.08, 1, 0.92, 1], minutes: 30 }),
  },
  {
    name: "old pool with two thirds of the weight, at twice and half the price between others' trades",
    ...{ capitalUsd: 16e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool], capitalUsd: 8e6, hours }),
    run: (market) => tradeWithOneself(market, { pool: OLD.pool, factors: [2, 1, 0.5, 1], minutes: 30 }),
  },
  {
    name: "two old pools with three fifths of the weight together, 8 and 12 % off for five minutes",
    ...{ capitalUsd: 12e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool, OLD.other], capitalUsd: 3e6, hours }),
    run(market) {
      for (let minutes = 0; minutes < 5; minutes++) {
        for (const [at, factor] of [
          [OLD.pool, 1.08],
          [OLD.other, 1.12],
        ] as const)
          market.trade(at, { tokenIn: USDC, tokenOut: SOL, amounts: [factor * market.solUsd, 1] });
        market.rest(60);
      }
    },
  },
  {
    name: "old pool with two thirds of the weight, away in steps of 0.4 %, for 10 minutes",
    ...{ capitalUsd: 16e6, atMost: 0.01 },
    prepare: (market, hours) => age(market, { pools: [OLD.pool], capitalUsd: 8e6, hours }),
    run(market) {
      for (let step = 1; step <= 200; step++) {
        const usd = 1.004 ** step * market.solUsd;
        market.trade(OLD.pool, { tokenIn: USDC, tokenOut: SOL, amounts: [usd, 1] });
        market.block(2);
        if (step % 20 === 0) market.rest(20);
      }
    },
  },
  {
    name: "twenty small pools that repeat one lie, for half an hour",
    ...{ capitalUsd: 20 * 24_000, atMost: 0.01 },
    run(market) {
      const reserves = (): [number, number] => [12_000 / market.solUsd / 3, 12_000];
      const pools = Array.from({ length: 20 }, (_, i) => pair(`small ${i}`, [SOL, USDC], reserves()));
      for (let minutes = 0; minutes < 30; minutes++) {
        for (const at of pools)
          market.trade(at, { tokenIn: USDC, tokenOut: SOL, amounts: [3 * market.solUsd, 1] });
        market.rest(60);
      }
    },
  },
  {
    name: "token that calls itself USDC, in a pool of billions",
    ...{ capitalUsd: 125, atMost: 0.01 },
    run(market) {
      const at = pair("imitation", [SOL, deriveAddress("USDC of another mint")], [1, 1e9]);
      for (let minutes = 0; minutes < 30; minutes++) {
        market.trade(at, { tokenIn: at.tokens[1], tokenOut: SOL, amounts: [1e6, 0.1] });
        market.rest(60);
      }
    },
  },
];
