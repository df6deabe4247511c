import { expect } from "chai";
import { afterEach, it } from "mocha";
import { readSettings } from "../settings/settings.ts";
import { collection } from "../storage/collection.ts";
import { DEFAULTS_OF_SERVICES, RETRIES_OF_SERVICES } from "../storage/mongodb/connection.ts";
import { openMongoStore } from "../storage/mongodb/store.ts";
import { put, type Store } from "../storage/port.ts";
import { TestMongod } from "../storage/testkit/mongod/server.ts";
import { describeLong } from "../testkit/describe.ts";
import { bodyOf, listEndpoint, startTestApp, type TestApp, until } from "../testkit/fixture.ts";
import { handle } from "./handlers.ts";
import type { ServiceAppOptions } from "./service-app.ts";

const things = collection({
  name: "things",
  fields: { id: "int", name: "text" },
  key: ["id"],
  indexes: [],
  shardKey: ["id"],
});

describeLong("service/service-app over a store that goes away", () => {
  let app: TestApp | undefined;
  let server: TestMongod | undefined;
  let store: Store | undefined;
  afterEach(async () => {
    await app?.close();
    await store?.close();
    await server?.close();
  });

  /** A service over a server, with short waits for the test alone: what is asked is what their end is taken for. */
  async function serve(options: Partial<ServiceAppOptions> = {}) {
    server = await TestMongod.start();
    const waits = "serverSelectionTimeoutMS=200&socketTimeoutMS=300&connectTimeoutMS=300";
    store = await openMongoStore({ url: `${server.url}&${waits}`, database: "test", access: "either" });
    await store.declare([things]);
    await store.write([put(things, [{ id: 1, name: "one" }])]);
    const opened = store;
    const read = handle(listEndpoint, async (_, { signal }) => ({
      rows: (await opened.within(signal).find(things, {})).map(({ id, name }) => [name, id]),
    }));
    app = await startTestApp({ handlers: Object.fromEntries([read]), ...options });
    return { ask: () => fetch(`${app?.url}/test/things`), opened, server };
  }

  it("answers 503 with Retry-After, never 500, whether the server is gone or another is being elected", async () => {
    const { ask, server } = await serve();
    expect((await ask()).status).to.equal(200);
    // The store repeats a read twice.
    for (let i = 0; i < 3; i += 1) server.failNext({ command: "find", collection: "things" });
    const elected = await ask();
    expect([elected.status, elected.headers.get("retry-after")]).to.deep.equal([503, "5"]);
    await until(async () => (await ask()).status === 200);
    await server.close();
    const gone = await ask();
    expect([gone.status, gone.headers.get("retry-after")]).to.deep.equal([503, "5"]);
    expect(await bodyOf(gone)).to.include({
      error: "unavailable",
      message: "The store cannot be reached at the moment.",
    });
  });

  it("answers the same where the server is silent, before its own deadline, and answers again once it speaks", async () => {
    const { ask, server } = await serve({ deadlineMs: 60_000 });
    expect((await ask()).status).to.equal(200);
    server.hush();
    for (let i = 0; i < 2; i += 1) {
      const silent = await ask();
      expect([silent.status, silent.headers.get("retry-after")]).to.deep.equal([503, "5"]);
    }
    server.speak();
    await until(async () => (await ask()).status === 200);
  });

  it("has time for that: what a service waits for at most ends before the deadline of a request", () => {
    const { connectTimeoutMS, serverSelectionTimeoutMS, socketTimeoutMS } = DEFAULTS_OF_SERVICES;
    const { DEADLINE_MS } = readSettings({}, ["DEADLINE_MS"]);
    const { patienceMs } = RETRIES_OF_SERVICES;
    expect(socketTimeoutMS).to.be.below(DEADLINE_MS);
    // After an answer that did not come no attempt is begun; after a connection that did not, one more.
    expect(patienceMs).to.be.below(socketTimeoutMS);
    expect(patienceMs + Math.max(connectTimeoutMS, serverSelectionTimeoutMS)).to.be.below(DEADLINE_MS);
  });

  it("gives up what a request asked once the request is over, and asks nothing more for it", async () => {
    const { ask, opened, server } = await serve({ deadlineMs: 100 });
    server.hush();
    const asked = server.commands.length;
    expect((await ask()).status).to.equal(408);
    server.speak();
    await until(async () => (await ask()).status === 200);
    const request = new AbortController();
    const wanted = opened.within(request.signal);
    server.hush();
    const reading = wanted.find(things, {}).catch((error: unknown) => error);
    request.abort(new Error("the client is gone"));
    // At once: nothing else ends it while the server is silent.
    expect(String(await reading)).to.equal("Error: the client is gone");
    const before = server.commands.length;
    expect(before).to.be.greaterThan(asked);
    await wanted.find(things, {}).catch(() => {});
    expect(server.commands.length).to.equal(before);
  });

  it("does not take another's lost connection for the store's", async () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    const read = handle(listEndpoint, async () => Promise.reject(refused));
    app = await startTestApp({ handlers: Object.fromEntries([read]) });
    expect((await fetch(`${app.url}/test/things`)).status).to.equal(500);
  });
});
