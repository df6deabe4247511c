import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { PlainSocket } from "../test/socket.ts";
import { createTestSolana, type TestSolana } from "../testkit.ts";
import { chainOfBlocks, readRecordedBlocks } from "./recorded-chain.ts";
import { startRpcServer } from "./rpc-server.ts";

interface Reply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

async function call(url: string, method: string, params: unknown[] = []): Promise<Reply> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method, params });
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return (await response.json()) as Reply;
}

const FULL = {
  encoding: "json",
  transactionDetails: "full",
  maxSupportedTransactionVersion: 0,
  rewards: false,
  commitment: "confirmed",
};

describe("Solana RPC server", () => {
  let solana: TestSolana;
  afterEach(() => solana?.stop());

  it("answers as a node does: heads, blocks, lists, and what it says of slots without a block", async () => {
    solana = await createTestSolana({ skipped: 0.2 });
    const blocks = solana.produce(60);
    const [url = ""] = solana.urls;
    const confirmed = await call(url, "getSlot", [{ commitment: "confirmed" }]);
    expect(confirmed.result).to.equal(blocks.at(-1)?.slot);
    const finalized = (await call(url, "getSlot")).result as number;
    expect(finalized).to.equal(
      blocks.findLast(({ slot }) => slot <= (confirmed.result as number) - 32)?.slot,
    );

    const block = blocks[10] ?? blocks[0];
    const slot = block?.slot ?? 0;
    expect((await call(url, "getBlock", [slot, FULL])).result).to.deep.equal(
      JSON.parse(JSON.stringify(block?.raw)),
    );
    const bare = (await call(url, "getBlock", [slot, { ...FULL, transactionDetails: "none" }])).result;
    expect(bare).to.have.property("parentSlot", block?.parentSlot);
    expect(bare).not.to.have.property("transactions");
    expect((await call(url, "getBlock", [slot, { commitment: "confirmed" }])).error?.code).to.equal(-32015);

    const first = blocks[0]?.slot ?? 0;
    const listed = await call(url, "getBlocks", [first, first + 20, { commitment: "confirmed" }]);
    expect(listed.result).to.deep.equal(blocks.map((each) => each.slot).filter((each) => each <= first + 20));
    const skipped = Array.from({ length: 30 }, (_, i) => first + i).find(
      (each) => !blocks.some((made) => made.slot === each),
    );
    expect((await call(url, "getBlock", [skipped, FULL])).error?.code).to.equal(-32007);
    expect((await call(url, "getBlock", [slot + 1_000, FULL])).error?.code).to.equal(-32004);
    expect((await call(url, "getBlock", [first - 10, FULL])).error?.code).to.equal(-32001);
    expect(
      (await call(url, "getBlock", [confirmed.result, { ...FULL, commitment: "finalized" }])).error?.code,
    ).to.equal(-32004);
    expect((await call(url, "getEpochInfo")).error?.code).to.equal(-32601);
    expect((await call(url, "getBlock", ["x"])).error?.code).to.equal(-32602);
  });

  it("keeps so many blocks, and says what it has cleaned up", async () => {
    solana = await createTestSolana({ skipped: 0, transactions: 1, kept: 50 });
    solana.produce(80);
    expect(solana.chain.firstAvailable()).to.equal(300_000_031);
    const gone = await call(solana.urls[0] ?? "", "getBlock", [300_000_030, FULL]);
    expect(gone.error?.message).to.contain("First available block: 300000031");
    expect((await call(solana.urls[0] ?? "", "getBlock", [300_000_031, FULL])).result).to.be.an("object");
  });

  it("does wrong on demand", async () => {
    solana = await createTestSolana({ skipped: 0 });
    solana.produce(10);
    const [server] = solana.servers;
    if (server === undefined) throw new Error("no server");
    const { url, faults } = server;
    const slot = 300_000_005;
    faults.hidden.add(slot);
    expect((await call(url, "getBlock", [slot, FULL])).error?.code).to.equal(-32007);
    expect((await call(url, "getBlocks", [slot - 1, slot + 1, FULL])).result).to.deep.equal([
      slot - 1,
      slot + 1,
    ]);
    faults.missingCode = null;
    expect(await call(url, "getBlock", [slot, FULL])).to.have.property("result", null);
    faults.intercept = ({ method }) =>
      method === "getSlot" ? { error: { code: -32005, message: "Node is behind" } } : undefined;
    expect((await call(url, "getSlot")).error?.code).to.equal(-32005);
    faults.intercept = () => ({ status: 429, headers: { "retry-after": "3" } });
    const limited = await fetch(url, { method: "POST", body: "{}" });
    expect([limited.status, limited.headers.get("retry-after")]).to.deep.equal([429, "3"]);
    faults.intercept = () => "reset";
    expect(await call(url, "getSlot").catch(() => "cut")).to.equal("cut");
    expect(server.calls.get("getSlot")).to.equal(2);
  });

  it("notifies subscribers of new slots", async () => {
    solana = await createTestSolana({ skipped: 0 });
    solana.produce(1);
    const said: Record<string, unknown>[] = [];
    const socket = new PlainSocket(solana.servers[0]?.wsUrl ?? "");
    socket.onmessage = ({ data }) => said.push(JSON.parse(String(data)));
    const say = (message: unknown) => socket.send(JSON.stringify(message));
    await new Promise<void>((resolve) => {
      socket.onopen = resolve;
    });
    say({ jsonrpc: "2.0", id: 1, method: "slotSubscribe", params: [] });
    await until(() => said.length === 1);
    expect(said[0]).to.include({ id: 1, result: 1 });
    solana.produce(2);
    await until(() => said.length === 3);
    const result = { slot: 300_000_003, parent: 300_000_002, root: 0 };
    expect(said[2]).to.deep.include({ method: "slotNotification", params: { result, subscription: 1 } });
    say({ jsonrpc: "2.0", id: 2, method: "slotUnsubscribe", params: [1] });
    await until(() => said.length === 4);
    solana.produce(1);
    say({ jsonrpc: "2.0", id: 3, method: "logsSubscribe", params: [] });
    await until(() => said.length === 5);
    expect(said[4]).to.have.nested.property("error.code", -32601);
    socket.close();
  });

  it("serves recorded blocks from a folder", async () => {
    solana = await createTestSolana({ skipped: 0.2 });
    const blocks = solana.produce(20);
    const folder = await mkdtemp(join(tmpdir(), "chaintables-recorded-"));
    try {
      for (const [i, { slot, raw }] of blocks.entries())
        await writeFile(
          join(folder, `${slot}.json`),
          JSON.stringify(i % 2 === 0 ? raw : { jsonrpc: "2.0", result: raw }),
        );
      await writeFile(join(folder, "README.md"), "no block");
      const server = await startRpcServer(chainOfBlocks(readRecordedBlocks(folder)));
      const { slot, raw } = blocks[3] ?? {};
      expect((await call(server.url, "getBlock", [slot, FULL])).result).to.deep.equal(
        JSON.parse(JSON.stringify(raw)),
      );
      expect((await call(server.url, "getSlot", [{ commitment: "finalized" }])).result).to.equal(
        blocks.at(-1)?.slot,
      );
      const accounts = await call(server.url, "getMultipleAccounts", [
        ["So11111111111111111111111111111111111111112"],
        { encoding: "base64" },
      ]);
      expect(accounts.result).to.have.deep.property("value", [null]);
      await server.close();
      await writeFile(join(folder, "7.json"), "{}");
      expect(() => readRecordedBlocks(folder)).to.throw("Cannot use 7.json");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
