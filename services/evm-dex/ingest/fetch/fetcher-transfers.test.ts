import { expect } from "chai";
import { describe, it } from "mocha";
import { ReorgDetected } from "../../../shared/chain-errors.ts";
import type { Hex } from "../../../shared/evm/port.ts";
import { aerodromeV2 } from "../../protocols/aerodrome-v2.ts";
import { createLogChain, type Emitted, type LogChain } from "../../test/kit/log-chain.ts";
import { address } from "../../test/kit/rows.ts";
import {
  created,
  emit,
  aerodromeFactory as factory,
  gaugeCreated,
  minted,
  transfer,
} from "../../test/v2/aerodrome-logs.ts";
import type { BlockBatch } from "./block-batch.ts";
import { Fetcher } from "./fetcher.ts";
import { WatchedPools } from "./watched-pools.ts";

const [OLD, NEW, GAUGE, TOKEN] = [address(0x900), address(0x901), address(0x950), address(0x10)] as const;
const [ANN, BOB] = [address(0xa), address(0xb)];
const signal = new AbortController().signal;

const stake = (pool: Hex, gauge: Hex): Emitted[] => [
  transfer(pool, gauge, { from: ANN }),
  emit(gauge, "Deposit", { from: ANN, to: ANN, amount: 5_000n }),
];

/** Of each block its transactions: LP tokens of an old pool and of one that is created wander about. */
const BLOCKS: readonly (readonly (readonly Emitted[])[])[] = [
  [[transfer(TOKEN, BOB, { from: ANN })], [transfer(OLD, BOB, { from: ANN })]],
  [[created(NEW)], [transfer(TOKEN, ANN)], minted(NEW, ANN)],
  [],
  [[transfer(NEW, BOB, { from: ANN })], [transfer(address(0x999), BOB)]],
  [[gaugeCreated(NEW, GAUGE)], stake(NEW, GAUGE)],
  [[transfer(OLD, ANN, { from: BOB })], minted(OLD, BOB)],
];
const EVENTS = [
  [1, OLD, "transfer"],
  [2, NEW, "transfer"],
  [2, NEW, "sync"],
  [2, NEW, "mint"],
  [4, NEW, "transfer"],
  [5, NEW, "gauge_created"],
  [5, NEW, "transfer"],
  [5, NEW, "deposit"],
  [6, OLD, "transfer"],
  [6, OLD, "transfer"],
  [6, OLD, "sync"],
  [6, OLD, "mint"],
];

function fetcherOf(source: LogChain): Fetcher {
  return new Fetcher(source, {
    factories: [factory],
    known: {
      protocolOf: (pool) => (pool === OLD ? aerodromeV2 : undefined),
      poolOfGauge: () => undefined,
      isForeign: () => true,
    },
    watchedPools: new WatchedPools([OLD]),
    maxAddresses: 1,
  });
}

const eventsOf = (batches: readonly (BlockBatch | undefined)[]) =>
  batches.flatMap((batch) =>
    (batch as BlockBatch).blocks.flatMap(({ number, events }) =>
      events.map(({ poolAddress, event }) => [number, poolAddress, event.kind]),
    ),
  );

const RANGES = [
  { fromBlock: 1, toBlock: 1 },
  { fromBlock: 2, toBlock: 3 },
  { fromBlock: 4, toBlock: 6 },
];

/** As the backfill reads: logs by topic first. */
function readSettled(source: LogChain): Promise<BlockBatch[]> {
  const fetcher = fetcherOf(source);
  const transfers = fetcher.scanTransfers({ from: 1, to: 6, signal });
  return Promise.all(
    RANGES.map(async (range) =>
      fetcher.readSettled({ range, logs: await source.logs(range, fetcher.filter), links: [] }, transfers),
    ),
  );
}

async function readTail(source: LogChain): Promise<BlockBatch[]> {
  const fetcher = fetcherOf(source);
  const batches: BlockBatch[] = [];
  for (const range of RANGES) {
    const [before] = await source.headers([range.fromBlock - 1]);
    batches.push(await fetcher.readTail(range, before?.hash as Hex));
  }
  return batches;
}

