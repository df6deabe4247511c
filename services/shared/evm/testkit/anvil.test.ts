import { expect } from "chai";
import { after, before, it } from "mocha";
import { FAULT_NAMES, type FaultCounts, startFaultyRpc } from "../../../../deploy/devnet/node/faulty-rpc.ts";
import { describeWithChain, itThorough } from "../../testkit/describe.ts";
import { computeLogsBloom, findSuspectBlocks } from "../bloom.ts";
import { scanLogs } from "../logs/scan.ts";
import type { BlockHeader, EvmSource, RawLog } from "../port.ts";
import { createEvmSource, type SourceOptions } from "../source/source.ts";
import { EMITTERS, type EmitterChain, REVERTER, startEmitterChain } from "./emitter.ts";

const BLOCKS = 150;
const FILTER = { topics: EMITTERS.map((emitter) => emitter.topic) };
const IMPATIENT: SourceOptions = {
  timeoutMs: 150,
  backoffMs: 5,
  maxBackoffMs: 50,
  openMs: 50,
  maxOpenMs: 100,
  rateCoolMs: 5,
  minHedgeMs: 20,
};

let chain: EmitterChain;
const opened: EvmSource[] = [];

function open(urls: readonly string[], options: SourceOptions = {}): EvmSource {
  const source = createEvmSource({ chainId: 8453, urls, options });
  opened.push(source);
  return source;
}

/** The chain's logs as the node itself returns them, without this repository's code. */
async function readTruth(): Promise<string[]> {
  const raw = await chain.anvil.rpc.call<{ blockNumber: string; logIndex: string; blockHash: string }[]>(
    "eth_getLogs",
    [{ fromBlock: "0x1", toBlock: `0x${BLOCKS.toString(16)}`, topics: [FILTER.topics] }],
  );
  return raw.map((log) => `${Number(log.blockNumber)}/${Number(log.logIndex)}/${log.blockHash}`);
}

function identify(logs: readonly RawLog[]): string[] {
  return logs.map((log) => `${log.blockNumber}/${log.logIndex}/${log.blockHash}`);
}

