import { expect } from "chai";
import { afterEach, it } from "mocha";
import { openMongoStore } from "../storage/mongodb/store.ts";
import { collection, put, type Store } from "../storage/port.ts";
import { TestMongod } from "../storage/testkit/mongod/server.ts";
import { describeLong } from "../testkit/describe.ts";
import { bodyOf, listEndpoint, startTestApp, type TestApp, until } from "../testkit/fixture.ts";
import { handle } from "./handlers.ts";

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

  it("answers 503 with Retry-After, never 500, whether the server is gone or another is being elected", async () => {
    server = await TestMongod.start();
    // A short wait for the test alone; what is asked is whether the error of its end is known.
    const url = `${server.url}&serverSelectionTimeoutMS=200`;
    store = await openMongoStore({ url, database: "test", access: "either" });
    await store.declare([things]);
    await store.write([put(things, [{ id: 1, name: "one" }])]);
    const opened = store;
    const read = handle(listEndpoint, async () => ({
      rows: (await opened.find(things, {})).map(({ id, name }) => [name, id]),
    }));
    app = await startTestApp({ handlers: Object.fromEntries([read]) });
    const ask = () => fetch(`${app?.url}/test/things`);
    expect((await ask()).status).to.equal(200);
    // The driver repeats a read once, and so does the store.
    for (let i = 0; i < 4; i += 1) server.failNext({ command: "find", collection: "things" });
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
});
