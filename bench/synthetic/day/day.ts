import type { PortalBlock, PortalItem } from "../../../deploy/devnet/portal/block.ts";
import { createRandom, type Random } from "../../../deploy/devnet/random.ts";
import type { ChainDeployments } from "../../../services/evm-dex/deployments.ts";
import { computeHeaderHash } from "../../../services/shared/evm/proof/header-hash.ts";
import { BloomMaker } from "./bloom.ts";
import type { Emitted } from "./encode.ts";
import { anyAddress, anyHex, type DayMarket, makeMarket } from "./market.ts";
import { V2DayPool } from "./v2-pool.ts";
import { V3DayPool } from "./v3-pool.ts";

export interface DayOptions {
  readonly chain: ChainDeployments;
  /** Default 20,000. */
  readonly pools?: number;
  /** Blocks of trades, two seconds apart; default 43,200. */
  readonly blocks?: number;
  /** Logs of a block on average; default 150, which makes 6.5 million a day. */
  readonly logsPerBlock?: number;
  /** How many days and hours the last HEAD_BLOCKS are younger than all others; default 0. */
  readonly daysAgo?: number;
}

/** So many pools are made in each block before the day. */
const POOLS_A_BLOCK = 100;
const DAY_START = 1_780_000_000;
/** More than an ingest begins below the head, so that it begins after a day that is `daysAgo`. */
const HEAD_BLOCKS = 40;
/** Of these the first comes so long before the others that the day before is no chunk of an hour or six. */
const HEAD_GAP_S = 8 * 3_600;
/** The pools are older than the day: an old pool has its full vote in prices. */
const POOL_AGE_S = 40 * 86_400;
/** Pool of rank n trades 1 / n^ZIPF as often as the first. */
const ZIPF = 1;
const WALLETS = 200_000;
const ROUTERS = 6;
/** Of transactions; the rest are swaps over one to three pools. */
const LIQUIDITY_SHARE = 0.06;
const ZERO_HASH = `0x${"0".repeat(64)}`;

interface Transaction {
  readonly from: string;
  readonly logs: readonly Emitted[];
}

/** The first block of the day; before it are genesis and the blocks that make the pools. */
export function firstDayBlock(pools: number): number {
  return 1 + Math.ceil(pools / POOLS_A_BLOCK);
}

/** A chain of one synthetic day: genesis, pools, and then trades as skewed as real ones. The same for the same options. */
export class SyntheticDay {
  readonly market: DayMarket;
  readonly #random: Random = createRandom(43_200);
  readonly #blooms = new BloomMaker();
  readonly #wallets: readonly string[];
  readonly #routers: readonly string[];
  /** Cumulative shares of the ranks. */
  readonly #shares: Float64Array;
  readonly #pools: (V3DayPool | V2DayPool)[] = [];
  readonly #blocks: number;
  readonly #logsPerBlock: number;
  readonly #daysAgo: number;

  constructor({ chain, pools = 20_000, blocks = 43_200, logsPerBlock = 150, daysAgo = 0 }: DayOptions) {
    this.market = makeMarket(chain, { pools });
    this.#blocks = blocks;
    this.#logsPerBlock = logsPerBlock;
    this.#daysAgo = daysAgo;
    this.#wallets = Array.from({ length: WALLETS }, () => anyAddress(this.#random));
    this.#routers = Array.from({ length: ROUTERS }, () => anyAddress(this.#random));
    this.#shares = new Float64Array(pools);
    let sum = 0;
    for (let rank = 0; rank < pools; rank++) this.#shares[rank] = sum += 1 / (rank + 1) ** ZIPF;
  }

  /** All blocks in order, with every field that a portal has of them. */
  *blocks(): Generator<PortalBlock> {
    const first = firstDayBlock(this.market.pools.length);
    let parentHash = ZERO_HASH;
    for (let number = 0; number < first + this.#blocks; number++) {
      const isDay = number >= first;
      const timestamp = isDay ? this.#timeOf(number - first) : DAY_START - POOL_AGE_S + 2 * number;
      const transactions = isDay ? this.#trade(number) : this.#createPools(number);
      const block = this.#assemble({ number, timestamp, parentHash, transactions });
      parentHash = block.header.hash;
      yield block;
    }
  }

