import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import type { ChainDeployments, Factory } from "../../../services/evm-dex/deployments.ts";
import type { Kind } from "../../../services/evm-dex/protocols/protocol.ts";

export interface DayToken {
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /** USD at block 0, and the waves on which the price moves; none for a stablecoin. */
  readonly usd: number;
  readonly waves: readonly { readonly share: number; readonly blocks: number; readonly phase: number }[];
}

export interface DayPool {
  readonly address: string;
  readonly factory: Factory;
  readonly token0: DayToken;
  readonly token1: DayToken;
  /** Hundredths of a bip. */
  readonly fee: number;
  readonly tickSpacing: number;
  /** Of both sides. */
  readonly depthUsd: number;
}

export interface DayMarket {
  readonly tokens: readonly DayToken[];
  /** The busiest first. */
  readonly pools: readonly DayPool[];
}

/** Assumed shares of Base's pools by kind; no trustworthy public count was found. */
const KIND_SHARES: readonly (readonly [Kind, number])[] = [
  ["uniswap-v3", 0.38],
  ["slipstream", 0.3],
  ["aerodrome-v2", 0.2],
  ["pancake-v3", 0.12],
];
const TIERS = [
  { fee: 100, tickSpacing: 1 },
  { fee: 500, tickSpacing: 10 },
  { fee: 3_000, tickSpacing: 60 },
  { fee: 10_000, tickSpacing: 200 },
] as const;
/** Slipstream names pools by spacing; its factory has the fee. */
export const SLIPSTREAM_FEES: Readonly<Record<number, number>> = {
  1: 100,
  50: 500,
  100: 500,
  200: 3_000,
  2000: 10_000,
};
export const V2_FEE = 3_000;
/** A swap moves some thousand dollars: deep pools, which price the others, hardly move by one. */
const SWAP_USD = 1_000;
const HUBS = 20;
/** The pool of rank n has so much in it, divided by its rank: a few thousand pools are above 10,000 USD. */
const DEEPEST_USD = 30_000_000;
const WETH = "0x4200000000000000000000000000000000000006";

/** Tokens and pools of a chain: hubs that most pools hold one of, and tokens with a pool or a few. */
export function makeMarket(chain: ChainDeployments, options: { pools: number; seed?: number }): DayMarket {
  const random = createRandom(options.seed ?? 17);
  const stables = chain.stablecoins.map((address, i): DayToken => {
    const decimals = i === 2 ? 18 : 6;
    return { address, symbol: `USD${i}`, decimals, usd: 1, waves: [] };
  });
  const weth = makeToken(random, { address: WETH, symbol: "WETH", decimals: 18, usd: 3_000, share: 0.02 });
  const hubs = Array.from({ length: HUBS }, (_, i) =>
    makeToken(random, {
      symbol: `HUB${i}`,
      decimals: i === 0 ? 8 : 18,
      usd: i === 0 ? 90_000 : 10 ** random.normal(),
      share: 0.04,
    }),
  );
  const usdc = stables[0] as DayToken;
  const leaves: DayToken[] = [];
  const pools: DayPool[] = [];
  const usedHubs = [weth, ...hubs];
  for (let rank = 0; rank < options.pools; rank++) {
    const [base, quote] =
      rank < 2 * HUBS
        ? [usedHubs[rank % usedHubs.length] as DayToken, usdc]
        : pairOf({ random, leaves, weth, usdc, hubs });
    const other = base === quote || (base === weth && rank >= 1 && rank < 3) ? (hubs[0] as DayToken) : quote;
    const [token0, token1] = base.address < other.address ? [base, other] : [other, base];
    pools.push({ ...makePool(chain, random), token0, token1, depthUsd: DEEPEST_USD / (rank + 1) });
  }
  return { tokens: [...stables, weth, ...hubs, ...leaves], pools };
}

function pairOf({
  random,
  leaves,
  weth,
  usdc,
  hubs,
}: {
  random: Random;
  leaves: DayToken[];
  weth: DayToken;
  usdc: DayToken;
  hubs: readonly DayToken[];
}): [DayToken, DayToken] {
  const kind = random.next();
  const quote = kind < 0.75 ? weth : kind < 0.9 ? usdc : random.pick(hubs);
  if (leaves.length > 0 && random.next() < 0.25)
    // The square favours the first ones: some tokens have many pools.
    return [leaves[Math.floor(leaves.length * random.next() ** 2)] as DayToken, quote];
  const decimals = random.next() < 0.95 ? 18 : random.pick([6, 8, 9]);
  const usd = 10 ** (1.5 * random.normal() - 1);
  const token = makeToken(random, { symbol: `TKN${leaves.length}`, decimals, usd, share: 0.1 });
  leaves.push(token);
  return [token, quote];
}

function makeToken(
  random: Random,
  {
    address,
    share,
    ...rest
  }: { address?: string; symbol: string; decimals: number; usd: number; share: number },
): DayToken {
  const wave = (part: number, blocks: number) => ({
    share: share * part * (0.5 + random.next()),
    blocks: blocks * (0.7 + 0.6 * random.next()),
    phase: 2 * Math.PI * random.next(),
  });
  return { ...rest, address: address ?? anyAddress(random), waves: [wave(1, 40_000), wave(0.2, 3_000)] };
}

function pickKind(at: number): Kind {
  let sum = 0;
  for (const [kind, share] of KIND_SHARES) {
    sum += share;
    if (at < sum) return kind;
  }
  return "uniswap-v3";
}

function makePool(chain: ChainDeployments, random: Random) {
  const kind = pickKind(random.next());
  const factory = random.pick(chain.factories.filter((each) => each.kind === kind));
  const address = anyAddress(random);
  if (kind === "aerodrome-v2") return { address, factory, fee: V2_FEE, tickSpacing: 0 };
  if (kind === "slipstream") {
    const tickSpacing = random.pick(Object.keys(SLIPSTREAM_FEES).map(Number));
    return { address, factory, tickSpacing, fee: SLIPSTREAM_FEES[tickSpacing] as number };
  }
  return { address, factory, ...random.pick(TIERS) };
}

/** How far one swap moves the price of a pool, as a share: by its size, but not far beyond the pool's fee. */
export function stepOf({ depthUsd, fee }: DayPool): number {
  return Math.min(SWAP_USD / (depthUsd / 2), (0.6 * Math.max(fee, 500)) / 1e6);
}

/** What a token is worth at a block: the same for every pool that holds it. */
export function usdAt({ usd, waves }: DayToken, block: number): number {
  let exponent = 0;
  for (const { share, blocks, phase } of waves)
    exponent += share * Math.sin((2 * Math.PI * block) / blocks + phase);
  return usd * Math.exp(exponent);
}

export function anyAddress(random: Random): string {
  return `0x${anyHex(random, 5)}`;
}

/** Random hex of some 32-bit words. */
export function anyHex(random: Random, words: number): string {
  let text = "";
  for (let i = 0; i < words; i++)
    text += random
      .below(2 ** 32)
      .toString(16)
      .padStart(8, "0");
  return text;
}
