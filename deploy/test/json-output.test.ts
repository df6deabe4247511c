import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { finalBlocks } from "../../services/shared/evm/finality/finality.ts";
import { openStore } from "../../services/shared/storage/open.ts";
import { put } from "../../services/shared/storage/port.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { startProgram } from "../../services/shared/testkit/process.ts";
import { type Stack, startStack } from "./stack.ts";

const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  scripts: Readonly<Record<string, string>>;
};
/** What works on the sources, and prints for whom works there. */
const OF_THE_REPOSITORY = /^(pretest|test|check|ok|format|generate|build|lockfile|trials|bench)(:|$)/;
/** What runs until it is stopped: its lines are a log (LOG_FORMAT=json), or a protocol of their own. */
const SERVERS = /^(start|gateway|evm-dex|lending|solana|ingest|devnet|facilitator|mcp)(:|$)/;
const COMMANDS = Object.keys(scripts).filter(
  (name) => name === "check:store" || !(OF_THE_REPOSITORY.test(name) || SERVERS.test(name)),
);

/** The program of a script, and the words that the script itself gives it. */
function programOf(name: string): { readonly path: string; readonly words: readonly string[] } {
  const [, path = "", words = ""] = /--import tsx (\S+) ?(.*)$/.exec(scripts[name] ?? "") ?? [];
  return { path, words: words.split(" ").filter((word) => word !== "") };
}

/** The whole index is final: its chain is too short for its ingest to have asked what is. */
async function makeFinal({ dataDir, rpcUrl }: Stack["data"]): Promise<void> {
  const answer = await fetch(rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: ["latest", false] },
    }),
  });
  const { result } = (await answer.json()) as {
    readonly result: { readonly number: string; readonly hash: string; readonly timestamp: string };
  };
  const [number, time] = [Number(result.number), Number(result.timestamp)];
  const store = await openStore({ service: "evm-dex", dataDir });
  try {
    await store.declare([finalBlocks]);
    await store.write([put(finalBlocks, [{ chainId: 8453, number, hash: result.hash, time }])]);
  } finally {
    await store.close();
  }
}

