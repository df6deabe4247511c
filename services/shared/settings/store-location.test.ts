import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { ConfigError } from "./env.ts";
import { locateStore, writeStoreMarker } from "./store-location.ts";

const LOCAL = { folder: "local", usesMongodb: false, isLocalChain: true } as const;
const REAL = { folder: ".", usesMongodb: false, isLocalChain: false } as const;
const RPC = { EVM_RPC_8453: "https://node.example" };

describe("settings/store-location", () => {
  let root: string;
  let env: { DATA_DIR: string };

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "store-in-use-"));
    env = { DATA_DIR: root };
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** The marker of a server that has ended: no process has that id. */
  async function markOfTheLast(mark: object): Promise<void> {
    await writeFile(join(root, "store-in-use.json"), JSON.stringify({ pid: 2 ** 30, ...mark }));
  }

  it("is DATA_DIR itself where no server has left a marker, and says that npm start would look elsewhere", async () => {
    const { note, ...found } = locateStore(env);
    expect(found).to.deep.equal({
      ...{ dataDir: root, isLocal: false },
      ...{ mongodbUrl: undefined, running: undefined },
    });
    expect(note).to.include("No server has run on").and.include("start that first");
    expect(locateStore({ ...env, ...RPC }).note).to.equal(undefined);
    await writeFile(join(root, "gateway.sqlite"), "");
    expect(locateStore(env).note).to.equal(undefined);
  });

  it("is that of the server that runs, whatever the command's own environment says", async () => {
    const localRpc = { "8453": "http://127.0.0.1:8545" };
    await writeStoreMarker(root, { ...LOCAL, localRpc, payUrl: "http://127.0.0.1:8402" });
    for (const each of [env, { ...env, ...RPC }]) {
      const found = locateStore(each);
      expect(found.dataDir).to.equal(join(root, "local"));
      expect(found.isLocal).to.equal(true);
      expect(found.running).to.deep.equal({
        pid: process.pid,
        ...LOCAL,
        localRpc,
        payUrl: "http://127.0.0.1:8402",
      });
      expect(found.note).to.include("the npm start that runs").and.include(join(root, "local"));
    }
    // The server has RPC endpoints in its environment, the command has not.
    await writeStoreMarker(root, REAL);
    expect(locateStore(env)).to.include({ dataDir: root, note: undefined });
  });

  it("is that of the last start, unless the command's own settings name real chains", async () => {
    await markOfTheLast(LOCAL);
    expect(locateStore(env).dataDir).to.equal(join(root, "local"));
    expect(locateStore(env).note).to.include("the last npm start");
    expect(locateStore({ ...env, ...RPC }).dataDir).to.equal(root);
    await markOfTheLast(REAL);
    expect(locateStore(env).dataDir).to.equal(root);
  });

  it("is the local one of a version without markers that has only ever run there", async () => {
    await mkdir(join(root, "local"));
    await writeFile(join(root, "local", "gateway.sqlite"), "");
    expect(locateStore(env).dataDir).to.equal(join(root, "local"));
    expect(locateStore({ ...env, ...RPC }).dataDir).to.equal(root);
    await writeFile(join(root, "gateway.sqlite"), "");
    expect(locateStore(env).dataDir).to.equal(root);
  });

  it("is MongoDB where the command says so, and says what is missing where only the server does", async () => {
    await writeStoreMarker(root, { ...LOCAL, usesMongodb: true });
    expect(() => locateStore(env)).to.throw(ConfigError, "set MONGODB_URL for this command too");
    const MONGODB_URL = "mongodb://127.0.0.1:27017";
    expect(locateStore({ ...env, MONGODB_URL })).to.include({ mongodbUrl: MONGODB_URL, note: undefined });
  });

  it("treats a file that is not a marker as none", async () => {
    for (const text of ["", "[]", '{"pid":1,"folder":"../elsewhere"}']) {
      await writeFile(join(root, "store-in-use.json"), text);
      expect(locateStore(env).dataDir, text).to.equal(root);
    }
  });
});
