import type { EvmSource, RawLog } from "../../../shared/evm/port.ts";
import { planScan, runScan, type ScanContext } from "../../../shared/index/evm/discovery.ts";
import type { PlannedScan } from "../../../shared/ingest-status/progress.ts";
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
import { readScannedTo } from "../../store/queries.ts";
import { toListings } from "../../views/pool-listing.ts";
import type { CreatedPool } from "../fetch/block-batch.ts";
import { readPoolRows } from "./pool-rows.ts";
import { TokenReader } from "./token-reader.ts";

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
      const scannedTo = await readScannedTo(store, { chainId, factory: address });
      return planScan({ name: address, fromBlock }, { scannedTo, toBlock });
    }),
  );
}

/**
 * Finds the pools that factories created before the first indexed block, so that every pool is known before its
 * events. Resumes where it was interrupted; later pools come with the events of the indexed blocks.
 */
export async function discoverPools(
  store: Store,
  options: ScanContext & {
    factories: readonly Factory[];
    toBlock: number;
    head: number;
    guard: Guard;
    /** Default WRITE_POOLS; set by tests. */
    writePools?: number;
  },
): Promise<void> {
  const { source, factories, toBlock, head, guard, writePools = WRITE_POOLS } = options;
  const { chainId } = source;
  const reader = { tokenReader: new TokenReader(store, source), source };
  for (const factory of factories) {
    const { address } = factory;
    const decoder = protocolOf(factory.kind).created;
    const scan = {
      name: address,
      fromBlock: factory.fromBlock,
      scannedTo: await readScannedTo(store, { chainId, factory: address }),
      toBlock,
      filter: { topics: [decoder.topic], addresses: [address] },
    };
    let found = emptyFoundPools();
    const write = async (blockNumber: number): Promise<void> => {
      await store.write([
        ...guard(),
        put(tokens, found.tokens),
        put(pools, found.pools),
        put(poolListings, toListings(found.pools)),
        put(discoveries, [{ chainId, factory: address, blockNumber }]),
      ]);
      found = emptyFoundPools();
    };
    await runScan(options, scan, async ({ range, logs }) => {
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
      return created.length;
    });
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
