import { expectedFalsePositives } from "../../../shared/evm/bloom.ts";
import { scanLogs } from "../../../shared/evm/logs/scan.ts";
import {
  type LogSource,
  MAX_FALSE_POSITIVES,
  splitByAddress,
} from "../../../shared/evm/logs/split-by-address.ts";
import type { BlockHeader, Hex, LogRange, RawLog } from "../../../shared/evm/port.ts";
import { compareLogs } from "../../../shared/evm/source/parse.ts";
import type { WatchedPools } from "./watched-pools.ts";

/** Transfers of LP tokens are few: uses as many blocks at once as providers serve of one contract. */
const MAX_WINDOW = 5_000;
const WINDOWS = { first: 500, most: MAX_WINDOW };
const CONCURRENCY = 2;
/** The next window is asked for when this share of one is left: a provider may take seconds for it. */
const AHEAD_SHARE = 1 / 4;
/** Headers sampled to see whether the blooms of a window are selective enough. */
const SAMPLE = 8;

export interface TransferSource {
  readonly source: LogSource;
  /** Topics of the Transfers. */
  readonly topics: readonly Hex[];
  readonly watchedPools: WatchedPools;
  /** Contracts that one eth_getLogs may name. */
  readonly maxAddresses: number;
}

/** A window that is being read. */
interface Window {
  readonly toBlock: number;
  /** Those that were watched when it was asked for. */
  readonly pools: readonly Hex[];
  readonly logs: Promise<RawLog[]>;
}

/**
 * The Transfers of watched pools over a long range of blocks, taken batch by batch. Every token emits their topic, so
 * fetching by topic alone would fetch most of a chain: they are fetched by address, in windows much longer than a
 * batch, and ahead of it. For a pool that becomes watched at some batch, the rest of the window is fetched again.
 */
export class TransferScan {
  readonly #transfers: TransferSource;
  readonly #to: number;
  readonly #signal: AbortSignal;
  readonly #mostBlocks: number;
  /** Everything up to this block is in the buffer, or was taken. */
  #covered: number;
  /** Pools of the last window: pools stay watched. */
  readonly #scannedPools = new Set<Hex>();
  #buffer: RawLog[] = [];
  /** Blocks that the provider last served in one request. */
  #servedBlocks = MAX_WINDOW;
  #window: number;
  /** The window after `covered`, where it is already asked for. */
  #next: Window | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param run `windows`: blocks of the first window, and most of one */
  constructor(
    options: TransferSource,
    run: { from: number; to: number; signal: AbortSignal; windows?: { first: number; most: number } },
  ) {
    const { first, most } = run.windows ?? WINDOWS;
    this.#window = first;
    this.#mostBlocks = most;
    this.#transfers = options;
    this.#to = run.to;
    this.#signal = run.signal;
    this.#covered = run.from - 1;
  }

  /** The Transfers of the next range, which must follow on the one before; `fresh` are pools watched from it on. */
  take(range: LogRange, fresh: readonly Hex[]): Promise<RawLog[]> {
    const taken = this.#turn.then(() => this.#take(range, fresh));
    // A failure rejects this call only.
    this.#turn = taken.catch(() => {});
    return taken;
  }

