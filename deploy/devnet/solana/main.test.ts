import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithProcesses } from "../../../services/shared/testkit/describe.ts";
import { createSolanaSource } from "../../../services/solana/chain/source.ts";

interface Started {
  readonly child: ChildProcess;
  readonly ready: {
    readonly url: string;
    readonly genesisHash: string;
    readonly resumed: boolean;
    readonly pools: unknown[];
  };
  readonly exited: Promise<number | null>;
  readonly complaints: () => string;
  head(): Promise<number>;
  /** Blockhashes by slot. */
  hashes(fromSlot: number, toSlot: number): Promise<Map<number, string>>;
}

const MAIN = fileURLToPath(new URL("./main.ts", import.meta.url));
const RUNTIME = "Deno" in globalThis ? ["run", "-A"] : ["--import=tsx"];

async function start(dataDir: string): Promise<Started> {
  const settings = ["--port", "0", "--data-dir", dataDir, "--slot-ms", "40", "--history-hours", "2"];
  const child = spawn(process.execPath, [...RUNTIME, MAIN, ...settings], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("exit", () => reject(new Error(`the devnet ended at once: ${complaints}`)));
  });
  const ready = JSON.parse(line) as Started["ready"];
  const source = createSolanaSource({ urls: [ready.url] });
  return {
    child,
    ready,
    exited,
    complaints: () => complaints,
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

describeWithProcesses("Solana devnet: process", () => {
  let dataDir: string;
  let running: Started | undefined;
  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-solana-devnet-"));
  });
  after(async () => {
    running?.child.kill("SIGKILL");
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
    const before = await first.hashes(begun, told);
    first.child.kill("SIGKILL");
    await first.exited;

    const second = await start(dataDir);
    running = second;
    const { genesisHash, url } = first.ready;
    expect(second.ready).to.deep.include({ resumed: true, genesisHash, url });
    expect(await second.head()).to.be.at.least(told);
    expect(await second.hashes(begun, told), "what was told is told again").to.deep.equal(before);
    await waitForSlot(second, told + 20);
    const ended = await second.head();
    const later = await second.hashes(told, ended);
    // Not child.kill: after that Deno reports the signal in place of the exit code.
    process.kill(second.child.pid as number, "SIGTERM");
    expect(await second.exited).to.equal(0);

    const third = await start(dataDir);
    running = third;
    expect(third.ready.resumed).to.equal(true);
    expect(await third.hashes(told, ended)).to.deep.equal(later);
    process.kill(third.child.pid as number, "SIGTERM");
    await third.exited;

    await truncate(join(dataDir, "solana-devnet", "chain.json"), 1_000);
    const fourth = await start(dataDir);
    running = fourth;
    expect(fourth.ready.resumed).to.equal(false);
    expect(fourth.ready.genesisHash).to.not.equal(first.ready.genesisHash);
    expect(fourth.complaints()).to.contain("cannot be read");
  });
});