describeWithChain("EVM source over anvil", () => {
  before(async () => {
    chain = await startEmitterChain();
    for (let i = 0; i < BLOCKS; i++) await chain.mine([i % 3 === 0 ? 0 : i % 5, i % 7 === 0 ? 2 : 0]);
  });

  after(async () => {
    for (const source of opened) await source.close();
    await chain?.anvil.stop();
  });

  it("reads heads, blocks, senders, logs and calls", async () => {
    const source = open([chain.anvil.url]);
    const head = await source.head();
    expect(head.number).to.equal(BLOCKS);
    const [block] = await source.blocks([2]);
    expect(block?.senders).to.deep.equal([chain.sender]);
    const headers = await source.headers([1, 2, BLOCKS + 50]);
    expect(headers[1]?.parentHash).to.equal(headers[0]?.hash);
    expect(headers[2]).to.equal(null);
    const logs = await source.logs({ fromBlock: 1, toBlock: BLOCKS }, FILTER);
    expect(identify(logs)).to.deep.equal(await readTruth());
    const [reverted, empty] = await source.call([
      { to: REVERTER, data: "0x", block: BLOCKS },
      { to: chain.sender, data: "0x", block: BLOCKS },
    ]);
    expect([reverted, empty]).to.deep.equal([null, "0x"]);
    const tip = { number: head.number, hash: head.hash, time: head.timestamp };
    const final = await source.finalBlock(tip);
    expect(final?.number).to.equal(Math.max(0, BLOCKS - 64));
    expect((await source.headers([final?.number ?? -1]))[0]?.hash).to.equal(final?.hash);
    expect(await source.finalBlock({ ...tip, hash: `0x${"11".repeat(32)}` })).to.equal(null);
  });

  it("restricts logs to addresses", async () => {
    const source = open([chain.anvil.url]);
    const [first] = EMITTERS;
    const logs = await source.logs(
      { fromBlock: 1, toBlock: BLOCKS },
      { ...FILTER, addresses: [first?.address ?? "0x"] },
    );
    expect(new Set(logs.map((log) => log.topics[0]))).to.deep.equal(new Set([first?.topic]));
  });

  it("finds genuine blooms: each block's logs give its header's bloom, and missing logs are suspected", async () => {
    const source = open([chain.anvil.url]);
    const logs = await source.logs({ fromBlock: 1, toBlock: BLOCKS }, FILTER);
    const numbers = Array.from({ length: BLOCKS }, (_, i) => i + 1);
    const headers = (await source.headers(numbers)) as BlockHeader[];
    for (const header of headers) {
      expect(header.logsBloom).to.equal(
        computeLogsBloom(logs.filter((log) => log.blockNumber === header.number)),
      );
    }
    const withLogs = [...new Set(logs.map((log) => log.blockNumber))];
    expect(findSuspectBlocks(headers, [], FILTER)).to.deep.equal(withLogs);
    expect(await source.verifyEmpty(headers, { logs: [], filter: FILTER })).to.deep.equal(logs);
  });

  it("scans in ranges of any size", async () => {
    const source = open([chain.anvil.url]);
    const found: RawLog[] = [];
    for await (const { logs } of scanLogs(source, {
      fromBlock: 1,
      toBlock: BLOCKS,
      filter: FILTER,
      initialRange: 7,
      targetLogs: 40,
    })) {
      found.push(...logs);
    }
    expect(identify(found)).to.deep.equal(await readTruth());
  });

  itThorough("loses and doubles nothing behind endpoints that fail in every way", async () => {
    const truth = await readTruth();
    const total = Object.fromEntries(FAULT_NAMES.map((name) => [name, 0])) as Record<
      keyof FaultCounts,
      number
    >;
    const p = 0.06;
    const faults = {
      hang: p / 2,
      rateLimit: p,
      truncated: p,
      badGateway: p,
      reset: p,
      emptyLogs: 0.2,
      duplicateLogs: 0.2,
      headBack: 0.1,
    };
    for (const [seed, withSecond] of [
      [1, false],
      [2, true],
      [3, false],
    ] as const) {
      const faulty = await startFaultyRpc({
        target: chain.anvil.url,
        faults,
        seed,
        rangeLimit: 20,
        retryAfterS: 0,
      });
      const second = await startFaultyRpc({
        target: chain.anvil.url,
        faults,
        seed: seed + 100,
        rangeLimit: 20,
        retryAfterS: 0,
      });
      const source = open(withSecond ? [faulty.url, second.url] : [faulty.url], IMPATIENT);
      const found: RawLog[] = [];
      const options = {
        fromBlock: 1,
        toBlock: BLOCKS,
        filter: FILTER,
        initialRange: 30,
        verifyBlocks: Number.POSITIVE_INFINITY,
      };
      for await (const { logs } of scanLogs(source, options)) found.push(...logs);
      expect(identify(found), `seed ${seed}`).to.deep.equal(truth);
      let last = 0;
      for (let i = 0; i < 20; i++) {
        const { number } = await source.head();
        expect(number).to.be.at.least(last);
        last = number;
      }
      for (const name of FAULT_NAMES) total[name] += faulty.counts()[name] + second.counts()[name];
      await source.close();
      await faulty.close();
      await second.close();
    }
    for (const name of FAULT_NAMES) expect(total[name], name).to.be.greaterThan(0);
  });

  const hasSocket = globalThis.WebSocket !== undefined;
  it(
    hasSocket ? "wakes up on a new block by websocket" : "waits by the timer: this runtime has no WebSocket",
    async () => {
      const source = open([chain.anvil.url, chain.anvil.wsUrl]);
      const never = new AbortController().signal;
      // Heads are missed until the subscription is active.
      await source.waitForHead(500, never);
      const waiting = source.waitForHead(hasSocket ? 30_000 : 200, never);
      await chain.mine([0, 0]);
      await waiting;
      expect((await source.head()).number).to.equal(BLOCKS + 1);
    },
  );
});
