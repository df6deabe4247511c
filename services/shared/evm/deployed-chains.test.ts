import { mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { evmChainName } from "./chains.ts";
import { knowDeployedChains } from "./deployed-chains.ts";

/** No other test knows it: a chain stays known for the life of the process. */
const CHAIN_ID = 770_017;

describe("knowDeployedChains", () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-deployed-"));
    file = join(folder, "deployments.json");
  });
  afterEach(() => rm(folder, { recursive: true }));

  const write = (name: string) =>
    writeFile(file, JSON.stringify({ evmDex: { chains: [{ chainId: CHAIN_ID, name }] } }));
  /** Sets the file's time, so that nothing but its contents tells that it was written again. */
  const setTime = (time: Date) => utimes(file, time, time);

  it("reads a file once, however often it is asked for", async () => {
    await write("First");
    await setTime(new Date(1_700_000_000_000));
    knowDeployedChains(file);
    expect(evmChainName(CHAIN_ID)).to.equal("First");
    await write("Other");
    await setTime(new Date(1_700_000_000_000));
    expect((await stat(file)).mtimeMs).to.equal(1_700_000_000_000);
    knowDeployedChains(file);
    expect(evmChainName(CHAIN_ID)).to.equal("First");
  });

  it("reads it again once it has changed", async () => {
    await write("First");
    await setTime(new Date(1_700_000_000_000));
    knowDeployedChains(file);
    await write("Second");
    await setTime(new Date(1_700_000_001_000));
    knowDeployedChains(file);
    expect(evmChainName(CHAIN_ID)).to.equal("Second");
  });

  it("reads one that came after it was asked for", async () => {
    knowDeployedChains(file);
    await write("Late");
    knowDeployedChains(file);
    expect(evmChainName(CHAIN_ID)).to.equal("Late");
  });
});
