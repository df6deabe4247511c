import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { DEX_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { startPortal } from "../../../deploy/devnet/portal/portal.ts";
import { rpcBlocks } from "../../../deploy/devnet/portal/rpc-blocks.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import { readArchiveLines } from "../../shared/evm/archive/files.ts";
import { openArchive } from "../../shared/evm/archive/folder-client.ts";
import { openStore } from "../../shared/storage/open.ts";
import { put } from "../../shared/storage/port.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { startProgram } from "../../shared/testkit/process.ts";
import { COLLECTIONS, checkpoints, poolEvents } from "../store/collections.ts";
import { getCheckpoint } from "../store/queries.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  mineBusyBlocks,
  startTestIngest,
} from "./kit/harness.ts";

const RECORD = "services/evm-dex/ingest/archive/record/main.ts";
const IMPORT = "services/evm-dex/ingest/archive/import/main.ts";
/** The newest 256 are read with their headers whatever there is: the rest come from the folder. */
const BLOCKS = 420;

describeThorough("npm run record, npm run import", () => {
  let chain: TestChain;
  let folder: string;
  let final: number;

  before(async () => {
    chain = await createTestChain({ keptStates: 5_000, families: DEX_FAMILIES, finalDepth: 2 });
    await mineBusyBlocks(chain, { blocks: BLOCKS, seed: 5 });
    final = Number(await chain.anvil.rpc.call("eth_blockNumber")) - 2;
    folder = await mkdtemp(join(tmpdir(), "chaintables-archive-"));
  });
  after(async () => {
    await chain?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const settings = () => ({
    EVM_RPC_8453: chain.url,
    DEPLOYMENTS_FILE: chain.deploymentsFile,
    LOG_LEVEL: "warn",
  });
  const run = (program: string, args: readonly string[], env: Record<string, string> = {}) =>
    startProgram(program, { args, env: { ...settings(), ...env } }).finished;
  const recordArgs = (name: string, to = final) => [
    ...["--chain", "8453", "--from", "0", "--to", String(to), "--out", join(folder, name)],
  ];

  async function linesOf(name: string): Promise<unknown[]> {
    const lines: unknown[] = [];
    for (const { path } of (await openArchive(join(folder, name))).files)
      for await (const { text } of readArchiveLines(path)) {
        const { logs = [], transactions = [], header } = JSON.parse(text);
        lines.push({ header, logs, transactions });
      }
    return lines;
  }

  it("record the same from a node and, through faults of every kind, from a portal", async () => {
    const fromNode = await run(RECORD, recordArgs("node"));
    expect(fromNode.stderr).to.match(new RegExp(`^${final + 1} blocks, \\d+ logs, `, "m"));
    expect(fromNode.code).to.equal(0);
    const faults = { busy: 0.2, cut: 0.3, cutLine: 0.2, truncatedGzip: 0.2, resetBody: 0.1, noData: 0.1 };
    const portal = await startPortal({
      ...{ blocks: rpcBlocks(chain.url), rateLimit: null, retryAfter: false, chunkBlocks: 80, maxChunks: 1 },
      ...{ faults, seed: 3, waitMs: 10 },
    });
    try {
      const fromPortal = await run(RECORD, [...recordArgs("portal"), "--portal", portal.url]);
      expect(fromPortal.code, fromPortal.stderr).to.equal(0);
      const met = Object.values(portal.counts()).reduce((sum, count) => sum + count, 0);
      expect(met).to.be.greaterThan(5);
    } finally {
      await portal.close();
    }
    const lines = await linesOf("node");
    expect(lines).to.have.length(final + 1);
    expect(await linesOf("portal")).to.deep.equal(lines);
    const checked = await run(IMPORT, [join(folder, "node"), "--check"]);
    expect(checked.stderr).to.contain(`${final + 1} blocks with `);
    expect(checked.code).to.equal(0);
  });

  it("index the folder, then the rest by the ingest: the store of a fresh index", async () => {
    const expected = await dumpFreshIndex(chain);
    expect((expected[poolEvents.name] as unknown[]).length).to.be.greaterThan(BLOCKS);
    await importInto("whole", expected, (stderr) => expect(stderr).not.to.contain("set aside"));
  });

  it("find a changed header, say so, and read the node instead", async () => {
    await copyArchive("node", "changed", (line) => {
      const log = (line.logs as { data: string }[]).find(({ data }) => data !== "0x");
      if (line.header.number < 60 || log === undefined) return line;
      log.data = log.data.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
      return line;
    });
    // Nothing in the folder itself contradicts it: only the receipts of a sampled block would.
    expect((await run(IMPORT, [join(folder, "changed"), "--check"])).code).to.equal(0);
    await copyArchive("node", "broken", (line) => {
      if (line.header.number === 60) line.header.timestamp += 1;
      return line;
    });
    const checked = await run(IMPORT, [join(folder, "broken"), "--check"]);
    expect(checked.code).to.equal(1);
    expect(checked.stderr).to.match(/line 61: the header of block 60 has the hash/);
    const expected = await dumpFreshIndex(chain);
    await importInto("broken", expected, (stderr) =>
      expect(stderr)
        .to.contain("the portal is set aside")
        .and.to.contain("the header of block 60 has the hash"),
    );
  });

  it("refuse a wrong call with what is wrong about it", async () => {
    const wrong: readonly (readonly [string, readonly string[], RegExp])[] = [
      [RECORD, ["--chain", "5", "--from", "0", "--to", "1", "--out", "x"], /--chain is "5"/],
      [
        RECORD,
        ["--chain", "8453", "--from", "2", "--to", "1", "--out", "x"],
        /--to is 1: it must not be below/,
      ],
      [RECORD, ["--chain", "8453", "--from", "0x1", "--to", "1", "--out", "x"], /--from is "0x1"/],
      [RECORD, recordArgs("late", final + 1), /--to is \d+: it must not be above the last final block, \d+/],
      [IMPORT, [], /name one/],
      [IMPORT, [join(folder, "node"), "--chain", "1"], /was recorded of chain 8453/],
    ];
    for (const [program, args, message] of wrong) {
      const { code, stderr } = await run(program, args);
      expect([code, message.test(stderr)], stderr).to.deep.equal([2, true]);
    }
    const { code, stderr } = await run(IMPORT, [join(folder, "nowhere")]);
    expect([code, /^Cannot read .*nowhere: ENOENT/.test(stderr)], stderr).to.deep.equal([1, true]);
  });

  /** Imports into an empty store, lets the ingest go on to the head, and compares. */
  async function importInto(
    name: string,
    expected: Record<string, unknown[]>,
    judge: (stderr: string) => void,
  ): Promise<void> {
    const dataDir = join(folder, `data-${name}`);
    const source = name === "whole" ? "node" : name;
    const imported = await run(IMPORT, [join(folder, source)], { DATA_DIR: dataDir });
    const output = imported.stdout + imported.stderr;
    expect(imported.code, output).to.equal(0);
    judge(output);
    const store = await openStore({ service: "evm-dex", dataDir });
    try {
      await store.declare(COLLECTIONS);
      expect((await getCheckpoint(store, 8453))?.blockNumber).to.be.at.least(final);
      const ingest = await startTestIngest(chain, { store });
      await ingest.catchUp();
      expectSameStore(await dumpStore(store), expected);
      const again = await run(IMPORT, [join(folder, source)], { DATA_DIR: dataDir });
      expect([again.code, /there is nothing to import/.test(again.stderr)], again.stderr).to.deep.equal([
        0,
        true,
      ]);
      const index = await getCheckpoint(store, 8453);
      if (index !== undefined) await store.write([put(checkpoints, [{ ...index, fromBlock: 9 }])]);
      const above = await run(IMPORT, [join(folder, source)], { DATA_DIR: dataDir });
      expect([above.code, /begins with block 9\./.test(above.stderr)], above.stderr).to.deep.equal([1, true]);
    } finally {
      await store.close();
    }
  }

  interface Line {
    readonly header: { readonly number: number; timestamp: number };
    readonly logs: unknown;
  }

  async function copyArchive(from: string, to: string, change: (line: Line) => Line): Promise<void> {
    await cp(join(folder, from), join(folder, to), { recursive: true });
    for (const name of await readdir(join(folder, to))) {
      if (!name.endsWith(".gz")) continue;
      const path = join(folder, to, name);
      const lines = gunzipSync(await readFile(path))
        .toString()
        .trim()
        .split("\n");
      const changed = lines.map((line) => JSON.stringify(change(JSON.parse(line)))).join("\n");
      await writeFile(path, gzipSync(`${changed}\n`));
    }
  }
});