  /** Unix seconds of a block of the day. */
  #timeOf(block: number): number {
    const time = DAY_START + 2 * block;
    const head = block - (this.#blocks - HEAD_BLOCKS);
    if (head < 0 || this.#daysAgo === 0) return time;
    return time + this.#daysAgo * 86_400 + (head > 0 ? HEAD_GAP_S : 0);
  }

  #createPools(number: number): Transaction[] {
    const from = (number - 1) * POOLS_A_BLOCK;
    const pools = number === 0 ? [] : this.market.pools.slice(from, from + POOLS_A_BLOCK);
    return pools.map((pool) => {
      const owner = this.#wallet();
      const isV2 = pool.factory.kind === "aerodrome-v2";
      const made = isV2 ? new V2DayPool(pool) : new V3DayPool(pool, number);
      this.#pools.push(made);
      return { from: owner, logs: made.create(owner, number) };
    });
  }

  #trade(number: number): Transaction[] {
    const random = this.#random;
    const wanted = this.#logsPerBlock * (0.5 + random.next());
    const transactions: Transaction[] = [];
    let count = 0;
    while (count < wanted) {
      const from = this.#wallet();
      const logs =
        random.next() < LIQUIDITY_SHARE
          ? this.#pick().changeLiquidity(random, from)
          : this.#route(number, from);
      transactions.push({ from, logs });
      count += logs.length;
    }
    return transactions;
  }

  /** A swap over one pool, or over two or three. */
  #route(block: number, recipient: string): Emitted[] {
    const random = this.#random;
    const hops = 1 + (random.next() < 0.4 ? 1 + random.below(2) : 0);
    const sender = random.pick(this.#routers);
    return Array.from({ length: hops }, () => this.#pick().swap({ random, block, sender, recipient })).flat();
  }

  #pick(): V3DayPool | V2DayPool {
    const shares = this.#shares;
    const wanted = this.#random.next() * (shares.at(-1) as number);
    let [low, high] = [0, shares.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((shares[middle] as number) > wanted) high = middle;
      else low = middle + 1;
    }
    return this.#pools[low] as V3DayPool | V2DayPool;
  }

  /** Some wallets trade much more than most. */
  #wallet(): string {
    return this.#wallets[Math.floor(WALLETS * this.#random.next() ** 3)] as string;
  }

  #assemble(options: {
    number: number;
    timestamp: number;
    parentHash: string;
    transactions: readonly Transaction[];
  }): PortalBlock {
    const { number, timestamp, parentHash } = options;
    const random = this.#random;
    const logs: PortalItem[] = [];
    const items = new Set<string>();
    const transactions = options.transactions.map(({ from, logs: emitted }, transactionIndex): PortalItem => {
      const hash = `0x${anyHex(random, 8)}`;
      for (const { address, topics, data } of emitted) {
        logs.push({ logIndex: logs.length, transactionIndex, transactionHash: hash, address, data, topics });
        items.add(address);
        for (const topic of topics) items.add(topic);
      }
      return { transactionIndex, hash, from, nonce: number };
    });
    const fields = {
      ...{ number, parentHash, timestamp },
      transactionsRoot: `0x${anyHex(random, 8)}`,
      receiptsRoot: `0x${anyHex(random, 8)}`,
      stateRoot: `0x${anyHex(random, 8)}`,
      logsBloom: this.#blooms.bloomOf(items),
      ...CONSTANT_FIELDS,
    };
    const hash = computeHeaderHash(fields) as string;
    return { header: { ...fields, hash }, transactions, logs };
  }
}

/** What differs in truth, but matters to nobody here. */
const CONSTANT_FIELDS = {
  sha3Uncles: "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
  miner: "0x4200000000000000000000000000000000000011",
  difficulty: "0x0",
  gasLimit: "0x5f5e100",
  gasUsed: "0x2faf080",
  extraData: "0x",
  mixHash: ZERO_HASH,
  nonce: "0x0000000000000000",
  baseFeePerGas: "0x4c4b40",
  withdrawalsRoot: "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
  blobGasUsed: "0x0",
  excessBlobGas: "0x0",
  parentBeaconBlockRoot: ZERO_HASH,
  size: 100_000,
};
