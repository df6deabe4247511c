import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { type NodeScript, type ScriptedNode, startScriptedNode } from "../doctor/testkit/scripted-node.ts";
import { tellCosts } from "./costs.ts";

describe("tellCosts", () => {
  let dataDir: string;
  let node: ScriptedNode | undefined;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-costs-"));
  });
  afterEach(async () => {
    await node?.close();
    node = undefined;
    await rm(dataDir, { recursive: true });
  });

  const evmDex = [{ chainId: 8453, factories: [{ address: `0x${"1".repeat(40)}`, fromBlock: 1_371_680 }] }];
  const told = async (script: NodeScript, signal = new AbortController().signal): Promise<string[]> => {
    node = await startScriptedNode(script);
    const lines: string[] = [];
    const env = { EVM_RPC_8453: node.url };
    await tellCosts({ env, dataDir, signal, evmDex, lending: [], say: (line) => lines.push(line) });
    return lines;
  };

  it("says a line of costs before a first start, and warns of ranges of ten blocks", async () => {
    const lines = await told({ maxBlocks: 10, words: "up to a {max} block range" });
    expect(lines).to.have.length(2);
    expect(lines[0]).to.match(
      /^Base: a first start with 7 days of history asks for [\d.]+ M calls and [\d.]+ GB of JSON.*, and takes 20.9 GB of disk \(57.5 GB a year later\); then/,
    );
    expect(lines[1]).to.contain("serves 10 blocks an eth_getLogs");
    expect(lines.join()).to.not.contain("secret-key");
  });

  it("says nothing where there is an index, and asks nothing", async () => {
    await writeFile(join(dataDir, "evm-dex.sqlite"), "");
    expect(await told({})).to.deep.equal([]);
    expect(node?.requests()).to.equal(0);
  });

  it("ends with the start that it belongs to", async () => {
    expect(await told({}, AbortSignal.abort())).to.deep.equal([]);
  });
});
