import { put, type Store } from "../../../shared/storage/port.ts";
import type { ChainDeployments } from "../../deployments.ts";
import { positionText } from "../../metrics/lp-position.ts";
import { v2AmountsText } from "../../metrics/v2-bucket.ts";
import { EMPTY_V2_STATE, writeV2State } from "../../protocols/aerodrome-v2/state.ts";
import {
  checkpoints,
  type PoolEventRow,
  type PoolRow,
  type PriceLinkRow,
  poolEvents,
  poolStates,
  pools,
  priceLinks,
  tokens,
} from "../../store/collections.ts";
import { toLinkRow } from "../../store/price-links.ts";
import {
  knownWallets,
  type LpEventRow,
  type LpPositionRow,
  lpAnchors,
  lpEvents,
  lpPositions,
  type V2RollupRow,
  v2LargeSwaps,
  v2Rollups,
} from "../../store/v2-collections.ts";
import { address, CHAIN_ID, checkpointRow, hash, poolRow } from "../kit/rows.ts";
import type { FeeShare, WorldMove, WorldPool, WorldSwap, WorldToken } from "./v2-world-types.ts";

export type { FeeShare, WorldMove, WorldPool, WorldSwap, WorldToken } from "./v2-world-types.ts";

export const HOUR = 3_600;
export const DAY = 86_400;
const FACTORY = address(0xfac2);
const FROM_BLOCK = 100;
/** LP tokens that every pool keeps for ever. */
const LOCKED = 1_000n;
/** index0 and index1 of pools older than the index, just before it. */
const OLD_INDEX = 12_345_678_901_234_567_890n;

interface Wallet {
  balance: bigint;
  staked: bigint;
  index0: bigint;
  index1: bigint;
  earned0: bigint;
  earned1: bigint;
}

/**
 * A chain of v2 pools built event by event, from which the store's rows follow by sums and by what the contracts would
 * keep: nothing of the ingest, and none of its arithmetic, takes part.
 */
export class V2World {
  readonly head: number;
  readonly indexedFrom: number;
  readonly rewardToken: WorldToken;
  readonly pools: WorldPool[] = [];
  readonly swaps: WorldSwap[] = [];
  readonly moves: WorldMove[] = [];
  /** LP tokens that wallets have had since before the first indexed block. */
  readonly older: { pool: WorldPool; wallet: string; balance: bigint }[] = [];
  /** Wallets whose positions older than the index have been read; others are unknown but for their events. */
  readonly known: string[] = [];
  /** Filled by `write`. */
  readonly feeShares: FeeShare[] = [];
  readonly #tokens: WorldToken[] = [];

  constructor({
    head,
    indexedFrom,
    rewardUsd,
  }: { head: number; indexedFrom: number; rewardUsd: number | null }) {
    this.head = head;
    this.indexedFrom = indexedFrom;
    this.rewardToken = this.addToken({ symbol: "AERO", decimals: 18, priceUsd: rewardUsd });
  }

  get chain(): ChainDeployments {
    const voter = address(0x707e);
    const rewards = { voter, token: this.rewardToken.address as `0x${string}` };
    const dex = { dexName: "Aerodrome", family: "dexa", kind: "aerodrome-v2", fromBlock: 0 } as const;
    return {
      chainId: CHAIN_ID,
      name: "Base",
      stablecoins: [address(0x5ab1e)],
      factories: [{ address: FACTORY, ...dex, rewards }],
    };
  }

