import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Collection } from "../../services/shared/storage/collection.ts";
import { openStore } from "../../services/shared/storage/open.ts";
import { put, remove } from "../../services/shared/storage/port.ts";
import { TestMongod } from "../../services/shared/storage/testkit/mongod/server.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { until } from "../../services/shared/testkit/fixture.ts";
import { runProgram } from "../../services/shared/testkit/process.ts";
import { COLLECTIONS, type TokenTransactionRow, tokenRows } from "../../services/solana/store/collections.ts";
import { examineStore } from "./examine.ts";
import { optionsAt } from "./testkit/breaks.ts";

const SOL = "So11111111111111111111111111111111111111112";

describeThorough("npm run doctor -- store: MongoDB", () => {
  let folder: string;
  let server: TestMongod;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "store-doctor-"));
    server = await TestMongod.start({ standalone: true });
    const { code, stderr } = await runProgram("services/solana/test/fill.main.ts", {
      env: { DATA_DIR: folder },
    });
    expect(code, stderr).to.equal(0);
    await copyToMongodb();
  });
  after(async () => {
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });
  const place = () => ({ service: "solana", dataDir: folder, mongodbUrl: server.url }) as const;
  async function copyToMongodb(): Promise<void> {
    const from = await openStore({ service: "solana", dataDir: folder, access: "read" });
    const to = await openStore(place());
    await from.declare(COLLECTIONS);
    await to.declare(COLLECTIONS);
    for (const collection of COLLECTIONS as readonly Collection[])
      await to.write([put(collection, await from.find(collection, {}))]);
    await Promise.all([from.close(), to.close()]);
  }
  const examine = () =>
    examineStore("solana", optionsAt(folder, { mongodbUrl: server.url, samples: 1, pauseMs: 300 }));

  it("finds nothing wrong with a store that is right, by a user who may only read", async () => {
    server.role = "read";
    const report = await examine();
    server.role = undefined;
    expect(report?.findings).to.deep.equal([]);
    expect(report).to.include({ pages: "unread", place: "MongoDB database chaintables_solana" });
    expect(report?.tables?.find(({ name }) => name === "token_rows")?.rows).to.be.above(1_000);
    expect(report?.compared["sums of tokens"]).to.be.above(10);
  });

  it("believes rows beyond the head only where they stay", async () => {
    const store = await openStore(place());
    try {
      await store.declare(COLLECTIONS);
      const [row] = await store.find(tokenRows, { filter: { mint: SOL }, limit: 1 });
      const ahead = { ...(row as TokenTransactionRow), slot: 700 };
      await store.write([put(tokenRows, [ahead])]);
      const found = (await examine())?.findings.map(({ check }) => check);
      expect(found).to.deep.equal(["rows beyond the head"]);
      // As an ingest that is in the middle of a write at the first look, and done with it at the next.
      const since = server.commands.length;
      const passing = examine();
      const looks = () => server.commands.slice(since).filter(({ find }) => find === "token_rows").length;
      await until(() => looks() > 0);
      await store.write([remove(tokenRows, [ahead])]);
      expect((await passing)?.findings).to.deep.equal([]);
      expect(looks()).to.be.above(1);
    } finally {
      await store.close();
    }
  });
});
