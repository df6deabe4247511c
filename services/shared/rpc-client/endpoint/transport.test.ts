import { Buffer } from "node:buffer";
import { expect } from "chai";
import { describe, it } from "mocha";
import { classifyRpcError } from "../../evm/source/classify.ts";
import { createFakeClock, createFakeNetwork, type FakeResponse } from "../testkit/fake-network.ts";
import { createTransport, type RpcCall } from "./transport.ts";

const SECRET_URL = "https://user:hunter22@rpc.test/v3/0123456789abcdef0123?token=topsecret99";
const CALLS: RpcCall[] = [1, 2, 3].map((n) => ({ method: "eth_call", params: [n] }));
const never = new AbortController().signal;
const classify = classifyRpcError;

function setUp(
  answer: (calls: readonly RpcCall[]) => FakeResponse,
  more: { timeoutMs?: number; maxParallel?: number } = {},
) {
  const clock = createFakeClock();
  const network = createFakeNetwork(clock, { "rpc.test": answer });
  const { timeoutMs = 1000, maxParallel = 4 } = more;
  const transport = createTransport({
    url: SECRET_URL,
    classify,
    fetch: network.fetch,
    clock,
    timeoutMs,
    maxParallel,
  });
  return {
    clock,
    network,
    transport,
    send: (calls = CALLS, signal = never) => clock.run(transport.send(calls, signal)),
  };
}

