import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import type { MethodDefinition } from "@grpc/grpc-js";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import {
  loadGeyser,
  type SubscribeRequestMessage,
  type SubscribeUpdateMessage,
} from "../../../../services/solana/chain/geyser/wire.ts";
import { createTestSolana, type TestSolana } from "../testkit.ts";
import { type GeyserServer, startGeyserServer } from "./server.ts";

const METHOD = loadGeyser().service.Subscribe as MethodDefinition<
  SubscribeRequestMessage,
  SubscribeUpdateMessage
>;
/** All transactions. */
const accountInclude: readonly string[] = [];
const SINGLE: SubscribeRequestMessage = {
  transactions: { swaps: { vote: false, failed: false, accountInclude } },
  blocks: {
    ends: { accountInclude, includeTransactions: false, includeAccounts: false, includeEntries: false },
  },
};

/** As bytes go over the wire: no library of gRPC between. */
describe("the local Yellowstone server", () => {
  let solana: TestSolana;
  let geyser: GeyserServer;
  let session: ClientHttp2Session;

  beforeEach(async () => {
    solana = await createTestSolana({ seed: 5, transactions: 30 });
    geyser = await startGeyserServer(solana.chain);
    session = connect(geyser.url);
    solana.produce(12);
  });
  afterEach(async () => {
    session.destroy();
    await geyser.close();
    await solana.stop();
  });

  function subscribe(request: SubscribeRequestMessage, encodings?: string): ClientHttp2Stream {
    const stream = session.request({
      ...{ ":method": "POST", ":path": METHOD.path, "content-type": "application/grpc", te: "trailers" },
      ...(encodings !== undefined && { "grpc-accept-encoding": encodings }),
    });
    const body = METHOD.requestSerialize(request);
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(body.length, 1);
    stream.write(Buffer.concat([prefix, body]));
    return stream;
  }

  type Enough = (updates: readonly SubscribeUpdateMessage[]) => boolean;
  const count = (wanted: number) => (updates: readonly unknown[]) => updates.length === wanted;

  /** Updates until there are enough, and whether they came compressed. */
  async function read(stream: ClientHttp2Stream, isEnough: Enough) {
    const updates: SubscribeUpdateMessage[] = [];
    const packed = new Set<boolean>();
    let received = Buffer.alloc(0);
    for await (const chunk of stream) {
      received = Buffer.concat([received, chunk as Buffer]);
      while (received.length >= 5 && received.length >= 5 + received.readUInt32BE(1)) {
        const end = 5 + received.readUInt32BE(1);
        const body = received.subarray(5, end);
        packed.add(received[0] === 1);
        updates.push(METHOD.responseDeserialize(received[0] === 1 ? gunzipSync(body) : body));
        received = received.subarray(end);
        if (isEnough(updates)) return { updates, packed: [...packed] };
      }
    }
    throw new Error(`The stream ended after ${updates.length} updates.`);
  }

  it("compresses for a client that takes gzip, and for no other", async () => {
    const fromSlot = solana.chain.head("confirmed");
    const stream = subscribe({ ...SINGLE, fromSlot }, "identity,deflate,gzip");
    const [headers] = await once(stream, "response");
    expect(headers["grpc-encoding"]).to.equal("gzip");
    const before = geyser.sentBytes;
    const gzip = await read(stream, count(10));
    expect(gzip.packed).to.deep.equal([true]);
    const packedBytes = geyser.sentBytes - before;
    const plain = await read(subscribe({ ...SINGLE, fromSlot }, "identity"), count(10));
    expect(plain.packed).to.deep.equal([false]);
    expect(plain.updates).to.deep.equal(gzip.updates);
    expect(geyser.sentBytes - before - packedBytes).to.be.greaterThan(packedBytes);
  });

  it("sends a slot's transactions that succeeded, then its block", async () => {
    const slot = solana.chain.head("confirmed");
    const stream = subscribe({ ...SINGLE, fromSlot: slot }, "gzip");
    const expected = solana.expected(slot, slot).length;
    const { updates } = await read(stream, count(expected + 1));
    expect(updates.slice(0, -1).every((each) => each.transaction?.slot === slot)).to.equal(true);
    expect(updates.some((each) => each.transaction?.transaction?.meta?.err)).to.equal(false);
    expect(updates.at(-1)?.block).to.include({ slot }).and.to.have.property("transactions").deep.equal([]);
  });

  it("waits for a client that does not read", async () => {
    const stream = subscribe({ ...SINGLE, fromSlot: solana.chain.firstAvailable() });
    await once(stream, "response");
    stream.pause();
    let sent = -1;
    while (sent !== geyser.sentBytes) {
      sent = geyser.sentBytes;
      await sleep(50);
    }
    const whole = geyser.messageBytes;
    stream.resume();
    const head = solana.chain.head("confirmed");
    const { updates } = await read(stream, (all) => all.at(-1)?.block?.slot === head);
    const blocks = updates.flatMap(({ block }) => block?.slot ?? []);
    expect(blocks).to.deep.equal(solana.chain.produced(0, head));
    expect(geyser.messageBytes).to.be.greaterThan(2 * whole);
  });

  it("says in trailers why it ends", async () => {
    geyser.faults.replaySlots = 3;
    const stream = subscribe({ ...SINGLE, fromSlot: solana.chain.firstAvailable() });
    stream.resume();
    const [trailers] = await once(stream, "trailers");
    expect(trailers["grpc-status"]).to.equal("11");
    expect(decodeURIComponent(trailers["grpc-message"])).to.contain("last available");
  });
});
