import { Buffer } from "node:buffer";
import { expect } from "chai";
import { describe, it } from "mocha";
import { decodeBase58 } from "../../shared/contract/base58.ts";
import type { RpcCall } from "../../shared/rpc-client/endpoint/transport.ts";
import { RpcFailure } from "../../shared/rpc-client/testkit/fake-network.ts";
import { SolanaUpstreamError } from "./port.ts";
import { TOKEN_PROGRAM } from "./program-address.ts";
import { createSolanaSource } from "./source.ts";
import {
  answerHonestly,
  catchError,
  fakeBlocks,
  fakeChain,
  fakeKey,
  type Handler,
  honest,
  setUpSource,
} from "./testkit/fake-chain.ts";

const SLOTS = Array.from({ length: 40 }, (_, i) => 100 + i);
const CHAIN = fakeChain(fakeBlocks(SLOTS), { lag: 32 });
const RANGE = { fromSlot: 104, toSlot: 106, commitment: "confirmed" } as const;

/** Answers one method in another way. */
function instead(method: string, answer: (call: RpcCall) => unknown): Handler {
  return (calls) => ({
    results: calls.map((call) => (call.method === method ? answer(call) : answerHonestly(CHAIN, call))),
  });
}

describe("createSolanaSource", () => {
  it("refuses a configuration without an http URL, and quotes no URL", () => {
    expect(() => createSolanaSource({ urls: ["wss://a.test"] })).to.throw(TypeError, "at least one");
    expect(() => createSolanaSource({ urls: ["ftp://secret.test/key"] })).to.throw(
      TypeError,
      /^(?!.*secret).*number 1/,
    );
  });

  it("returns the heads of both commitments", async () => {
    const { source, clock } = setUpSource({ "a.test": honest(CHAIN) });
    expect(await clock.run(source.head("confirmed"))).to.deep.equal({ slot: 139 });
    expect(await clock.run(source.head("finalized"))).to.deep.equal({ slot: 107 });
  });

  it("does not go back because another node is behind, unless all are for a minute", async () => {
    let last = 40;
    const chain = () => fakeChain(CHAIN.blocks.slice(0, last));
    const { source, clock } = setUpSource({ "a.test": honest(chain), "b.test": honest(chain) });
    const head = async () => (await clock.run(source.head("confirmed"))).slot;
    expect(await head()).to.equal(139);
    last = 20;
    expect(await head()).to.equal(139);
    await clock.run(clock.sleep(61_000));
    expect(await head()).to.equal(119);
    last = 30;
    expect(await head()).to.equal(129);
  });

  it("sets an endpoint of another cluster aside", async () => {
    const other = honest({ ...CHAIN, genesis: fakeKey(9, 8) });
    const { source, clock, network, lines } = setUpSource({ "a.test": honest(CHAIN), "b.test": other });
    await clock.run(source.firstAvailableSlot());
    expect(lines.join()).to.match(/set aside.*b\.test.*wrong cluster/);
    expect(network.requestsTo("b.test")).to.have.length(0);

    const fixed = setUpSource({ "a.test": honest(CHAIN) }, { genesisHash: fakeKey(9, 8) });
    const error = await catchError(fixed.clock.run(fixed.source.head("confirmed")));
    expect(error).to.be.instanceOf(SolanaUpstreamError);
    expect(error.message).to.match(/^solana: getSlot confirmed failed at a\.test: wrong cluster/);
    expect(error.message).not.to.contain("key-0123456789");
  });

  it("continues without the genesis hash when no endpoint returns it", async () => {
    const { source, clock } = setUpSource({
      "a.test": instead("getGenesisHash", () => new RpcFailure(-32601, "Method not found")),
    });
    expect(await clock.run(source.head("confirmed"))).to.deep.equal({ slot: 139 });
  });

  it("fails over, and waits as long as a rate limit requires", async () => {
    const { source, clock, network } = setUpSource({
      "a.test": () => ({ status: 503, body: "" }),
      "b.test": honest(CHAIN),
    });
    expect(await clock.run(source.blocks(RANGE))).to.have.length(3);
    expect(clock.now()).to.equal(0);
    expect(network.requestsTo("b.test")).to.have.length(3);

    let refusals = 1;
    const limited = setUpSource({
      "a.test": (calls) =>
        calls[0]?.method === "getSlot" && refusals-- > 0
          ? { status: 429, body: "", headers: { "retry-after": "7" } }
          : honest(CHAIN)(calls),
    });
    expect(await limited.clock.run(limited.source.head("confirmed"))).to.deep.equal({ slot: 139 });
    expect(limited.clock.now()).to.be.at.least(7_000).and.below(9_000);
  });

  it("reads one provider's -32007 as the rate limit that it is", async () => {
    let refusals = 1;
    const { source, clock, events } = setUpSource({
      "a.test": instead("getBlock", (call) =>
        refusals-- > 0
          ? new RpcFailure(-32007, "50/second request limit reached - reduce calls per second")
          : answerHonestly(CHAIN, call),
      ),
    });
    expect(await clock.run(source.blocks(RANGE))).to.have.length(3);
    expect(events.some((event) => event.kind === "fault" && event.fault === "rate")).to.equal(true);
  });

  it("gives up on an endpoint that does not answer in time", async () => {
    const { source, clock } = setUpSource(
      { "a.test": (calls) => (calls[0]?.method === "getBlock" ? "hang" : honest(CHAIN)(calls)) },
      { options: { timeoutMs: 1_000, totalMs: 10_000 } },
    );
    const error = await catchError(clock.run(source.blocks(RANGE)));
    expect(error).to.be.instanceOf(SolanaUpstreamError);
    expect(error.message).to.contain("no response within 1000 ms");
  });

  it("returns the first slot that any endpoint has", async () => {
    const pruned = honest({ ...CHAIN, firstAvailable: 120 });
    const { source, clock } = setUpSource({ "a.test": pruned, "b.test": honest(CHAIN) });
    expect(await clock.run(source.firstAvailableSlot())).to.equal(100);
    // What one has lost is read from the other.
    expect(await clock.run(source.blocks(RANGE))).to.have.length(3);
    const alone = setUpSource({ "a.test": () => "reset" }, { options: { behindTotalMs: 100 } });
    expect(await catchError(alone.clock.run(alone.source.firstAvailableSlot()))).to.be.instanceOf(
      SolanaUpstreamError,
    );
  });

  it("reads up to a hundred accounts as of one slot, in the order requested", async () => {
    const addresses = Array.from({ length: 100 }, (_, i) => fakeKey(1, i));
    const { source, clock, network } = setUpSource({
      "a.test": instead("getMultipleAccounts", ({ params }) => ({
        context: { slot: params[1] === undefined ? 0 : 77 },
        value: (params[0] as string[]).map((address, i) =>
          i % 10 === 9
            ? null
            : {
                owner: fakeKey(2, 2),
                lamports: 1,
                data: [Buffer.from(address).toString("base64"), "base64"],
              },
        ),
      })),
    });
    const { slot, accounts } = await clock.run(source.accounts(addresses, "finalized"));
    expect(slot).to.equal(77);
    expect(accounts.map((account) => account && Buffer.from(account.data).toString())).to.deep.equal(
      addresses.map((address, i) => (i % 10 === 9 ? null : address)),
    );
    const [call] = network.requestsTo("a.test").flatMap(({ calls }) => calls);
    expect(call?.params[1]).to.deep.equal({ encoding: "base64", commitment: "finalized" });
    const tooMany = source.accounts([...addresses, fakeKey(1, 100)], "confirmed");
    expect(await catchError(tooMany)).to.be.instanceOf(RangeError);
  });

  it("rejects accounts that are too few or cut off", async () => {
    const context = { slot: 5 };
    for (const result of [
      { context, value: [] },
      { context, value: [{ owner: fakeKey(2, 2), data: ["a*bc", "base64"] }] },
      { context, value: [{ owner: "x", data: ["", "base64"] }] },
      { value: [null] },
    ]) {
      const { source, clock, lines } = setUpSource(
        { "a.test": instead("getMultipleAccounts", () => result) },
        { options: { totalMs: 1_000 } },
      );
      expect(await catchError(clock.run(source.accounts([fakeKey(1, 1)], "confirmed")))).to.be.instanceOf(
        SolanaUpstreamError,
      );
      expect(lines.join()).to.contain("untrusted response");
    }
  });

  it("returns the largest accounts of a mint, or undefined if no endpoint serves them", async () => {
    const address = fakeKey(4, 4);
    const { source, clock, network } = setUpSource({
      "a.test": () => ({ status: 403, body: "Forbidden" }),
      "b.test": instead("getTokenLargestAccounts", () => ({
        context: { slot: 1 },
        value: [
          { address, amount: "1" },
          { address, amount: "18446744073709551615" },
        ],
      })),
    });
    expect(await clock.run(source.largestTokenAccounts(fakeKey(1, 1)))).to.deep.equal([
      { address, amount: 18446744073709551615n },
      { address, amount: 1n },
    ]);

    const none = setUpSource({
      "a.test": instead("getTokenLargestAccounts", () => new RpcFailure(-32601, "Method not found")),
      "b.test": instead(
        "getTokenLargestAccounts",
        () => new RpcFailure(-32602, "Invalid param: not a Token mint"),
      ),
    });
    expect(await none.clock.run(none.source.largestTokenAccounts(fakeKey(1, 1)))).to.equal(undefined);
    await none.clock.run(none.source.largestTokenAccounts(fakeKey(1, 2)));
    // The one that does not offer it receives no second request; the other only did not know that mint.
    const requestCount = (host: string) => none.network.requestsTo(host).length;
    expect([requestCount("a.test"), requestCount("b.test")]).to.deep.equal([1, 2]);
    expect(network.requestsTo("a.test")).to.have.length(0);
  });

  it("returns token accounts by pages where an endpoint offers them, else at once, else undefined", async () => {
    const [mint, owner, address] = [fakeKey(1, 1), fakeKey(2, 2), fakeKey(4, 4)];
    const data = Buffer.alloc(40);
    data.set(decodeBase58(owner) ?? [], 0);
    data.writeBigUInt64LE(77n, 32);
    const raw = (bytes: Buffer) => ({
      pubkey: address,
      account: { owner: TOKEN_PROGRAM, lamports: 1, data: [bytes.toString("base64"), "base64"] },
    });
    const empty = Buffer.from(data);
    empty.writeBigUInt64LE(0n, 32);
    const listed = [raw(data), raw(empty)];
    const query = { program: TOKEN_PROGRAM, minSlot: 7, after: null };
    const held = [{ address, owner, amount: 77n }];
    const paged = setUpSource({
      "a.test": () => ({ status: 403, body: "Forbidden" }),
      "b.test": instead("getProgramAccountsV2", ({ params }) => {
        const { paginationKey } = params[1] as { paginationKey?: string };
        const next = paginationKey === undefined ? "k" : null;
        return { context: { slot: 9 }, value: { accounts: listed, paginationKey: next } };
      }),
    });
    const first = await paged.clock.run(paged.source.tokenAccounts(mint, query));
    expect(first).to.deep.equal({ slot: 9, accounts: held, next: "k" });
    const last = await paged.clock.run(paged.source.tokenAccounts(mint, { ...query, after: "k" }));
    expect(last).to.deep.equal({ slot: 9, accounts: held, next: null });

    const whole = setUpSource({
      "a.test": instead("getProgramAccounts", ({ params }) => {
        const { filters, minContextSlot } = params[1] as { filters: unknown[]; minContextSlot: number };
        expect(filters).to.deep.equal([{ memcmp: { offset: 0, bytes: mint } }, { dataSize: 165 }]);
        return { context: { slot: minContextSlot }, value: listed };
      }),
    });
    expect(await whole.clock.run(whole.source.tokenAccounts(mint, query))).to.deep.equal({
      ...{ slot: 7, accounts: held, next: null },
    });

    const excluded = "excluded from account secondary indexes; this RPC method unavailable for key";
    const none = setUpSource({
      "a.test": instead("getProgramAccounts", () => new RpcFailure(-32010, excluded)),
    });
    expect(await none.clock.run(none.source.tokenAccounts(mint, query))).to.equal(undefined);
  });

  it("wakes on a slot from the websocket, and stops when it is closed", async () => {
    const sockets: { onopen?: () => void; onmessage?: (event: { data: string }) => void; sent: string[] }[] =
      [];
    class FakeSocket {
      readonly sent: string[] = [];
      constructor() {
        sockets.push(this);
      }
      send(text: string): void {
        this.sent.push(text);
      }
      close(): void {}
    }
    const { clock } = setUpSource({ "a.test": honest(CHAIN) });
    const source = createSolanaSource({
      urls: ["https://a.test", "wss://a.test"],
      options: { clock, socketClass: FakeSocket as unknown as typeof WebSocket },
    });
    const waiting = source.waitForHead(10_000, new AbortController().signal);
    sockets[0]?.onopen?.();
    expect(sockets[0]?.sent.join()).to.contain("slotSubscribe");
    sockets[0]?.onmessage?.({
      data: JSON.stringify({ method: "slotNotification", params: { result: { slot: 1 } } }),
    });
    await clock.run(waiting);
    expect(clock.now()).to.equal(0);
    await source.close();
    expect(await catchError(source.blocks(RANGE))).to.be.instanceOf(SolanaUpstreamError);
  });
});
