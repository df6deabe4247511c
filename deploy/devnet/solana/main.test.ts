import { mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../../services/shared/testkit/process.ts";
import { createSolanaSource } from "../../../services/solana/chain/source.ts";

interface Started extends TestProcess {
  readonly ready: {
    readonly url: string;
    readonly genesisHash: string;
    readonly resumed: boolean;
    readonly pools: unknown[];
  };
  head(): Promise<number>;
  /** Blockhashes by slot. */
  hashes(fromSlot: number, toSlot: number): Promise<Map<number, string>>;
}

async function start(dataDir: string): Promise<Started> {
  const args = ["--port", "0", "--data-dir", dataDir, "--slot-ms", "40", "--history-hours", "2"];
  const started = startProgram("deploy/devnet/solana/main.ts", { args });
  const line = await started.find((text) => (text.startsWith("{") ? text : undefined));
  const ready = JSON.parse(line) as Started["ready"];
  const source = createSolanaSource({ urls: [ready.url] });
  return {
    ...started,
    ready,
    head: async () => (await source.head("confirmed")).slot,
    async hashes(fromSlot, toSlot) {
      const blocks = await source.blocks({ fromSlot, toSlot, commitment: "confirmed" });
      return new Map(blocks.map(({ slot, blockhash }) => [slot, blockhash]));
    },
  };
}

async function waitForSlot({ head }: Started, slot: number): Promise<void> {
  while ((await head()) < slot) await new Promise((resolve) => setTimeout(resolve, 20));
}

describeThorough("Solana devnet: process", () => {
  let dataDir: string;
  let running: Started | undefined;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-solana-devnet-"));
  });
  after(async () => {
    await running?.stop("SIGKILL");
    await rm(dataDir, { recursive: true, force: true });
  });

  it("goes on with the same chain after kill -9 and after a stop, and starts anew from a spoilt file", async () => {
    const first = await start(dataDir);
    running = first;
    expect(first.ready.resumed).to.equal(false);
    expect(first.ready.pools).to.have.length(16);
    const begun = await first.head();
    // Beyond the first snapshot.
    await waitForSlot(first, begun + 150);
    const told = await first.head();
    // Older ones may have been cleaned up where the machine is busy: a slot lasts 40 ms here.
    const known = told - 60;
    const before = await first.hashes(known, told);
    await first.stop("SIGKILL");

    const second = await start(dataDir);
    running = second;
    const { genesisHash, url } = first.ready;
    expect(second.ready).to.deep.include({ resumed: true, genesisHash, url });
    expect(await second.head()).to.be.at.least(told);
    expect(await second.hashes(known, told), "serves the same blocks again").to.deep.equal(before);
    await waitForSlot(second, told + 20);
    const ended = await second.head();
    const later = await second.hashes(told, ended);
    expect((await second.stop()).code).to.equal(0);

    const third = await start(dataDir);
    running = third;
    expect(third.ready.resumed).to.equal(true);
    expect(await third.hashes(told, ended)).to.deep.equal(later);
    await third.stop();

    await truncate(join(dataDir, "solana-devnet", "chain.json"), 1_000);
    const fourth = await start(dataDir);
    running = fourth;
    expect(fourth.ready.resumed).to.equal(false);
    expect(fourth.ready.genesisHash).to.not.equal(first.ready.genesisHash);
    expect(fourth.lines.join("\n")).to.contain("cannot be read");
  });
});
