import { createRandom } from "../../deploy/devnet/random.ts";
import type { PoolRow } from "../../services/evm-dex/store/collections.ts";

const START = 1_690_000_000;
const FACTORY = `0x${"ff".repeat(20)}`;
export const WETH = `0x4200000000000000000000000000000000000006`;
export const USDC = `0x833589fcd6edb6e08f4c7c32d4f71b54bda02913`;
const FEES = [
  { fee: 10_000, tickSpacing: 200, upTo: 0.8 },
  { fee: 3_000, tickSpacing: 60, upTo: 0.94 },
  { fee: 500, tickSpacing: 10, upTo: 0.98 },
  { fee: 100, tickSpacing: 1, upTo: 1 },
] as const;
const SYLLABLES = [
  "DO",
  "GE",
  "PE",
  "MOON",
  "AI",
  "BASE",
  "CAT",
  "BRET",
  "ZO",
  "RA",
  "GPT",
  "TRUMP",
  "INU",
  "X",
];

/**
 * Pools as uneven as those of a real chain, in order of creation: three of four hold WETH, one of ten USDC, and most
 * of the other tokens are new with their pool.
 */
export function* syntheticPools(count: number, family = "dexb"): Generator<PoolRow> {
  const random = createRandom(7);
  const address = () =>
    `0x${Array.from({ length: 5 }, () =>
      random
        .below(2 ** 32)
        .toString(16)
        .padStart(8, "0"),
    ).join("")}`;
  const known: { address: string; symbol: string; decimals: number }[] = [];
  const newToken = () => {
    const syllables = Array.from({ length: 1 + random.below(3) }, () => random.pick(SYLLABLES));
    const token = {
      address: address(),
      symbol: syllables.join(""),
      decimals: random.next() < 0.95 ? 18 : random.pick([6, 8, 9]),
    };
    known.push(token);
    return token;
  };
  const weth = { address: WETH, symbol: "WETH", decimals: 18 };
  const usdc = { address: USDC, symbol: "USDC", decimals: 6 };
  for (let n = 0; n < count; n++) {
    const kind = random.next();
    // The square favours the first tokens: some have hundreds of pools.
    const quote =
      kind < 0.75
        ? weth
        : kind < 0.85 || known.length === 0
          ? usdc
          : known[Math.floor(known.length * random.next() ** 6)];
    const base = random.next() < 0.85 || known.length === 0 ? newToken() : random.pick(known);
    const [token0, token1] = [base, quote as typeof weth].sort((a, b) =>
      a.address < b.address ? -1 : 1,
    ) as [typeof weth, typeof weth];
    const share = random.next();
    const tier = FEES.find((each) => share < each.upTo) ?? FEES[0];
    yield {
      chainId: 8453,
      poolAddress: address(),
      dexAddress: FACTORY,
      dexName: "Uniswap V3",
      family,
      protocol: "uniswap-v3",
      token0Address: token0.address,
      token0Symbol: token0.symbol,
      token0Decimals: token0.decimals,
      token1Address: token1.address,
      token1Symbol: token1.symbol,
      token1Decimals: token1.decimals,
      createdAt: START + Math.floor(n / 5) * 10,
      createdBlock: 1_000_000 + Math.floor(n / 5) * 5,
      fee: tier.fee,
      tickSpacing: tier.tickSpacing,
      stable: false,
    };
  }
}
