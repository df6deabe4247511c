import { EventEmitter } from "node:events";
import { expect } from "chai";
import { describe, it } from "mocha";
import { beginExchange } from "../../../services/shared/http/exchange.ts";
import { createLog } from "../../../services/shared/logging/log.ts";
import { createMetrics } from "../../../services/shared/metrics/metrics.ts";
import { systemClock } from "../../request/clock.ts";
import type { RequestContext } from "../../request/context.ts";
import { DeadlineExceeded, RequestCancelled } from "../../request/errors.ts";
import type { UpstreamResponse } from "../transport/response-receiver.ts";
import { createCachingForwarder } from "./caching-forwarder.ts";
import { createResponseCache } from "./response-cache.ts";

const sinks = {
  log: createLog({ name: "test", level: "error", destination: { write: () => {} } }),
  metrics: createMetrics({ name: "test" }),
};

/** A client that waits, and may disconnect. */
function createClient(query = "a=1") {
  const res = Object.assign(new EventEmitter(), { destroyed: false, getHeader: () => undefined });
  const req = { headers: {}, method: "GET" };
  const exchange = beginExchange(sinks, { req, res } as never);
  const context = {
    ...{ req, res, query, session: exchange.session, fields: {}, arrivedMs: systemClock.monotonicMs() },
    endpoint: { path: "/evm/dexes", mediaType: "application/json" },
  } as unknown as RequestContext;
  const leave = () => {
    res.destroyed = true;
    res.emit("close");
  };
  return { context, leave };
}

/** A request to a service. */
interface SentRequest {
  resolve: (response: UpstreamResponse) => void;
  reject: (error: Error) => void;
  isCancelled: boolean;
}

/** A forwarder whose services respond when the test says so. */
function createScene(deadlineMs = 60_000, cache = createResponseCache({ maxBytes: 1_000_000 })) {
  const epoch = { count: 1, block: 1, hash: "0x1" };
  const requests: SentRequest[] = [];
  const sent: { context: RequestContext; body: string }[] = [];
  const forward = createCachingForwarder({
    cache,
    clock: systemClock,
    deadlineMs,
    heads: { current: () => epoch },
    client: {
      send: (_request, { onResponse, onError }) => {
        const request: SentRequest = { resolve: onResponse, reject: onError, isCancelled: false };
        requests.push(request);
        const cancel = () => {
          request.isCancelled = true;
          onError(new RequestCancelled("The client has gone"));
        };
        return { cancel };
      },
    },
    delivery: {
      sendComplete: (context, { body }) => void sent.push({ context, body: body.toString() }),
      sendStreamed: (context) => void sent.push({ context, body: "live" }),
      sendNotModified: (context) => void sent.push({ context, body: "304" }),
    },
  });
  const tellHead = (block: number) => {
    Object.assign(epoch, { count: epoch.count + 1, block, hash: `0x${block}` });
  };
  return { forward, requests, sent, tellHead };
}

const table = (text: string): UpstreamResponse => ({ status: 200, headers: {}, body: Buffer.from(text) });
/** A table of a block, fresh for a minute. */
const tableOf = (block: number): UpstreamResponse => ({
  status: 200,
  headers: {
    "cache-control": "max-age=60",
    etag: `"${block}"`,
    "x-data-block": String(block),
    "x-data-block-hash": `0x${block}`,
  },
  body: Buffer.from(`of ${block}`),
});
const unchanged = (block: number): UpstreamResponse => ({
  ...tableOf(block),
  status: 304,
  body: Buffer.alloc(0),
});

