import { copyFile, mkdir, mkdtemp, open, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { loadDeployments } from "../../services/evm-dex/deployments.ts";
import { describeThorough, describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { runProgram } from "../../services/shared/testkit/process.ts";
import { backUp } from "../backup/files.ts";
import { type Stack, startStack } from "../test/stack.ts";
import { examineStore, type StoreOptions } from "./examine.ts";
import { change, describeBreaks, optionsAt, schemaOf } from "./testkit/breaks.ts";

const SOL = "So11111111111111111111111111111111111111112";

describeWithProcesses("npm run doctor -- store: Solana", () => {
  let folder: string;
  let data: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "store-doctor-"));
    data = join(folder, "data");
    const { code, stderr } = await runProgram("services/solana/test/fill.main.ts", {
      env: { DATA_DIR: data },
    });
    expect(code, stderr).to.equal(0);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("finds nothing wrong with a store that is right, and says what it compared and how large it is", async () => {
    const report = await examineStore("solana", optionsAt(data));
    expect(report?.findings).to.deep.equal([]);
    expect(report?.pages).to.equal("whole");
    for (const check of ["links", "rows beyond the head", "sums of tokens", "holders", "coverage"])
      expect(report?.compared[check], check).to.be.above(1);
    const rows = report?.tables?.find(({ name }) => name === "token_rows");
    expect(rows?.rows).to.be.above(1_000);
    expect(rows?.bytes).to.be.above(100_000);
    expect(report?.chains[0]).to.include({ chain: "solana", block: 600 });
    expect(await examineStore("lending", optionsAt(data))).to.equal(undefined);
    const fast = await examineStore("solana", optionsAt(data, { pages: "none" }));
    expect([fast?.pages, fast?.tables]).to.deep.equal(["unread", null]);
  });

  describeBreaks(() => ({ from: data, folder }), "solana", [
    {
      name: "a checkpoint of another block",
      sql: "UPDATE checkpoints SET blockhash = 'other'",
      ...{ check: "links", says: "checkpoint names slot 600 as other" },
    },
    {
      name: "a block that is missing",
      sql: "DELETE FROM blocks WHERE slot = (SELECT slot FROM blocks ORDER BY slot DESC LIMIT 1 OFFSET 5)",
      ...{ check: "links", says: "a gap, or a replaced block" },
    },
    {
      name: "rows beyond the head",
      sql: `UPDATE token_rows SET slot = 900 WHERE mint = '${SOL}' AND slot =
        (SELECT max(slot) FROM token_rows WHERE mint = '${SOL}')`,
      ...{ check: "rows beyond the head", says: `${SOL} has rows of slot 900` },
    },
    {
      name: "a write that was interrupted",
      sql: "INSERT INTO journal (fromSlot, toSlot, undo) VALUES (601, 640, '{}')",
      ...{ check: "rows beyond the head", says: "slots 601 to 640 was interrupted" },
    },
    {
      name: "a minute that counts more than its rows",
      sql: `UPDATE candles SET transactions = transactions + 1 WHERE mint = '${SOL}' AND seconds = 60 AND start =
        (SELECT max(start) FROM candles WHERE mint = '${SOL}' AND seconds = 60)`,
      ...{ check: "sums of tokens", says: "the minute \\d+ counts" },
    },
    {
      name: "an hour that is not what its minutes make",
      sql: `UPDATE candles SET high = high * 2 WHERE mint = '${SOL}' AND seconds = 3600 AND high IS NOT NULL`,
      ...{ check: "sums of tokens", says: "candle of 3600 s" },
    },
    {
      name: "a count of holders that is wrong",
      sql: `UPDATE tokens SET holderCount = holderCount + 1`,
      ...{ check: "holders", says: "holders are told" },
    },
    {
      name: "a segment that counts what is not there",
      sql: `UPDATE stretches SET rows = rows + 1`,
      ...{ check: "coverage", says: "segment \\d+ counts" },
    },
    {
      name: "a final block of another cluster",
      sql: "UPDATE final_blocks SET slot = 600, blockhash = 'other'",
      ...{ check: "chain", says: "rows of two clusters" },
    },
    {
      name: "tokens whose holders are waited for",
      sql: `INSERT INTO holder_requests (mint, time) VALUES ('x', 1)`,
      ...{ level: "note", check: "unfinished", says: "1 tokens wait" },
    },
    ...schemaOf("tokens"),
  ]);

  it("tells pages that are damaged, though other rows can be read", async () => {
    const dataDir = join(folder, "damaged");
    await mkdir(dataDir);
    const path = join(dataDir, "solana.sqlite");
    await copyFile(join(data, "solana.sqlite"), path);
    const { size } = await stat(path);
    const file = await open(path, "r+");
    await file.write(Buffer.alloc(Math.floor(size / 2), 0x5a), 0, undefined, Math.ceil(size / 2));
    await file.close();
    const report = await examineStore("solana", optionsAt(dataDir));
    expect(report?.pages).to.equal("damaged");
    const [fault] = report?.findings.filter(({ check }) => check === "pages") ?? [];
    expect(fault).to.include({ level: "fault" });
    expect(fault?.todo).to.contain("restore it from a backup");
    await writeFile(path, "no database at all".repeat(1_000));
    const none = await examineStore("solana", optionsAt(dataDir));
    expect(none?.findings.map(({ check }) => check)).to.include("pages");
  });
});