async function readWhole(source: LogChain): Promise<(BlockBatch | undefined)[]> {
  const fetcher = fetcherOf(source);
  return Promise.all(RANGES.map((range) => fetcher.readWhole(range)));
}

describe("Fetcher: LP tokens' Transfers", () => {
  const ways: Record<string, () => Promise<(BlockBatch | undefined)[]>> = {
    "by range, far behind the head": () => readSettled(createLogChain(BLOCKS)),
    "by range, at the head": () => readTail(createLogChain(BLOCKS)),
    "with whole blocks, far behind the head": () => readWhole(createLogChain(BLOCKS, { whole: true })),
    "with whole blocks, at the head": () => readTail(createLogChain(BLOCKS, { whole: true })),
  };
  for (const [name, read] of Object.entries(ways)) {
    it(`come ${name}: of old pools, of new ones from their first, of no other token`, async () => {
      const batches = await read();
      expect(eventsOf(batches)).to.deep.equal(EVENTS);
      expect(batches.flatMap((batch) => batch?.gauges)).to.deep.equal([
        { gauge: GAUGE, voter: factory.rewards?.voter, pool: NEW, block: 5 },
      ]);
      for (const batch of batches) {
        for (const { events } of batch?.blocks ?? []) {
          expect(events.map(({ logIndex }) => logIndex)).to.deep.equal(
            events.map(({ logIndex }) => logIndex).sort((a, b) => a - b),
          );
        }
      }
    });
  }

  it("are fetched by topic alone only of one block, by its hash", async () => {
    const source = createLogChain(BLOCKS);
    await readSettled(source);
    await readTail(source);
    const topic = transfer(OLD, BOB).topics[0] as Hex;
    const requested = source.requested.filter(({ filter }) => filter.topics.includes(topic));
    expect(requested.length).to.be.greaterThan(3);
    for (const { filter, range } of requested)
      if (range.blockHash === undefined) expect(filter.addresses).to.have.length(1);
    const ofBlocks = requested.filter(({ range }) => range.blockHash !== undefined);
    expect(ofBlocks.length).to.be.greaterThan(0);
    for (const { range } of ofBlocks) expect(range.toBlock).to.equal(range.fromBlock);
  });

  for (const fullBlooms of [false, true]) {
    it(`that a node withholds are detected at mints and stakes, blooms ${fullBlooms ? "full" : "selective"}`, async () => {
      const topic = transfer(OLD, BOB).topics[0];
      for (const block of [2, 5, 6]) {
        for (const read of [readSettled, readTail]) {
          const source = createLogChain(BLOCKS, { fullBlooms });
          let isHonest = false;
          source.withhold((log) => !isHonest && log.blockNumber === block && log.topics[0] === topic);
          const batches = await read(source).catch((caught: unknown) => caught);
          if (batches instanceof ReorgDetected) expect(batches.message).to.contain(`Logs of block ${block}`);
          // Where the blooms showed it, the response is complete.
          else expect(eventsOf(batches as BlockBatch[])).to.deep.equal(EVENTS);
          isHonest = true;
          expect(eventsOf(await read(source))).to.deep.equal(EVENTS);
        }
      }
    });
  }

  it("that a contract does not emit are not waited for", async () => {
    const odd = [[[created(NEW)], minted(NEW, ANN).slice(1)]];
    for (const fullBlooms of [false, true]) {
      const source = createLogChain(odd, { fullBlooms });
      const fetcher = fetcherOf(source);
      const [start] = await source.headers([0]);
      const batch = await fetcher.readTail({ fromBlock: 1, toBlock: 1 }, start?.hash as Hex);
      expect(eventsOf([batch])).to.deep.equal([
        [1, NEW, "sync"],
        [1, NEW, "mint"],
      ]);
    }
  });
});