  async #take(range: LogRange, fresh: readonly Hex[]): Promise<RawLog[]> {
    const late = fresh.filter((pool) => !this.#scannedPools.has(pool));
    if (late.length > 0 && this.#covered >= range.fromBlock) {
      const left = { fromBlock: range.fromBlock, toBlock: this.#covered };
      this.#buffer = [...this.#buffer, ...(await this.#scan(left, late))].sort(compareLogs);
    }
    while (this.#covered < range.toBlock) await this.#cover();
    const isNearEnd = this.#covered - range.toBlock <= this.#window * AHEAD_SHARE;
    if (isNearEnd && this.#covered < this.#to) this.#next ??= this.#ask();
    const end = this.#buffer.findIndex((log) => log.blockNumber > range.toBlock);
    return this.#buffer.splice(0, end < 0 ? this.#buffer.length : end);
  }

  /** Adds the next window, also of the pools that are watched since it was asked for. */
  async #cover(): Promise<void> {
    const { toBlock, pools, logs } = this.#next ?? this.#ask();
    this.#next = undefined;
    const found = await logs;
    const known = new Set(pools);
    const late = this.#transfers.watchedPools.list().filter((pool) => !known.has(pool));
    const ofLate = await this.#scan({ fromBlock: this.#covered + 1, toBlock }, late);
    this.#buffer = this.#buffer.concat([...found, ...ofLate].sort(compareLogs));
    for (const pool of [...pools, ...late]) this.#scannedPools.add(pool);
    this.#covered = toBlock;
  }

  #ask(): Window {
    const toBlock = Math.min(this.#to, this.#covered + this.#window);
    this.#window = Math.min(this.#mostBlocks, 2 * this.#window);
    const pools = this.#transfers.watchedPools.list();
    const logs = this.#scan({ fromBlock: this.#covered + 1, toBlock }, pools);
    // Awaited when it is needed, or never: until then a failure must not count as unhandled.
    logs.catch(() => {});
    return { toBlock, pools, logs };
  }

  async #scan(range: LogRange, pools: readonly Hex[]): Promise<RawLog[]> {
    const logs: RawLog[] = [];
    const isTelling =
      pools.length > 0 && (await areBloomsSelective(this.#transfers.source, { range, count: pools.length }));
    const scan = scanTransfers(this.#transfers, {
      range,
      pools,
      initialRange: this.#servedBlocks,
      verifyBlocks: isTelling ? Number.POSITIVE_INFINITY : 0,
      signal: this.#signal,
    });
    for await (const part of scan) {
      logs.push(...part.logs);
      const blocks = part.range.toBlock - part.range.fromBlock + 1;
      if (part.range.toBlock < range.toBlock) this.#servedBlocks = blocks;
    }
    return logs;
  }
}

/** All Transfers of some pools in a range whose headers are known; `known` are those of all contracts. */
export async function readTransfers(
  options: TransferSource,
  at: {
    range: LogRange;
    pools: readonly Hex[];
    headers: readonly BlockHeader[];
    known?: readonly RawLog[] | undefined;
  },
): Promise<RawLog[]> {
  const { range, pools, headers, known } = at;
  if (pools.length === 0) return [];
  const logs: RawLog[] = [];
  if (known !== undefined) {
    const wanted = new Set(pools);
    logs.push(...known.filter(({ address }) => wanted.has(address)));
  } else {
    const initialRange = range.toBlock - range.fromBlock + 1;
    for await (const part of scanTransfers(options, { range, pools, initialRange, verifyBlocks: 0 }))
      logs.push(...part.logs);
  }
  return splitByAddress(options.source, options.maxAddresses).verifyEmpty(headers, {
    logs,
    filter: { topics: options.topics, addresses: pools },
  });
}

async function* scanTransfers(
  { source, maxAddresses, topics }: TransferSource,
  at: {
    range: LogRange;
    pools: readonly Hex[];
    initialRange: number;
    verifyBlocks: number;
    signal?: AbortSignal;
  },
) {
  const { range, pools, signal, ...sizes } = at;
  if (pools.length === 0) return;
  yield* scanLogs(splitByAddress(source, maxAddresses), {
    ...range,
    ...sizes,
    filter: { topics, addresses: pools },
    maxRange: MAX_WINDOW,
    concurrency: CONCURRENCY,
    ...(signal && { signal }),
  });
}

/** Whether the blooms of a sample are empty enough to disprove a response without logs. */
async function areBloomsSelective(
  source: LogSource,
  options: { range: LogRange; count: number },
): Promise<boolean> {
  const { fromBlock, toBlock } = options.range;
  const count = Math.min(SAMPLE, toBlock - fromBlock + 1);
  const sample = Array.from({ length: count }, (_, i) =>
    Math.floor(fromBlock + ((toBlock - fromBlock) * i) / Math.max(1, count - 1)),
  );
  const headers = await source.headers([...new Set(sample)]);
  return headers.some(
    (header) =>
      header !== null && expectedFalsePositives(header.logsBloom, options.count) < MAX_FALSE_POSITIVES,
  );
}
