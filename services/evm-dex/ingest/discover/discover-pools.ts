import { scanLogs } from "../../../shared/evm/logs/scan.ts";
import type { EvmSource, RawLog } from "../../../shared/evm/port.ts";
import type { PlannedScan, ProgressReport } from "../../../shared/ingest-status/progress.ts";
import type { Guard } from "../../../shared/storage/lease.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import type { Factory } from "../../deployments.ts";
import { protocolOf } from "../../protocols/index.ts";
import { type Decoder, matchesDecoder, type PoolCreatedEvent } from "../../protocols/protocol.ts";
import {
  discoveries,
  type PoolRow,
  poolListings,
  pools,
  type TokenRow,
  tokens,
} from "../../store/collections.ts";
import { toListings } from "../../views/pool-listing.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";
import { readPoolRows } from "./pool-rows.ts";
import { TokenReader } from "./token-reader.ts";

/**
 * PoolCreated is rare: most providers serve this many blocks of one contract, and the scan adapts the range from
 * here.
 */
const INITIAL_RANGE = 10_000;
const CONCURRENCY = 4;
/** Most ranges have no PoolCreated at all: this many blocks of each response are checked against their bloom. */
const VERIFY_BLOCKS = 20;
/**
 * Found pools are written in groups: in a list of half a million, every write of a few pools touches other pages in
 * each of twelve indexes. 20,000 at once take a third of the time of 5,000. A restart finds again what was not
 * written.
 */
const WRITE_POOLS = 20_000;
const WRITE_AFTER_MS = 30_000;

/** What discoverPools has to scan, and how much of it is done. */
export function planPools(
  store: Store,
  { chainId, factories, toBlock }: { chainId: number; factories: readonly Factory[]; toBlock: number },
): Promise<PlannedScan[]> {
  return Promise.all(
    factories.map(async ({ address, fromBlock }) => {
      const done = await store.get(discoveries, { chainId, factory: address });
      return {
        name: address,
        from: fromBlock,
        at: Math.max(done?.blockNumber ?? -1, fromBlock - 1),
        to: toBlock,
      };
    }),
  );
}

/**
 * Finds the pools that factories created before the first indexed block, so that every pool is known before its
 * events. Resumes where it was interrupted; later pools come with the events of the indexed blocks.
 */
export async function discoverPools(
  store: Store,
  {
    source,
    toBlock,
    head,
    signal,
    report,
    writePools = WRITE_POOLS,
    factories,
    guard,
  }: {
    source: EvmSource;
    factories: readonly Factory[];
    toBlock: number;
    head: number;
    signal: AbortSignal;
    report: ProgressReport;
    guard: Guard;
    /** Default WRITE_POOLS; set by tests. */
    writePools?: number;
  },
): Promise<void> {
  const { chainId } = source;
  const reader = { tokenReader: new TokenReader(store, source), source };
  for (const factory of factories) {
    const done = await store.get(discoveries, { chainId, factory: factory.address });
    const fromBlock = Math.max(factory.fromBlock, (done?.blockNumber ?? -1) + 1);
    if (fromBlock > toBlock) continue;
    const decoder = protocolOf(factory.kind).created;
    const filter = { topics: [decoder.topic], addresses: [factory.address] };
    const scan = scanLogs(source, {
      fromBlock,
      toBlock,
      filter,
      initialRange: INITIAL_RANGE,
      concurrency: CONCURRENCY,
      verifyBlocks: VERIFY_BLOCKS,
      signal,
    });
    let found = emptyFoundPools();
    const write = async (blockNumber: number): Promise<void> => {
      await store.write([
        ...guard(),
        put(tokens, found.tokens),
        put(pools, found.pools),
        put(poolListings, toListings(found.pools)),
        put(discoveries, [{ chainId, factory: factory.address, blockNumber }]),
      ]);
      found = emptyFoundPools();
    };
    for await (const { range, logs } of scan) {
      const created = await toCreated(source, {
        logs: logs.filter((log) => matchesDecoder(log, decoder)),
        factory,
        decoder,
      });
      const described = await readPoolRows(reader, { chainId, created, block: head });
      found.tokens.push(...described.tokens);
      found.pools.push(...described.pools);
      const isDue = found.pools.length >= writePools || performance.now() - found.sinceMs > WRITE_AFTER_MS;
      if (isDue || range.toBlock === toBlock) await write(range.toBlock);
      const done = { from: fromBlock, at: range.toBlock, to: toBlock, events: created.length };
      report({ stage: "discovery", scan: factory.address, ...done });
    }
  }
}

interface FoundPools {
  readonly tokens: TokenRow[];
  readonly pools: PoolRow[];
  readonly sinceMs: number;
}

function emptyFoundPools(): FoundPools {
  return { tokens: [], pools: [], sinceMs: performance.now() };
}

async function toCreated(
  source: EvmSource,
  {
    logs,
    decoder,
    factory,
  }: { logs: readonly RawLog[]; factory: Factory; decoder: Decoder<PoolCreatedEvent> },
): Promise<CreatedPool[]> {
  const times = await timesOf(source, logs);
  return logs.map((log) => ({
    ...decoder.decode(log),
    factory,
    block: log.blockNumber,
    time: times.get(log.blockNumber) as number,
  }));
}

/** From the logs where the node sends timestamps, else from the headers. */
async function timesOf(source: EvmSource, logs: readonly RawLog[]): Promise<Map<number, number>> {
  const times = new Map<number, number>();
  const unknown = new Set<number>();
  for (const log of logs) {
    if (log.blockTimestamp === undefined) unknown.add(log.blockNumber);
    else times.set(log.blockNumber, log.blockTimestamp);
  }
  const headers = await source.headers([...unknown]);
  for (const header of headers) {
    if (header !== null) times.set(header.number, header.timestamp);
  }
  const missing = [...unknown].find((number) => !times.has(number));
  if (missing !== undefined)
    throw new Error(`Block ${missing} of chain ${source.chainId} has logs, but no header.`);
  return times;
}