describe("createTransport", () => {
  it("sends one batch and returns the replies in the order of the calls", async () => {
    const { send, network } = setUp((calls) => ({ results: calls.map((call) => call.params[0]) }));
    expect(await send()).to.deep.equal([1, 2, 3].map((result) => ({ ok: true, result })));
    expect(network.requests).to.have.length(1);
  });

  it("converts the elements of a call's list, alone or in a batch, of a text or of parts", async () => {
    const list = { name: "items", convert: (element: unknown, index: number) => [element, index] };
    const call: RpcCall = { method: "getBlock", params: [], list };
    const expected = {
      ok: true,
      result: {
        items: [
          ["a", 0],
          ["b", 1],
        ],
      },
    };
    const result = { items: ["a", "b"] };
    const { send } = setUp((calls) => ({ results: calls.map(() => result) }));
    expect(await send([call])).to.deep.equal([expected]);
    expect(await send([call, call])).to.deep.equal([expected, expected]);
    const transport = createTransport({
      url: SECRET_URL,
      classify,
      fetch: async (_, { body }) => ({
        status: 200,
        headers: { get: () => null },
        text: () => Promise.reject(new Error("never one text")),
        parts: async () => [Buffer.from(JSON.stringify({ id: JSON.parse(body).id, result }))],
      }),
      clock: createFakeClock(),
      timeoutMs: 1,
      maxParallel: 1,
    });
    expect(await transport.send([call], never)).to.deep.equal([expected]);
  });

  it("sorts a batch's replies by id", async () => {
    const clock = createFakeClock();
    const shuffled: typeof fetch = async (_, init) => {
      const calls = JSON.parse(String(init?.body)) as { id: number; params: number[] }[];
      return new Response(
        JSON.stringify(calls.map(({ id, params }) => ({ id, result: params[0] })).reverse()),
      );
    };
    const transport = createTransport({
      url: SECRET_URL,
      classify,
      fetch: shuffled,
      clock,
      timeoutMs: 1,
      maxParallel: 1,
    });
    const replies = await transport.send(CALLS, never);
    expect(replies.map((reply) => reply.ok && reply.result)).to.deep.equal([1, 2, 3]);
  });

  it("gives a call without a response in the batch its own fault", async () => {
    const { send } = setUp(() => ({ results: ["a", "b"] }));
    const replies = await send();
    expect(replies.map((reply) => reply.ok)).to.deep.equal([true, true, false]);
  });

  for (const [name, answer] of [
    ["truncated JSON", { status: 200, body: '[{"jsonrpc":"2.0","id":1,"resu' }],
    ["an HTML page", { status: 200, body: "<html>Maintenance</html>" }],
    ["HTTP 502", { status: 502, body: "<html>Bad Gateway</html>" }],
    ["a reset connection", "reset"],
  ] as const) {
    it(`makes ${name} a transient fault of every call`, async () => {
      const { send } = setUp(() => answer);
      for (const reply of await send()) expect(reply.ok ? "ok" : reply.fault.kind).to.equal("transient");
    });
  }

  it("honours Retry-After with a body that is no JSON-RPC", async () => {
    const { send } = setUp(() => ({ status: 429, body: "slow down", headers: { "retry-after": "7" } }));
    const [reply] = await send();
    expect(reply).to.deep.include({ ok: false });
    expect(reply?.ok === false && reply.fault).to.deep.include({ kind: "rate", retryAfterMs: 7000 });
  });

  it("reads one error object as the answer to the whole batch", async () => {
    const body = JSON.stringify({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32600, message: "batch too large (limit: 2)" },
    });
    const { send } = setUp(() => ({ status: 200, body }));
    for (const reply of await send())
      expect(reply.ok === false && reply.fault).to.deep.include({ kind: "batch", limit: 2 });
  });

  it("fails at the deadline and reports it", async () => {
    const { send, clock } = setUp(() => "hang", { timeoutMs: 1234 });
    const [reply] = await send();
    expect(reply?.ok === false && reply.fault).to.deep.include({ kind: "transient", timedOut: true });
    expect(clock.now()).to.equal(1234);
  });

  it("keeps no more requests in flight than allowed", async () => {
    let inFlight = 0;
    let most = 0;
    const clock = createFakeClock();
    const slow: typeof fetch = async () => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await clock.sleep(10);
      inFlight -= 1;
      return new Response("{}");
    };
    const transport = createTransport({
      url: SECRET_URL,
      classify,
      fetch: slow,
      clock,
      timeoutMs: 1000,
      maxParallel: 3,
    });
    await clock.run(Promise.all(Array.from({ length: 20 }, () => transport.send(CALLS, never))));
    expect(most).to.equal(3);
  });

  it("moves the password of the URL into the header", async () => {
    let seen: { url: string; authorization: string | null } | undefined;
    const spy: typeof fetch = async (input, init) => {
      seen = { url: String(input), authorization: new Headers(init?.headers).get("authorization") };
      return new Response("{}");
    };
    const transport = createTransport({
      url: SECRET_URL,
      classify,
      fetch: spy,
      clock: createFakeClock(),
      timeoutMs: 1,
      maxParallel: 1,
    });
    await transport.send(CALLS, never);
    expect(seen?.url).not.to.contain("hunter22");
    expect(seen?.authorization).to.equal(`Basic ${btoa("user:hunter22")}`);
  });

  it("lets no part of the URL but the host into a message", async () => {
    for (const answer of [
      "reset",
      {
        status: 500,
        body: `upstream https://rpc.test/v3/0123456789abcdef0123 key 0123456789abcdef0123 topsecret99`,
      },
      {
        status: 200,
        body: JSON.stringify({ id: 1, error: { code: 1, message: `bad ${SECRET_URL}`, data: SECRET_URL } }),
      },
    ] as const) {
      const { send, transport } = setUp(() => answer);
      const [reply] = await send(CALLS.slice(0, 1));
      expect(transport.host).to.equal("rpc.test");
      expect(reply?.ok).to.equal(false);
      expect(JSON.stringify(reply)).not.to.match(/0123456789abcdef0123|topsecret99|hunter22/);
    }
  });

  it("lets no part of a header that an endpoint returns into a message, wherever the message is cut", async () => {
    const header = `authorization: Basic ${btoa("user:hunter22")}`;
    for (let filler = 160; filler < 300; filler += 4) {
      const text = "y".repeat(filler);
      for (const answer of [
        { status: 401, body: `${text} ${header}` },
        { status: 401, body: JSON.stringify({ text, header }) },
        { status: 200, body: JSON.stringify({ id: 1, error: { code: 1, text, header } }) },
      ]) {
        const { send } = setUp(() => answer);
        const [reply] = await send(CALLS.slice(0, 1));
        expect(JSON.stringify(reply)).not.to.contain(btoa("user:hunter22").slice(0, 6));
      }
    }
  });
});