describeThorough("npm run doctor -- store: a whole installation", () => {
  let stack: Stack;
  let folder: string;
  let copy: string;
  let more: Partial<StoreOptions>;
  before(async () => {
    [stack, folder] = await Promise.all([startStack(), mkdtemp(join(tmpdir(), "store-doctor-"))]);
    copy = join(folder, "copy");
    await backUp(stack.data.dataDir, { to: copy, version: "test" });
    more = { deployments: loadDeployments(stack.data.deploymentsFile) };
  });
  after(async () => {
    await stack?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  const run = (dataDir: string, ...words: string[]) =>
    runProgram("deploy/doctor/main.ts", {
      args: ["store", "--samples", "100", ...words],
      env: { DATA_DIR: dataDir, DEPLOYMENTS_FILE: stack.data.deploymentsFile, LEASE_TTL_MS: "300" },
    });

  it("finds no fault while services answer from the stores, and notes that no ingest runs", async () => {
    const { code, stderr, stdout } = await run(stack.data.dataDir, "--json", "--full");
    expect(code, stdout + stderr).to.equal(0);
    const { faults, stores } = JSON.parse(stdout);
    expect(faults).to.equal(0);
    expect(stores.map(({ service }: { service: string }) => service)).to.deep.equal([
      ...["evm-dex", "lending", "solana", "gateway"],
    ]);
    const [evmDex, lending] = stores;
    expect(evmDex.chains[0].identity).to.equal(lending.chains[0].identity);
    expect(evmDex.compared["sums of pools"]).to.be.above(1_000);
    expect(lending.compared.entities).to.be.above(20);
    expect(evmDex.findings.map(({ what }: { what: string }) => what).join()).to.contain("no ingest writes");
    const told = await run(stack.data.dataDir, "--fast");
    expect(told.stdout)
      .to.match(/^evm-dex /m)
      .and.match(/^0 faults, \d+ notes/m);
  });

  it("exits with 1 for a fault, 2 for a wrong call, and says where there is no store", async () => {
    const dataDir = join(folder, "wrong");
    await mkdir(dataDir);
    for (const name of ["evm-dex", "lending"])
      await copyFile(join(copy, `${name}.sqlite`), join(dataDir, `${name}.sqlite`));
    await change(join(dataDir, "lending.sqlite"), "UPDATE checkpoints SET genesisHash = '0xother'");
    const wrong = await run(dataDir, "--fast");
    expect([wrong.code, wrong.stdout.includes("has the genesis 0xother")], wrong.stdout).to.deep.equal([
      1,
      true,
    ]);
    expect((await run(dataDir, "--service", "evm-sex")).code).to.equal(2);
    const none = await run(join(folder, "nowhere"));
    expect([none.code, none.stderr.includes("There is no store")], none.stderr).to.deep.equal([1, true]);
  });

  it("notes parts of history that are not merged", async () => {
    const dataDir = join(folder, "parts");
    await mkdir(dataDir);
    await copyFile(join(copy, "evm-dex.sqlite"), join(dataDir, "evm-dex.sqlite"));
    await change(join(dataDir, "evm-dex.sqlite"), "UPDATE checkpoints SET fromBlock = 3");
    await writeFile(join(dataDir, "evm-dex-history-8453-2.sqlite"), "");
    const report = await examineStore("evm-dex", optionsAt(dataDir, more));
    expect(report?.findings.map(({ what }) => what).join("\n")).to.contain(
      "history up to block 2 that is not merged",
    );
  });

  const place = () => ({ from: copy, folder, more });
  describeBreaks(place, "evm-dex", [
    {
      name: "a checkpoint of another block",
      sql: "UPDATE checkpoints SET blockHash = '0xother'",
      ...{ check: "links", says: "checkpoint names block \\d+ as 0xother" },
    },
    {
      name: "a header that does not follow on the one before",
      sql: "UPDATE headers SET parentHash = '0xother' WHERE number = (SELECT max(number) FROM headers)",
      ...{ check: "links", says: "follows on 0xother" },
    },
    {
      name: "events of a replaced block",
      sql: "UPDATE pool_events SET blockHash = x'07' WHERE blockNumber = (SELECT max(blockNumber) FROM pool_events)",
      ...{ check: "links", says: "are of 0x07," },
    },
    {
      name: "events beyond the head",
      sql: "UPDATE pool_events SET blockNumber = 99999 WHERE blockNumber = (SELECT max(blockNumber) FROM pool_events)",
      ...{ check: "rows beyond the head", says: "pool_events has rows of block 99999" },
    },
    {
      name: "links of prices beyond the head",
      sql: "UPDATE price_links SET blockNumber = 99999 WHERE blockNumber = (SELECT max(blockNumber) FROM price_links)",
      ...{ check: "rows beyond the head", says: "price_links has rows of block 99999" },
    },
    {
      name: "a day of swaps that its hours do not make",
      sql: "UPDATE rollups SET swapCount = swapCount + 1 WHERE span = 86400",
      ...{ check: "sums of pools", says: "rollups.swapCount" },
    },
    {
      name: "a minute that is missing",
      sql: "DELETE FROM rollups WHERE span = 60",
      ...{ check: "sums of pools", says: "rollups" },
    },
    {
      name: "a final block of another chain",
      sql: `INSERT OR REPLACE INTO final_blocks (chainId, number, hash, time)
        SELECT chainId, number, '0xother', time FROM headers WHERE number = (SELECT max(number) FROM headers)`,
      ...{ check: "chain", says: "rows of two chains" },
    },
    {
      name: "a head that is before its first block",
      sql: "UPDATE checkpoints SET chainHead = 1",
      ...{ check: "head", says: "contradict each other" },
    },
    {
      name: "an ingest that fails",
      sql: "UPDATE ingest_status SET state = 'failing', why = 'no endpoint answers'",
      ...{ check: "ingest", says: "no endpoint answers" },
    },
    {
      name: "a reindex that was cut short",
      sql: "INSERT INTO reindexes (name, startedAtMs) VALUES ('evm-dex-ingest-8453', 1)",
      ...{ level: "note", check: "unfinished", says: "has not finished" },
    },
    {
      name: "history that is being merged",
      sql: "UPDATE checkpoints SET fromBlock = (SELECT min(blockNumber) + 1 FROM pool_events); DELETE FROM headers",
      ...{ check: "coverage", level: "note", says: "history that is being merged" },
    },
    {
      name: "a scan for pools that has not ended",
      sql: "UPDATE checkpoints SET fromBlock = 1; UPDATE discoveries SET blockNumber = -5",
      ...{ check: "coverage", level: "note", says: "are known up to block -5" },
    },
    ...schemaOf("pools"),
  ]);
  describeBreaks(place, "lending", [
    {
      name: "a vault that was read beyond the head",
      sql: "UPDATE units SET block = 99999 WHERE id = (SELECT min(id) FROM units WHERE block IS NOT NULL)",
      ...{ check: "rows beyond the head", says: "units has rows of block 99999" },
    },
    {
      name: "a state that is not the last in its history",
      sql: "UPDATE unit_history SET state = 'other'",
      ...{ check: "entities", says: "is not the last one in its history" },
    },
    {
      name: "a vault of a write that the checkpoint does not know",
      sql: "UPDATE units SET version = 99999",
      ...{ check: "entities", says: "is of version 99999" },
    },
  ]);
  describeBreaks(place, "gateway", [
    {
      name: "payments whose outcome is open",
      sql: `INSERT INTO payments (key, state, payer, nonce, resource, path, network, asset, payTo, amount, payload,
        requirements, fromBlock, validBefore, session, createdAt) VALUES
        ('k', 'open', '', '', '', '', '', '', '', '1', '{}', '{}', 1, 1, '', 1)`,
      ...{ level: "note", check: "payments", says: "1 payments are open" },
    },
  ]);
});
