import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import { afterEach, it } from "mocha";
import { createTestSolana, type TestSolana } from "../../../../deploy/devnet/solana/testkit.ts";
import type { SourceEvent } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import { describeWithChain } from "../../../shared/testkit/describe.ts";
import { type SlotRange, type SolanaSource, SolanaUpstreamError } from "../../chain/port.ts";
import { QUICK } from "../../test/harness.ts";
import { createLocalReader, createThreadedReader, type ThreadedReader } from "./reader.ts";

const FIRST = 300_000_001;
const RANGE: SlotRange = { fromSlot: FIRST, toSlot: FIRST + 19, commitment: "confirmed" };

describeWithChain("readInThread", () => {
  let solana: TestSolana;
  let reader: ThreadedReader | undefined;
  /** Ranges that were read in this thread. */
  let readHere: SlotRange[];

  afterEach(async () => {
    await reader?.close();
    await solana?.stop();
  });

  async function open(
    startWorker?: () => Worker,
  ): Promise<{ events: SourceEvent[]; lines: string[]; source: SolanaSource }> {
    solana = await createTestSolana({ skipped: 0.1 });
    solana.produce(30);
    const source = solana.source(QUICK);
    readHere = [];
    const events: SourceEvent[] = [];
    const lines: string[] = [];
    const local: Pick<SolanaSource, "readBlocks" | "getAnchor"> = {
      getAnchor: () => source.getAnchor(),
      readBlocks: (range, read) => {
        readHere.push(range);
        return source.readBlocks(range, read);
      },
    };
    reader = createThreadedReader(local, {
      urls: solana.urls,
      log: (message) => lines.push(message),
      onEvent: (event) => events.push(event),
      ...(startWorker && { startWorker }),
    });
    return { events, lines, source };
  }

  async function waitForThread(): Promise<void> {
    for (;;) {
      const before = readHere.length;
      await reader?.blocks({ ...RANGE, toSlot: FIRST + 1 });
      if (readHere.length === before) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    readHere.length = 0;
  }

  it("reads here until the thread is up, and there from then on, with equal results", async () => {
    const { events, source } = await open();
    const here = await reader?.blocks(RANGE);
    expect(readHere).to.deep.equal([RANGE]);
    expect(here).to.deep.equal(await createLocalReader(source).blocks(RANGE));
    expect(here?.flatMap(({ transactions }) => transactions).length).to.be.greaterThan(100);
    await waitForThread();
    expect(await reader?.blocks(RANGE)).to.deep.equal(here);
    expect(readHere).to.deep.equal([]);
    expect(events.some((event) => event.kind === "request" && event.method === "getBlock")).to.equal(true);
  });

  it("fails reads in progress when it is closed", async () => {
    await open();
    await waitForThread();
    await solana.stop();
    const beyond = { ...RANGE, toSlot: FIRST + 4_000 };
    const failed = reader?.blocks(beyond).then(
      () => undefined,
      (error: unknown) => error,
    );
    await reader?.close();
    expect(await failed).to.be.instanceOf(SolanaUpstreamError);
  });

  it("reads here what a thread had not returned when it died, and everything after", async () => {
    const dying = `const { parentPort } = require("node:worker_threads");
      parentPort.once("message", () =>
        parentPort.once("message", () => { throw new Error("no memory left"); }));
      parentPort.postMessage({ kind: "ready" });`;
    let isUp: Promise<unknown> | undefined;
    const { lines } = await open(() => {
      const worker = new Worker(dying, { eval: true });
      isUp = once(worker, "message");
      return worker;
    });
    await isUp;
    const produced = solana.chain.produced(RANGE.fromSlot, RANGE.toSlot).length;
    expect(await reader?.blocks(RANGE)).to.have.length(produced);
    expect(await reader?.blocks(RANGE)).to.have.length(produced);
    expect(readHere).to.deep.equal([RANGE, RANGE]);
    expect(lines).to.deep.equal(["the reading thread failed: reading continues without it"]);
  });
});
