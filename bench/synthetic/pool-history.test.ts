import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { COLLECTIONS, poolEvents, poolUsers, rollups } from "../../services/evm-dex/store/collections.ts";
import { SQLITE_FILE } from "../../services/evm-dex/store/sqlite-file.ts";
import { openSqliteStore } from "../../services/shared/storage/sqlite/store.ts";
import { usersOf, writeHistory } from "./pool-history.ts";
import { CHAIN_ID, createMarket, spreadAddress, userOf } from "./pool-market.ts";

describe("the history of bench:pools", () => {
  it("is rows that the store reads as its own", async () => {
    const folder = await mkdtemp(join(tmpdir(), "chaintables-pool-history-"));
    try {
      const [active, events] = [30, 2_000];
      const market = createMarket({ known: 50, active });
      const { path, head } = await writeHistory(folder, { market, events, say: () => {} });
      // Pages as those of the file that an ingest makes: what is written at the head follows from them.
      expect((await readFile(path)).readUInt16BE(16)).to.equal(SQLITE_FILE.pageBytes);
      const store = await openSqliteStore({ path, readOnly: true });
      await store.declare(COLLECTIONS);
      const poolAddress = spreadAddress(0, 0);
      expect(await store.count(poolEvents, { chainId: CHAIN_ID })).to.equal(events);
      const [last] = await store.find(poolEvents, {
        filter: { chainId: CHAIN_ID, poolAddress },
        order: [{ field: "blockNumber", direction: "desc" }],
        limit: 1,
      });
      expect(last?.blockNumber).to.be.within(head.number - 10, head.number);
      expect(last?.txHash).to.match(/^0x[0-9a-f]{64}$/);
      expect(last?.sender).to.match(/^0x[0-9a-f]{40}$/);
      const users = await store.find(poolUsers, { filter: { chainId: CHAIN_ID, poolAddress } });
      expect(users).to.have.length(usersOf(0, { events, active }));
      expect(users.map(({ user }) => user)).to.include(userOf(0, 1));
      expect(await store.count(rollups, { chainId: CHAIN_ID, poolAddress, span: 60 })).to.be.greaterThan(10);
      await store.close();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