describeThorough("--json of every command", () => {
  let stack: Stack;
  let folder: string;
  const walked = new Set<string>();
  before(async () => {
    [stack, folder] = await Promise.all([startStack(), mkdtemp(join(tmpdir(), "json-output-"))]);
  });
  after(async () => {
    await stack?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });
  const at = (name: string) => join(folder, name);

  async function run(name: string, words: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const { path, words: own } = programOf(name);
    const { dataDir, rpcUrl, deploymentsFile } = stack.data;
    const settings = {
      DATA_DIR: dataDir,
      EVM_RPC_8453: rpcUrl,
      DEPLOYMENTS_FILE: deploymentsFile,
      LOG_LEVEL: "warn",
    };
    return startProgram(path, { args: [...own, ...words], env: { ...settings, ...env } }).finished;
  }

  /** Runs a command with --json; its standard output must be one document. */
  async function ask(
    name: string,
    words: readonly string[],
    {
      env = {},
      codes = [0],
    }: { readonly env?: Record<string, string>; readonly codes?: readonly number[] } = {},
    // biome-ignore lint/suspicious/noExplicitAny: each command has a document of its own
  ): Promise<any> {
    const { code, stdout, stderr } = await run(name, [...words, "--json"], env);
    expect(codes, `${name}: ${stderr}`).to.include(code);
    walked.add(name);
    return JSON.parse(stdout);
  }

  it("keys, payments: what was made, changed and used", async () => {
    const { id, key, label } = await ask("keys", ["create", "--label", "walk"]);
    expect([typeof key, label]).to.deep.equal(["string", "walk"]);
    expect(await ask("keys", ["set", id, "--note", "a note"])).to.include({ id, note: "a note" });
    expect(await ask("keys", ["suspend", id])).to.include({ id, state: "suspended" });
    expect(await ask("keys", ["resume", id])).to.include({ id, state: "live" });
    expect((await ask("keys", ["rotate", id])).rotated).to.include({ id });
    expect(await ask("keys", ["usage", id])).to.deep.include({ id, days: [] });
    expect(await ask("keys", ["revoke", id])).to.include({ id, state: "revoked" });
    expect(await ask("keys", ["list"])).to.have.length(2);
    expect(await ask("payments", ["list"])).to.deep.equal([]);
  });

  it("export, audit, doctor: what a table, an index and a node are like", async () => {
    const exported = await ask("export", [
      ...["/evm/dexb/v3/pools", "--out", at("pools.csv"), "--url", stack.url, "--key", stack.key],
    ]);
    expect(exported).to.include({ path: "/evm/dexb/v3/pools" }).and.to.have.property("rows").above(0);
    const audited = await ask("audit", ["--chain", "8453", "--pools", "2", "--store-only", "--seed", "1"]);
    expect(audited).to.deep.include({ chainId: 8453, seed: 1, differences: 0 });
    expect(audited.checks).not.to.deep.equal([]);
    expect(await ask("doctor", ["--chain", "8453"], { codes: [0, 1] })).to.have.property("warnings");
    const { faults, stores } = await ask("doctor", ["store", "--fast", "--samples", "1"]);
    expect([faults, stores.length]).to.deep.equal([0, 4]);
  });

  it("record, import, pools: what was written and read", async () => {
    const recorded = await ask("record", [
      "--chain",
      "8453",
      "--from",
      "0",
      "--to",
      "0",
      "--out",
      at("blocks"),
    ]);
    expect(recorded).to.deep.include({ chainId: 8453, fromBlock: 0, toBlock: 0, blocks: 1 });
    expect(await ask("import", [at("blocks"), "--check"])).to.include({ first: 0, last: 0, blocks: 1 });
    await makeFinal(stack.data);
    const written = await ask("pools", ["export", "--chain", "8453", "--out", at("pools.bin")]);
    expect(written).to.include({ chainId: 8453, file: at("pools.bin") });
    const env = { DATA_DIR: at("other"), EVM_RPC_8453: "" };
    const taken = await ask("pools", ["import", at("pools.bin"), "--sha256", written.sha256], { env });
    expect(taken).to.deep.include({ sha256: written.sha256, compared: null, pools: written.pools });
  });

  it("backup, check:store, restore, reindex: what is in the stores, and no longer", async () => {
    const { files } = await ask("backup", ["--to", at("backup")]);
    const { stores } = await ask("check:store", []);
    expect(stores.map((store: { name: string }) => store.name)).to.include.members(
      files.map((file: { name: string }) => file.name),
    );
    const env = { DATA_DIR: at("restored") };
    const restored = await ask("restore", ["--from", at("backup")], { env });
    expect(restored).to.deep.include({ dataDir: at("restored"), files });
    const { services } = await ask("reindex", ["--chain", "8453", "--service", "evm-dex", "--yes"], { env });
    expect(services).to.have.length(1);
  });

  it("curators: what the registry has", async () => {
    const listed = { name: "First", verified: true, addresses: { 1: [`0x${"1".repeat(40)}`] }, image: "x" };
    await writeFile(at("curators-listing.json"), JSON.stringify([listed]));
    const done = await ask("curators", [
      ...["update", "--date", "2026-05-05", "--curators", at("curators.json"), at("curators-listing.json")],
    ]);
    const curators = at("curators.json");
    expect(done).to.deep.equal({ curators, before: 0, after: 1, noLongerListed: [], deployments: null });
  });

  it("pay: nothing on standard output where no payment was made", async () => {
    const { code, stdout, stderr } = await run("pay", ["/evm/chains", "--url", stack.payUrl, "--json"]);
    expect([code, stdout], stderr).to.deep.equal([1, ""]);
    walked.add("pay");
  });

  it("are all commands: each names --json in its help, and none was left out", async () => {
    expect([...walked].sort()).to.deep.equal([...COMMANDS].sort());
    const helps = await Promise.all(COMMANDS.map(async (name) => (await run(name, ["--help"])).stdout));
    for (const [at, name] of COMMANDS.entries()) expect(helps[at], name).to.contain("--json");
  });
});
