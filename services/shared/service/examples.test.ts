import { expect } from "chai";
import { describe, it } from "mocha";
import type { Handler } from "../contract/endpoint.ts";
import { ServiceError } from "../errors.ts";
import { collectingLog, itemEndpoint, listEndpoint, startTestApp } from "../testkit/fixture.ts";
import { ExampleFinder, type FindExampleCandidates } from "./examples.ts";
import { handle, notFoundError } from "./handlers.ts";

const address = (digit: string) => `0x${digit.repeat(40)}`;

describe("service/examples", () => {
  /** A finder over the two endpoints of the fixture; the items `known` are there. */
  const setUp = (options: {
    findExampleCandidates: FindExampleCandidates;
    item?: Handler<typeof itemEndpoint>;
    patienceMs?: number;
  }) => {
    const known = new Set([address("b"), address("c")]);
    const requested: string[] = [];
    const answerItem: Handler<typeof itemEndpoint> = async (params) => {
      requested.push(params.pool_address);
      if (!known.has(params.pool_address)) throw notFoundError(itemEndpoint, params as never);
      return { rows: [["a", 1]] };
    };
    const clock = { ms: 0 };
    const finder = new ExampleFinder({
      endpoints: [listEndpoint, itemEndpoint],
      handlers: Object.fromEntries([
        handle(listEndpoint, async () => {
          requested.push("list");
          return { rows: [] };
        }),
        handle(itemEndpoint, options.item ?? answerItem),
      ]),
      findExampleCandidates: options.findExampleCandidates,
      ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
      log: collectingLog([]),
      now: () => clock.ms,
    });
    return { finder, known, requested, clock };
  };
  const scenesOf = (...addresses: string[]) => addresses.map((pool_address) => ({ pool_address }));

  it("takes the first scene that answers, by the names of an endpoint's parameters", async () => {
    const { finder, requested } = setUp({
      findExampleCandidates: async () => [
        { pool_address: "not an address", chain_id: "8453" },
        { pool_address: address("a"), chain_id: "8453" },
        { pool_address: address("b"), chain_id: "1", no_such_parameter: "x" },
        { pool_address: address("c"), chain_id: "1" },
      ],
    });
    expect(await finder.find()).to.deep.equal({
      // An endpoint without parameters that rows must fit is not called.
      "/test/things": { chain_id: "8453", limit: "10", offset: "0" },
      "/test/thing": { chain_id: "1", pool_address: address("b") },
    });
    expect(requested).to.deep.equal([address("a"), address("b"), address("b")]);
  });

  it("shows no example of a parameter that the scene has none for", async () => {
    const { finder } = setUp({
      findExampleCandidates: async () => [{ pool_address: address("b"), chain_id: undefined }],
    });
    expect((await finder.find())["/test/thing"]).to.deep.equal({ pool_address: address("b") });
  });

  it("has none where nothing is stored, nothing answers with rows, or the store fails", async () => {
    expect(await setUp({ findExampleCandidates: async () => [] }).finder.find()).to.deep.equal({});
    const none = {
      findExampleCandidates: async () => scenesOf(address("b")),
      item: async () => ({ rows: [] }),
    };
    expect(await setUp(none).finder.find()).to.have.keys("/test/things");
    const broken = setUp({
      findExampleCandidates: async () => scenesOf(address("b")),
      item: () => Promise.reject(new ServiceError("unavailable", "The store is away.")),
    });
    expect(await broken.finder.find()).to.have.keys("/test/things");
    const failing = setUp({ findExampleCandidates: () => Promise.reject(new Error("the store is away")) });
    expect(await failing.finder.find()).to.deep.equal({});
  });

  it("searches once for concurrent requests, not again at once, and keeps what it has found for ten minutes", async () => {
    let looks = 0;
    const { finder, known, clock } = setUp({
      findExampleCandidates: async ({ path }) => {
        if (path === itemEndpoint.path) looks += 1;
        return scenesOf(address("d"), address("b"));
      },
    });
    known.delete(address("b"));
    await Promise.all([finder.find(), finder.find()]);
    await finder.find();
    expect(looks).to.equal(1);
    known.add(address("b"));
    clock.ms += 5_000;
    expect(await finder.find()).to.have.property("/test/thing");
    known.add(address("d"));
    clock.ms += 590_000;
    expect((await finder.find())["/test/thing"]).to.include({ pool_address: address("b") });
    expect(looks).to.equal(2);
    clock.ms += 10_000;
    expect((await finder.find())["/test/thing"]).to.include({ pool_address: address("d") });
    expect(looks).to.equal(3);
  });

  it("waits a bounded time for an endpoint that never answers", async () => {
    const { finder } = setUp({
      findExampleCandidates: async () => scenesOf(address("b")),
      item: () => new Promise(() => {}),
      patienceMs: 20,
    });
    expect(await finder.find()).to.have.keys("/test/things");
  });

  it("tries a bounded number of scenes", async () => {
    const { finder, requested } = setUp({
      findExampleCandidates: async () => Array.from({ length: 500 }, () => ({ pool_address: address("e") })),
    });
    await finder.find();
    expect(requested).to.have.length(20);
  });

  it("is served where gateways look for it, and nowhere without a finder", async () => {
    const app = await startTestApp({ examples: async () => ({ "/test/thing": { chain_id: "1" } }) });
    const bare = await startTestApp();
    try {
      const answer = await fetch(`${app.url}/internal/examples`);
      expect(await answer.json()).to.deep.equal({ "/test/thing": { chain_id: "1" } });
      expect(answer.headers.get("cache-control")).to.equal("no-store");
      expect((await fetch(`${bare.url}/internal/examples`)).status).to.equal(404);
    } finally {
      await Promise.all([app.close(), bare.close()]);
    }
  });
});