describe("caching forwarder: in-flight requests", () => {
  it("sends one request for all clients of one table, and responds in their order", async () => {
    const { forward, requests, sent } = createScene();
    const clients = [createClient(), createClient(), createClient(), createClient("a=2")];
    const done = clients.map(({ context }) => forward(context));
    expect(requests).to.have.length(2);
    requests[0]?.resolve(table("one"));
    requests[1]?.resolve(table("two"));
    await Promise.all(done);
    expect(sent.map(({ body }) => body)).to.deep.equal(["one", "one", "one", "two"]);
    expect(sent.map(({ context }) => context)).to.deep.equal(clients.map(({ context }) => context));
    expect(sent.map(({ context }) => context.fields.cache)).to.deep.equal([
      ...["miss", "coalesced", "coalesced", "miss"],
    ]);
  });

  it("continues for the clients that stay when others disconnect, the first one too", async () => {
    const { forward, requests, sent } = createScene();
    const [first, second, third] = [createClient(), createClient(), createClient()];
    const done = [first, second, third].map(({ context }) => forward(context));
    first.leave();
    third.leave();
    expect(requests[0]?.isCancelled).to.equal(false);
    requests[0]?.resolve(table("one"));
    await Promise.all(done);
    expect(sent.map(({ context }) => context)).to.deep.equal([second.context]);
  });

  it("cancels with the last client; one that comes in the same moment starts a new request", async () => {
    const { forward, requests, sent } = createScene();
    const [first, second] = [createClient(), createClient()];
    const left = forward(first.context);
    first.leave();
    const done = forward(second.context);
    expect(requests.map(({ isCancelled }) => isCancelled)).to.deep.equal([true, false]);
    await left;
    // The cancelled request has ended by now, and has not removed the one that followed it.
    const third = forward(createClient().context);
    expect(requests).to.have.length(2);
    requests[1]?.resolve(table("one"));
    await Promise.all([done, third]);
    expect(sent.map(({ body }) => body)).to.deep.equal(["one", "one"]);
  });

  it("sends nothing for a client that has disconnected before", async () => {
    const { forward, requests } = createScene();
    const client = createClient();
    client.leave();
    await forward(client.context);
    expect(requests).to.be.empty;
  });

  it("starts one new request for the clients with time left when the first one's deadline is over", async () => {
    const { forward, requests, sent } = createScene();
    const done = [createClient(), createClient(), createClient()].map(({ context }) => forward(context));
    requests[0]?.reject(new DeadlineExceeded(60_000));
    const [first, second, third] = await Promise.race([
      Promise.allSettled(done),
      new Promise<undefined[]>((resolve) => setImmediate(resolve, [])),
    ]);
    expect([first, second, third], "still waiting").to.deep.equal([undefined, undefined, undefined]);
    expect(requests).to.have.length(2);
    requests[1]?.resolve(table("late"));
    const ends = await Promise.allSettled(done);
    expect(ends.map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled", "fulfilled"]);
    expect(sent.map(({ body }) => body)).to.deep.equal(["late", "late"]);
  });

  it("fails all clients with the service's error, and caches nothing", async () => {
    const { forward, requests } = createScene();
    const done = [createClient(), createClient()].map(({ context }) => forward(context));
    const error = new Error("broken");
    requests[0]?.reject(error);
    const ends = await Promise.allSettled(done);
    expect(ends).to.deep.equal([
      { status: "rejected", reason: error },
      { status: "rejected", reason: error },
    ]);
    void forward(createClient().context);
    expect(requests).to.have.length(2);
  });

  it("fails all clients, and leaves none waiting, where a response cannot be cached", async () => {
    const error = new Error("no memory");
    const put = () => {
      throw error;
    };
    const { forward, requests } = createScene(60_000, { get: () => undefined, put, size: 0, bytes: 0 });
    const done = [createClient(), createClient()].map(({ context }) => forward(context));
    requests[0]?.resolve({ ...table("one"), headers: { "cache-control": "max-age=1" } });
    const ends = await Promise.allSettled(done);
    expect(ends).to.deep.equal([
      { status: "rejected", reason: error },
      { status: "rejected", reason: error },
    ]);
  });
});

describe("caching forwarder: heads", () => {
  /** Sends a request, which the cache answers, or the service by this. */
  const createAsking = () => {
    const scene = createScene();
    const ask = async (response?: UpstreamResponse) => {
      const before = scene.requests.length;
      const done = scene.forward(createClient().context);
      if (scene.requests.length > before && response !== undefined) scene.requests.at(-1)?.resolve(response);
      await done;
      const { body, context } = scene.sent.at(-1) as (typeof scene.sent)[0];
      return [body, context.fields.cache];
    };
    return { ...scene, ask };
  };

  it("end the freshness of a table: it is requested once for each head, by its tag", async () => {
    const { requests, tellHead, ask } = createAsking();
    expect(await ask(tableOf(1))).to.deep.equal(["of 1", "miss"]);
    expect(await ask()).to.deep.equal(["of 1", "hit"]);
    tellHead(2);
    expect(await ask(tableOf(2))).to.deep.equal(["of 2", "miss"]);
    for (let i = 0; i < 5; i += 1) expect(await ask()).to.deep.equal(["of 2", "hit"]);
    tellHead(3);
    expect(await ask(unchanged(3))).to.deep.equal(["of 2", "revalidated"]);
    expect(await ask()).to.deep.equal(["of 2", "hit"]);
    expect(requests).to.have.length(3);
  });

  it("let nobody wait for a request that was sent under an earlier one", async () => {
    const { forward, requests, sent, tellHead, ask } = createAsking();
    const early = forward(createClient().context);
    tellHead(2);
    const late = forward(createClient().context);
    const alsoLate = forward(createClient().context);
    expect(requests).to.have.length(2);
    requests[1]?.resolve(tableOf(2));
    await Promise.all([late, alsoLate]);
    requests[0]?.resolve(tableOf(1));
    await early;
    expect(sent.map(({ body }) => body)).to.deep.equal(["of 2", "of 2", "of 1"]);
    expect(await ask(), "the later table is kept").to.deep.equal(["of 2", "hit"]);
  });

  it("keep the later of two answers that nothing has changed", async () => {
    const { forward, requests, tellHead, ask } = createAsking();
    await ask(tableOf(1));
    tellHead(2);
    const early = forward(createClient().context);
    tellHead(3);
    const late = forward(createClient().context);
    requests[2]?.resolve(unchanged(3));
    requests[1]?.resolve(unchanged(2));
    await Promise.all([early, late]);
    expect(await ask()).to.deep.equal(["of 1", "hit"]);
  });
});
