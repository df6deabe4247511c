import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, afterEach, before, beforeEach, describe, it } from "mocha";
import { createRandom } from "../../../../deploy/devnet/random.ts";
import { type Clock, systemClock } from "../../rpc-client/endpoint/clock.ts";
import { scanLogs } from "../logs/scan.ts";
import type { EvmSource, Hex, HistoryPart, LogFilter, LogRange, RawLog } from "../port.ts";
import { computeHeaderHash } from "../proof/header-hash.ts";
import { createLogFilter } from "../source/parse.ts";
import { type ChainPortal, type SentLine, startChainPortal } from "../testkit/chain-portal.ts";
import {
  contract,
  createPortalChain,
  type EmittedLog,
  type PortalChain,
  word,
} from "../testkit/portal-chain.ts";
import { type PortalHistoryOptions, withPortal } from "./with-portal.ts";

const BLOCKS = 1_300;
const LAST = BLOCKS - 1;
const TOPICS = [1, 2, 3, 4].map((n) => word(0x1000 + n));
const POOLS = [1, 2, 3, 4, 5].map((n) => contract(0x2000 + n));
const FILTER: LogFilter = { topics: TOPICS.slice(0, 2) };
const CREATIONS: LogFilter = { topics: TOPICS.slice(0, 1), addresses: POOLS.slice(0, 2) };
const WHOLE: LogRange = { fromBlock: 1, toBlock: LAST };

/** Some blocks without logs, some with several transactions. */
function planChain(seed: number): EmittedLog[][][] {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]) => list[random.below(list.length)] as T;
  const emit = () => ({ address: pick(POOLS), topics: [pick(TOPICS), word(random.below(9))] });
  return Array.from({ length: BLOCKS }, () =>
    Array.from({ length: random.below(3) }, () => Array.from({ length: random.below(4) }, emit)),
  );
}