  addToken(options: { symbol: string; decimals: number; priceUsd: number | null }): WorldToken {
    const token = { address: address(0x1000 + this.#tokens.length), ...options };
    this.#tokens.push(token);
    return token;
  }

  addPool(options: Omit<WorldPool, "row"> & { row?: Partial<PoolRow> }): WorldPool {
    const { token0, token1 } = options;
    const row = poolRow({
      poolAddress: address(0x9000 + this.pools.length),
      dexAddress: FACTORY,
      dexName: "Aerodrome",
      family: "dexa",
      protocol: "aerodrome-v2",
      ...{ token0Address: token0.address, token0Symbol: token0.symbol, token0Decimals: token0.decimals },
      ...{ token1Address: token1.address, token1Symbol: token1.symbol, token1Decimals: token1.decimals },
      createdAt: this.indexedFrom - 5 * DAY,
      createdBlock: FROM_BLOCK - 50,
      fee: 3_000,
      tickSpacing: 0,
      ...options.row,
    });
    const pool = { ...options, row };
    this.pools.push(pool);
    return pool;
  }

  /** Blocks are two seconds; the head's is that of its time. */
  blockAt(time: number): number {
    return FROM_BLOCK + Math.floor((time - this.indexedFrom) / 2);
  }

  async write(store: Store): Promise<void> {
    const replay = new Replay(this);
    for (const event of [...this.swaps, ...this.moves].sort((a, b) => a.time - b.time)) {
      if ("wallet" in event) replay.move(event);
      else replay.swap(event);
    }
    this.feeShares.splice(0, Infinity, ...replay.feeShares);
    await store.write([
      put(
        tokens,
        this.#tokens.map(({ address, symbol, decimals }) => ({
          chainId: CHAIN_ID,
          address,
          symbol,
          decimals,
        })),
      ),
      put(
        priceLinks,
        this.#tokens.map((token) => priceLink(token, FROM_BLOCK)),
      ),
      put(
        pools,
        this.pools.map(({ row }) => row),
      ),
      ...replay.steps(),
      ...this.#past(),
      put(checkpoints, [this.checkpoint]),
    ]);
  }

  #past() {
    const chainId = CHAIN_ID;
    const isKnown = ({ wallet }: { wallet: string }) => this.known.includes(wallet);
    const contracts = this.pools.filter(({ row }) => row.createdBlock < FROM_BLOCK).length;
    return [
      put(
        knownWallets,
        this.known.map((wallet) => ({ chainId, wallet, contracts, readAtBlock: FROM_BLOCK + 9 })),
      ),
      put(
        lpAnchors,
        this.older.filter(isKnown).map(({ pool, wallet, balance }) => ({
          ...{ chainId, wallet, poolAddress: pool.row.poolAddress },
          ...{ balance, staked: 0n },
        })),
      ),
    ];
  }

  get checkpoint() {
    return checkpointRow({
      blockNumber: this.blockAt(this.head),
      blockHash: hash(this.blockAt(this.head)),
      blockTime: this.head,
      fromBlock: FROM_BLOCK,
      fromTime: this.indexedFrom,
    });
  }
}

/** A token at its price from a block on, as an anchor has it, so that no pool disputes it; or without one. */
export function priceLink(
  token: { readonly address: string; readonly priceUsd: number | null },
  blockNumber: number,
): PriceLinkRow {
  const link = token.priceUsd === null ? undefined : { anchorUsd: token.priceUsd };
  return toLinkRow({ token: token.address, link }, { chainId: CHAIN_ID, blockNumber, time: 0 });
}

/** What the contracts and an index of their events would hold. */
class Replay {
  readonly feeShares: FeeShare[] = [];
  readonly #world: V2World;
  readonly #wallets = new Map<WorldPool, Map<string, Wallet>>();
  readonly #index = new Map<WorldPool, { index0: bigint; index1: bigint }>();
  readonly #buckets = new Map<string, V2RollupRow>();
  readonly #largest = new Map<string, { poolAddress: string; start: number; swaps: LargeCell[] }>();
  readonly #events: PoolEventRow[] = [];
  readonly #lpEvents: LpEventRow[] = [];
  readonly #positions = new Map<string, LpPositionRow>();
  readonly #anchors = new Map<string, string>();

