import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { createTestChain, type TestChain } from "../../../../deploy/devnet/testkit.ts";
import type { PortalLine } from "../../portal/stream.ts";
import type { BlockWithLogs, Hex } from "../port.ts";
import { withPortal } from "../portal/with-portal.ts";
import { createEvmSource } from "../source/source.ts";
import { openArchive } from "./folder-client.ts";
import { record } from "./record.ts";
import { readRpcLines } from "./rpc-lines.ts";

const SWAP: Hex = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67";
const MINT: Hex = "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde";
const TOPICS = [SWAP, MINT].sort();

describe("a recording of a node", () => {
  let chain: TestChain;
  let folder: string;
  let head: number;

  before(async () => {
    chain = await createTestChain({ finalDepth: 2 });
    for (let i = 0; i < 6; i++) {
      await chain.send(chain.randomActions(i, 6));
      await chain.mine(2);
    }
    head = await chain.mine(5);
    folder = await mkdtemp(join(tmpdir(), "chaintables-record-"));
  });

  after(async () => {
    await chain.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const read = ({ fromBlock, toBlock }: { fromBlock: number; toBlock: number }) =>
    readRpcLines({ chainId: 8453, urls: [chain.url], fromBlock, toBlock, items: [{ topic0: TOPICS }] });
  const options = (toBlock: number) => ({
    ...{ folder, manifest: { chainId: 8453, topics: TOPICS }, fromBlock: 0, toBlock, read },
  });

  it("goes on where it ended, and is the node's blocks as the ingest reads them", async () => {
    const last = head - 3;
    expect((await record(options(4))).blocks).to.equal(5);
    expect((await record(options(last))).blocks).to.equal(last - 4);
    expect((await record(options(last))).blocks).to.equal(0);
    expect((await openArchive(folder)).last.number).to.equal(last);
    const source = createEvmSource({ chainId: 8453, urls: [chain.url] });
    const reasons: unknown[] = [];
    const recorded = withPortal(source, {
      url: pathToFileURL(folder).href,
      log: (_, fields) => reasons.push(fields),
      options: { receiptEvery: 1 },
    });
    try {
      const filter = { topics: TOPICS };
      const range = { fromBlock: 0, toBlock: last };
      const blocks: BlockWithLogs[] = [];
      const { signal } = new AbortController();
      for await (const part of recorded.history?.(range, filter, signal) ?? []) blocks.push(...part.blocks);
      expect(reasons).to.deep.equal([]);
      expect(blocks.map(({ number }) => number)).to.deep.equal(Array.from({ length: last + 1 }, (_, i) => i));
      const logs = await source.logs(range, filter);
      expect(logs.length).to.be.greaterThan(20);
      expect(blocks.flatMap((block) => block.logs).map(({ data }) => data)).to.deep.equal(
        logs.map(({ data }) => data),
      );
      const whole = await source.blocks(blocks.map(({ number }) => number));
      for (const [i, block] of blocks.entries())
        for (const { transactionIndex } of block.logs)
          expect(block.senders[transactionIndex]).to.equal(whole[i]?.senders[transactionIndex]);
    } finally {
      await recorded.close();
    }
  });

  it("refuses another chain or other events in the same folder, and a gap", async () => {
    const attempts = [
      { manifest: { chainId: 1, topics: TOPICS } },
      { manifest: { chainId: 8453, topics: null } },
      { fromBlock: head + 5, toBlock: head + 6 },
    ];
    for (const [i, attempt] of attempts.entries()) {
      const error = await record({ ...options(head), ...attempt }).catch((each: Error) => each);
      expect(String(error), `attempt ${i}`).to.match(/another chain, or other events|goes on from there/);
    }
  });

  it("keeps no line that is not what its hash says, and leaves no file behind", async () => {
    const spoilt = await mkdtemp(join(tmpdir(), "chaintables-record-"));
    try {
      const spoil = (change: (line: PortalLine) => PortalLine) =>
        async function* (range: { fromBlock: number; toBlock: number }) {
          for await (const line of read(range)) yield line.header.number === 3 ? change(line) : line;
        };
      const changes: readonly ((line: PortalLine) => PortalLine)[] = [
        (line) => ({ ...line, header: { ...line.header, timestamp: 1 } }),
        (line) => ({ ...line, header: { ...line.header, number: 4 } }),
      ];
      for (const change of changes) {
        const error = await record({ ...options(6), folder: spoilt, read: spoil(change) }).catch(
          (each: Error) => each,
        );
        expect(String(error)).to.match(/^ArchiveError: Cannot record block [34]: /);
        expect(await readdir(spoilt)).to.deep.equal(["manifest.json"]);
      }
      const late = { ...options(6), folder: spoilt, read: () => read({ fromBlock: 1, toBlock: 6 }) };
      expect(String(await record(late).catch((each: Error) => each))).to.contain("block 1: 0 is due");
      const silent = { ...options(6), folder: spoilt, read: async function* () {} };
      expect(String(await record(silent).catch((each: Error) => each))).to.contain(
        "the source ended before it",
      );
    } finally {
      await rm(spoilt, { recursive: true, force: true });
    }
  });
});