describe("withPortal", () => {
  let chain: PortalChain;
  let portal: ChainPortal;
  let source: EvmSource;
  let log: Record<string, unknown>[];
  let skippedMs: number;

  before(async () => {
    chain = createPortalChain(planChain(5));
    portal = await startChainPortal(async (from, to) => chain.blocks.slice(from, to + 1));
  });

  after(() => portal.close());

  beforeEach(() => {
    chain.source.calls.length = 0;
    chain.source.final = LAST;
    portal.final = chain.blocks[LAST]?.header as ChainPortal["final"];
    portal.tamper = (line) => line;
    portal.cutAfter = 170;
    (portal.asked as unknown[]).length = 0;
    log = [];
    skippedMs = 0;
    source = open();
  });

  afterEach(() => source.close());

  function open(options: PortalHistoryOptions = {}): EvmSource {
    const clock: Clock = {
      ...systemClock,
      now: () => systemClock.now() + skippedMs,
      wallNow: () => systemClock.wallNow() + skippedMs,
      async sleep(ms, signal) {
        // Time limits are longer than pauses.
        if (ms >= 20_000) return systemClock.sleep(ms, signal);
        skippedMs += ms;
      },
    };
    return withPortal(chain.source, {
      url: portal.url,
      log: (message, fields) => log.push({ message, ...fields }),
      options: { gapMs: 0, clock, ...options },
    });
  }

  async function read(filter: LogFilter, range: LogRange = WHOLE): Promise<HistoryPart[]> {
    const parts: HistoryPart[] = [];
    const { signal } = new AbortController();
    for await (const part of source.history?.(range, filter, signal) ?? []) parts.push(part);
    return parts;
  }

  const truth = (filter: LogFilter, { fromBlock, toBlock }: LogRange = WHOLE): RawLog[] =>
    chain.blocks.slice(fromBlock, toBlock + 1).flatMap(({ logs }) => logs.filter(createLogFilter(filter)));
  const logsOf = (parts: readonly HistoryPart[]) =>
    parts.flatMap(({ blocks }) => blocks.flatMap(({ logs }) => logs));
  const reasons = () => log.map(({ reason }) => reason);

  function expectRanges(parts: readonly HistoryPart[], { fromBlock, toBlock }: LogRange): void {
    let next = fromBlock;
    for (const { range, blocks } of parts) {
      expect(range.fromBlock).to.equal(next);
      expect(blocks.at(-1)?.number).to.equal(range.toBlock);
      next = range.toBlock + 1;
    }
    expect(next).to.equal(toBlock + 1);
  }

  it("brings every block of a range with the filter's logs and their senders", async () => {
    const parts = await read(FILTER);
    expectRanges(parts, WHOLE);
    expect(logsOf(parts)).to.deep.equal(truth(FILTER));
    const blocks = parts.flatMap((part) => part.blocks);
    expect(blocks.map(({ number, hash }) => [number, hash])).to.deep.equal(
      chain.blocks.slice(1).map(({ header }) => [header.number, header.hash]),
    );
    for (const { number, logs, senders } of blocks) {
      for (const { transactionIndex: at } of logs)
        expect(senders[at]).to.equal(chain.blocks[number]?.transactions[at]?.from);
    }
    expect(reasons()).to.deep.equal([]);
    // A hash for each range that was asked for, not a header for each block.
    expect(chain.source.calls.filter((call) => call.startsWith("headers")).length).to.be.at.most(12);
  });

  it("brings only blocks with logs for a filter by contracts", async () => {
    const parts = await read(CREATIONS);
    expectRanges(parts, WHOLE);
    expect(logsOf(parts)).to.deep.equal(truth(CREATIONS));
    const silent = parts.flatMap(({ blocks }) => blocks.filter(({ logs }) => logs.length === 0));
    expect(silent.length).to.be.at.most(parts.length);
    expect(reasons()).to.deep.equal([]);
  });

  it("asks for contracts with further topics, and splits long lists of them", async () => {
    const many = Array.from({ length: 12_000 }, (_, i) => contract(0x9_0000 + i));
    const filter = { ...FILTER, addressed: { topics: [TOPICS[3] as Hex], addresses: [...many, ...POOLS] } };
    const parts = await read(filter, { fromBlock: 1, toBlock: 300 });
    expect(logsOf(parts)).to.deep.equal(truth(filter, { fromBlock: 1, toBlock: 300 }));
    for (const { logs } of portal.asked)
      expect(logs.flatMap(({ address = [] }) => address).length).to.be.at.most(5_000);
    expect(await read({ topics: TOPICS, addresses: [] }).then(logsOf)).to.deep.equal([]);
  });

  it("goes no further than what both call final, and begins where the portal does", async () => {
    portal.final = chain.blocks[700]?.header as ChainPortal["final"];
    expectRanges(await read(FILTER), { fromBlock: 1, toBlock: 700 });
    chain.source.final = 400;
    source = open();
    expectRanges(await read(FILTER), { fromBlock: 1, toBlock: 400 });
    expect(await read(FILTER, { fromBlock: 401, toBlock: LAST })).to.deep.equal([]);
    source = open();
    portal.final = null;
    expect(await read(FILTER)).to.deep.equal([]);
    expect(reasons()).to.deep.equal([]);
  });

  it("does not read further ahead of a slow consumer than its streams bring at once", async () => {
    let sent = 0;
    portal.tamper = (line) => {
      sent += line.logs?.length ?? 0;
      return line;
    };
    portal.cutAfter = 4;
    const targetLogs = 15;
    source = open({ targetLogs, receiptEvery: 1_000_000 });
    const parts: HistoryPart[] = [];
    for await (const part of source.history?.(WHOLE, FILTER, new AbortController().signal) ?? []) {
      parts.push(part);
      if (parts.length > 1) continue;
      // Until no more comes.
      for (let before = -1; before < sent; ) {
        before = sent;
        await sleep(150);
      }
      const firstPiece = logsOf(parts).length;
      expect(sent, "the piece in use, and the next one").to.be.at.least(2 * firstPiece);
      expect(sent, "the piece in use, the next one, and what three streams shall bring").to.be.at.most(
        2 * firstPiece + 3 * targetLogs,
      );
    }
    expect(logsOf(parts)).to.deep.equal(truth(FILTER));
    expect(reasons()).to.deep.equal([]);
  });

  it("compares a sample with receipts", async () => {
    source = open({ receiptEvery: 1 });
    await read(FILTER);
    expect(chain.source.calls.some((call) => call.startsWith("receipts"))).to.equal(true);
    expect(reasons()).to.deep.equal([]);
  });

  describe("detects", () => {
    const at = 612;
    const withLogs = (line: SentLine) => line.header.number >= at && (line.logs?.length ?? 0) > 0;
    /** Changes the first line with logs from `at` on. */
    const once = (change: (line: SentLine) => SentLine | null) => {
      let isDone = false;
      return (line: SentLine) => {
        if (isDone || !withLogs(line)) return line;
        isDone = true;
        return change(structuredClone(line));
      };
    };
    const rehash = (header: SentLine["header"]) => ({ ...header, hash: computeHeaderHash(header) });
    const cases: Record<string, [(line: SentLine) => SentLine | null, RegExp]> = {
      "another hash": [(line) => ({ ...line, header: { ...line.header, hash: word(7) } }), /has the hash/],
      "another time": [
        (line) => ({ ...line, header: { ...line.header, timestamp: 1 } }),
        /header of block \d+ has the hash/,
      ],
      "a header made up": [
        (line) => ({ ...line, header: rehash({ ...line.header, timestamp: 1 }) as SentLine["header"] }),
        /follows on 0x|is 0x\w+, not/,
      ],
      "a broken link": [
        (line) => ({
          ...line,
          header: rehash({ ...line.header, parentHash: word(8) }) as SentLine["header"],
        }),
        /follows on 0x/,
      ],
      "a block left out": [() => null, /blocks came of|did not come|is 0x\w+, not/],
      "a log of another topic": [
        (line) => ({ ...line, logs: line.logs?.map((each) => ({ ...each, topics: [TOPICS[3]] })) as [] }),
        /was not asked for/,
      ],
      "a log that the bloom excludes": [
        (line) => ({
          ...line,
          logs: line.logs?.map((each) => ({ ...each, address: contract(0x777) })) as [],
        }),
        /bloom of block \d+ excludes/,
      ],
      "a transaction left out": [
        (line) => ({ ...line, transactions: [] }),
        /transaction \d+ of block \d+ is missing/,
      ],
      "logs out of order": [
        (line) => ({ ...line, logs: [...(line.logs ?? []), ...(line.logs ?? [])] }),
        /comes after log/,
      ],
      "all logs of a block left out": [({ header }) => ({ header }), /log \d+ of block \d+ was withheld/],
      "a malformed log": [
        (line) => ({ ...line, logs: line.logs?.map((each) => ({ ...each, data: "0x1" })) as [] }),
        /a log of block \d+ is malformed/,
      ],
    };
    for (const [name, [change, reason]] of Object.entries(cases)) {
      it(name, async () => {
        portal.tamper = once(change);
        const parts = await read(FILTER);
        expect(log, JSON.stringify(reasons())).to.have.length(1);
        expect(reasons()[0]).to.match(reason);
        expect(log[0]).to.include({ chainId: 8453, seconds: 300 });
        // All before it is true, and nothing came after it.
        const last = parts.at(-1)?.range.toBlock ?? 0;
        expect(last).to.be.lessThan(at + 100);
        expect(logsOf(parts)).to.deep.equal(truth(FILTER, { fromBlock: 1, toBlock: last }));
      });
    }

    it("a whole chain made up", async () => {
      source = open({ streams: 1 });
      let parentHash: unknown;
      portal.tamper = (line) => {
        if (line.header.number < at) return line;
        const header = rehash({
          ...line.header,
          timestamp: 1,
          ...(parentHash !== undefined && { parentHash }),
        });
        parentHash = header.hash;
        return { ...line, header: header as SentLine["header"] };
      };
      const parts = await read(FILTER);
      expect(reasons()[0]).to.match(/^block \d+ is 0x\w+, not 0x/);
      expect(parts.at(-1)?.range.toBlock).to.be.lessThan(at);
    });

    it("logs of a block left out, where all logs are asked for", async () => {
      portal.tamper = once(({ header }) => ({ header }));
      await read({ topics: [] });
      expect(reasons()[0]).to.match(/log \d+ of block \d+ was withheld/);
    });

    const sampled: Record<string, (line: SentLine) => SentLine> = {
      "one of several logs withheld": (line) =>
        (line.logs?.length ?? 0) > 1 ? { ...line, logs: line.logs?.slice(1) as [] } : line,
      "a forged sender": (line) => ({
        ...line,
        transactions: line.transactions?.map((each) => ({ ...each, from: contract(0xbad) })) as [],
      }),
      "forged data": (line) => ({
        ...line,
        logs: line.logs?.map((each) => ({ ...each, data: "0x01" })) as [],
      }),
    };
    for (const [name, change] of Object.entries(sampled)) {
      for (const hasReceipts of [true, false]) {
        it(`${name}, in the sample by ${hasReceipts ? "receipts" : "logs"}`, async () => {
          if (!hasReceipts) source = withoutReceipts();
          else source = open({ receiptEvery: 1 });
          portal.tamper = change;
          for (let i = 0; i < 20 && log.length === 0; i++) await read(FILTER);
          expect(reasons()[0]).to.match(/is not what its receipts say|is from 0x/);
        });
      }
    }

    function withoutReceipts(): EvmSource {
      const judge = { ...chain.source, receipts: async () => undefined };
      return withPortal(judge, {
        url: portal.url,
        log: (message, fields) => log.push({ message, ...fields }),
        options: { gapMs: 0, receiptEvery: 1 },
      });
    }
  });

  it("is not asked for five minutes after it failed, then again", async () => {
    portal.tamper = ({ header }) => ({ header });
    await read(FILTER);
    expect(log).to.have.length(1);
    portal.tamper = (line) => line;
    const before = portal.asked.length;
    skippedMs += 299_000;
    expect(await read(FILTER)).to.deep.equal([]);
    expect(portal.asked.length).to.equal(before);
    skippedMs += 2_000;
    expectRanges(await read(FILTER), WHOLE);
  });

  it("leaves errors of the node to the caller, and the portal in use", async () => {
    const failing = new Error("the node is gone");
    source = withPortal(
      { ...chain.source, headers: async () => Promise.reject(failing) },
      { url: portal.url, log: (message) => log.push({ message }), options: { gapMs: 0 } },
    );
    const error = await read(FILTER).catch((caught: unknown) => caught);
    expect(error).to.equal(failing);
    expect(log).to.deep.equal([]);
  });

  it("reads a range again in halves where it holds too many logs", async () => {
    const busy = Array.from({ length: 90 }, (_, number) =>
      number < 40
        ? []
        : [
            Array.from({ length: 26 }, (_, i) => ({
              address: POOLS[i % 5] as Hex,
              topics: [TOPICS[0] as Hex],
            })),
          ],
    );
    const crowded = createPortalChain(busy);
    const server = await startChainPortal(async (from, to) => crowded.blocks.slice(from, to + 1));
    server.final = crowded.blocks.at(-1)?.header as ChainPortal["final"];
    source = withPortal(crowded.source, { url: server.url, options: { gapMs: 0, targetLogs: 160 } });
    try {
      const parts = await read(FILTER, { fromBlock: 1, toBlock: 89 });
      expectRanges(parts, { fromBlock: 1, toBlock: 89 });
      expect(logsOf(parts).length).to.equal(50 * 26);
      for (const part of parts) expect(part.blocks.length).to.be.at.most(64);
    } finally {
      await server.close();
    }
  });

  describe("scanLogs", () => {
    const options = { ...WHOLE, filter: CREATIONS, initialRange: 100 };
    const scan = async (using: EvmSource): Promise<{ logs: RawLog[]; ranges: LogRange[] }> => {
      const logs: RawLog[] = [];
      const ranges: LogRange[] = [];
      for await (const part of scanLogs(using, options)) {
        logs.push(...part.logs);
        ranges.push(part.range);
      }
      return { logs, ranges };
    };

    it("reads a filter by contracts from the history, and the rest by requests", async () => {
      portal.final = chain.blocks[700]?.header as ChainPortal["final"];
      const { logs, ranges } = await scan(source);
      expect(logs).to.deep.equal(truth(CREATIONS));
      expect(ranges.map(({ fromBlock }) => fromBlock)).to.include(701);
      const requested = chain.source.calls.filter((call) => call.startsWith("logs"));
      expect(requested[0]).to.match(/^logs 701-/);
    });

    it("reads everything by requests while the portal fails", async () => {
      portal.tamper = () => null;
      const { logs } = await scan(source);
      expect(logs).to.deep.equal(truth(CREATIONS));
      expect(reasons()).to.have.length(1);
    });
  });
});