  constructor(world: V2World) {
    this.#world = world;
    for (const pool of world.pools) {
      const index = pool.row.createdAt < world.indexedFrom ? OLD_INDEX : 0n;
      this.#wallets.set(pool, new Map());
      this.#index.set(pool, { index0: index, index1: index });
    }
    for (const { pool, wallet, balance } of world.older) {
      const older = { balance, staked: 0n, ...this.#indexOf(pool), earned0: 0n, earned1: 0n };
      this.#anchors.set(`${pool.row.poolAddress}:${wallet}`, positionText.write(older));
      this.#wallets.get(pool)?.set(wallet, older);
    }
  }

  swap(swap: WorldSwap): void {
    const { pool, time } = swap;
    const supply = this.#supply(pool);
    const index = this.#indexOf(pool);
    const growth0 = (swap.fee0 * 10n ** 18n) / supply;
    const growth1 = (swap.fee1 * 10n ** 18n) / supply;
    index.index0 += growth0;
    index.index1 += growth1;
    for (const [wallet, { balance }] of this.#wallets.get(pool) ?? []) {
      const share = Number(balance) / Number(supply);
      const [amount0, amount1] = [Number(swap.fee0) * share, Number(swap.fee1) * share];
      this.feeShares.push({ pool, wallet, time, amount0, amount1 });
    }
    for (const span of [HOUR, DAY]) this.#count(swap, { span, growth0, growth1 });
    const at = this.#place(time);
    this.#events.push(this.#eventRow(pool, { time, ...at }));
    const start = time - (time % HOUR);
    const key = `${pool.row.poolAddress}:${start}`;
    const hour = this.#largest.get(key) ?? { poolAddress: pool.row.poolAddress, start, swaps: [] };
    const { blockNumber, logIndex } = at;
    const { valueUsd } = swap;
    hour.swaps.push({
      valueUsd,
      blockNumber,
      logIndex,
      time,
      txHash: hash(logIndex),
      zeroForOne: swap.amount0 > 0n,
    });
    this.#largest.set(key, hour);
  }

  #count(
    swap: WorldSwap,
    { span, growth0, growth1 }: { span: number; growth0: bigint; growth1: bigint },
  ): void {
    const { poolAddress } = swap.pool.row;
    const start = swap.time - (swap.time % span);
    const key = `${poolAddress}:${span}:${start}`;
    const empty = {
      ...{ swapCount: 0, unpricedCount: 0, zeroForOneUsd: 0, oneForZeroUsd: 0, feesUsd: 0 },
      amounts: "0 0 0 0 0 0",
    };
    const row = this.#buckets.get(key) ?? { chainId: CHAIN_ID, poolAddress, span, start, ...empty };
    const abs = (amount: bigint) => (amount < 0n ? -amount : amount);
    const sums = v2AmountsText.read(row.amounts);
    const isForward = swap.amount0 > 0n;
    this.#buckets.set(key, {
      ...row,
      swapCount: row.swapCount + 1,
      unpricedCount: row.unpricedCount + (swap.valueUsd === null ? 2 : 0),
      zeroForOneUsd: row.zeroForOneUsd + (isForward ? (swap.valueUsd ?? 0) : 0),
      oneForZeroUsd: row.oneForZeroUsd + (isForward ? 0 : (swap.valueUsd ?? 0)),
      feesUsd: row.feesUsd + (swap.feeUsd ?? 0),
      amounts: v2AmountsText.write({
        volume0: sums.volume0 + abs(swap.amount0),
        volume1: sums.volume1 + abs(swap.amount1),
        fees0: sums.fees0 + swap.fee0,
        fees1: sums.fees1 + swap.fee1,
        growth0: sums.growth0 + growth0,
        growth1: sums.growth1 + growth1,
      }),
    });
  }

  move(move: WorldMove): void {
    const { pool, time, wallet, amount } = move;
    const wallets = this.#wallets.get(pool) as Map<string, Wallet>;
    const { index0, index1 } = this.#indexOf(pool);
    const known = wallets.get(wallet) ?? {
      ...{ balance: 0n, staked: 0n, index0: 0n, index1: 0n },
      ...{ earned0: 0n, earned1: 0n },
    };
    // The LP tokens move in either case, and are settled before they do.
    known.earned0 += (known.balance * (index0 - known.index0)) / 10n ** 18n;
    known.earned1 += (known.balance * (index1 - known.index1)) / 10n ** 18n;
    known.index0 = index0;
    known.index1 = index1;
    known.balance += move.kind === "stake" ? -amount : amount;
    known.staked += move.kind === "stake" ? amount : 0n;
    wallets.set(wallet, known);
    const { poolAddress } = pool.row;
    const at = this.#place(time);
    const position = positionText.write(known);
    const before = this.#positions.get(`${poolAddress}:${wallet}`);
    const key = { chainId: CHAIN_ID, wallet, poolAddress };
    this.#positions.set(`${poolAddress}:${wallet}`, {
      ...{ ...key, position, anchor: this.#anchors.get(`${poolAddress}:${wallet}`) ?? "0 0 0 0 0 0" },
      ...{ firstTime: before?.firstTime ?? time, lastTime: time, lastBlock: at.blockNumber },
    });
    this.#lpEvents.push({ ...key, ...at, blockHash: hash(at.blockNumber), time, position });
    this.#events.push(this.#eventRow(pool, { time, ...at }));
  }

  #indexOf(pool: WorldPool): { index0: bigint; index1: bigint } {
    return this.#index.get(pool) as { index0: bigint; index1: bigint };
  }

  #supply(pool: WorldPool): bigint {
    let supply = LOCKED;
    for (const { balance, staked } of this.#wallets.get(pool)?.values() ?? []) supply += balance + staked;
    return supply;
  }

  #place(time: number): { blockNumber: number; logIndex: number } {
    return { blockNumber: this.#world.blockAt(time), logIndex: this.#events.length };
  }

  #eventRow(pool: WorldPool, at: { time: number; blockNumber: number; logIndex: number }): PoolEventRow {
    return {
      chainId: CHAIN_ID,
      ...at,
      poolAddress: pool.row.poolAddress,
      kind: "swap",
      blockHash: hash(at.blockNumber),
      txHash: hash(at.logIndex),
      sender: address(1),
      ...{ amounts: "0 0", state: writeV2State(EMPTY_V2_STATE) },
      ...{ price0Usd: null, price1Usd: null, valueUsd: null, feeUsd: null },
      ...{ tickTravel: null, previousMinute: null, previousUsers: null },
    };
  }

  steps() {
    const byValue = (a: LargeCell, b: LargeCell) =>
      (b.valueUsd ?? -1) - (a.valueUsd ?? -1) || a.logIndex - b.logIndex;
    return [
      put(v2Rollups, [...this.#buckets.values()]),
      put(
        v2LargeSwaps,
        [...this.#largest.values()].map(({ swaps, ...key }) => ({
          ...{ chainId: CHAIN_ID, ...key },
          swaps: swaps.sort(byValue).slice(0, 10),
        })),
      ),
      put(poolEvents, this.#events),
      put(lpEvents, this.#lpEvents),
      put(lpPositions, [...this.#positions.values()]),
      put(
        poolStates,
        this.#world.pools
          .filter((pool) => this.#events.some(({ poolAddress }) => poolAddress === pool.row.poolAddress))
          .map((pool) => this.#stateRow(pool)),
      ),
    ];
  }

  #stateRow(pool: WorldPool) {
    let staked = 0n;
    for (const wallet of this.#wallets.get(pool)?.values() ?? []) staked += wallet.staked;
    const state = writeV2State({
      ...EMPTY_V2_STATE,
      ...{ reserve0: pool.reserve0, reserve1: pool.reserve1, fee: pool.fee },
      ...this.#indexOf(pool),
      totalSupply: this.#supply(pool),
      gauge: pool.gauge === undefined ? undefined : address(0x6a6e),
      staked,
      ...pool.gauge,
    });
    return {
      ...{ chainId: CHAIN_ID, poolAddress: pool.row.poolAddress, state, anchor: state },
      ...{ lastBlock: this.#world.blockAt(this.#world.head), lastTime: this.#world.head },
      ...{ balance0: 0n, balance1: 0n, balanceBlock: -1 },
    };
  }
}

interface LargeCell {
  readonly valueUsd: number | null;
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly time: number;
  readonly txHash: string;
  readonly zeroForOne: boolean;
}
