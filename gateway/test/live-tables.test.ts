import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { Cell } from "../../services/shared/contract/column.ts";
import { EventReader } from "../../services/shared/testkit/event-reader.ts";
import { BOOTSTRAP_KEY, startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { LiveTable } from "../testkit/live-table.ts";

const TRADES =
  "/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=1&limit=3";
const MARKETS = "/evm/lending/lendingc/markets?chain_id=8453";

describe("gateway: live streams of lists", () => {
  let gateway: TestGateway;
  const readers: EventReader[] = [];
  beforeEach(async () => {
    gateway = await startTestGateway();
  });
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.close();
    return gateway.stop();
  });
  const listen = (path: string) => {
    const reader = new EventReader(`${gateway.url}${path}`, { "X-API-KEY": BOOTSTRAP_KEY });
    readers.push(reader);
    return reader;
  };

  describe("of new rows", () => {
    let trades: LiveTable;
    beforeEach(() => {
      trades = new LiveTable(gateway.solana, { chainId: 0 });
    });
    const trade = (slot: number, at = 0, fork = ""): Cell[] => [
      ...[`tx${slot}.${at}${fork}`, slot, 1_000_000 + slot, "buy", 1, 2, 2, "raydium", "pool", at],
    ];
    const namesOf = (rows: readonly (readonly Cell[])[]) => rows.map(([name]) => name);

    it("tell each new row once, and nothing of those that leave the page", async () => {
      trades.rows = [trade(99), trade(98), trade(97), trade(96)];
      const reader = listen(TRADES);
      const [snapshot] = await reader.count(1);
      expect(snapshot?.data.key).to.deep.equal(["transactionHash", "instructionIndex"]);
      expect(namesOf(snapshot?.data.data)).to.deep.equal(["tx99.0", "tx98.0", "tx97.0"]);
      trades.mine([trade(101, 1), trade(101), ...trades.rows]);
      const [, change] = await reader.count(2);
      expect([change?.name, namesOf(change?.data.rows), change?.data.removed]).to.deep.equal([
        "change",
        ["tx101.1", "tx101.0"],
        [],
      ]);
      // A row of long ago, found later, is no news.
      trades.mine([...trades.rows.slice(0, 2), trade(95)]);
      expect((await reader.count(3))[2]?.name).to.equal("head");
    });

    it("read as many pages as there are new rows", async () => {
      trades.rows = [trade(99)];
      const reader = listen(TRADES);
      await reader.count(1);
      const added = Array.from({ length: 8 }, (_, i) => trade(101, 7 - i));
      trades.mine([...added, ...trades.rows]);
      const [, change] = await reader.count(2);
      expect(change?.name).to.equal("change");
      expect(namesOf(change?.data.rows)).to.deep.equal(namesOf(added));
    });

    it("send the page as it is where there are more new rows than can be read for one head", async () => {
      trades.rows = [trade(99)];
      const reader = listen(TRADES);
      await reader.count(1);
      trades.mine([...Array.from({ length: 100 }, (_, i) => trade(101, 99 - i)), ...trades.rows]);
      const [, snapshot] = await reader.count(2);
      expect([snapshot?.name, snapshot?.data.reason]).to.deep.equal(["snapshot", "gap"]);
      expect(namesOf(snapshot?.data.data)).to.deep.equal(["tx101.99", "tx101.98", "tx101.97"]);
      trades.mine([trade(102), ...trades.rows]);
      expect(namesOf((await reader.count(3))[2]?.data.rows)).to.deep.equal(["tx102.0"]);
    });

    it("name rows that a fork took back, those that had left the page too", async () => {
      trades.rows = [trade(99), trade(98)];
      const reader = listen(TRADES);
      await reader.count(1);
      const old = trades.rows;
      const second = [trade(101), ...old];
      trades.mine(second);
      await reader.count(2);
      trades.mine([trade(102, 2), trade(102, 1), trade(102), ...second]);
      await reader.count(3);
      trades.takeBack(2);
      trades.mine([trade(101, 0, "b"), ...old], "b");
      const [, , , reorg] = await reader.count(4);
      expect(reorg?.name).to.equal("reorg");
      expect(reorg?.data.takenBack.map(({ block }: { block: number }) => block)).to.deep.equal([102, 101]);
      expect(reorg?.data.removed).to.have.deep.members([
        ["tx101.0", 0],
        ["tx102.0", 0],
        ["tx102.1", 1],
        ["tx102.2", 2],
      ]);
      expect(namesOf(reorg?.data.rows)).to.deep.equal(["tx101.0b"]);
    });
  });

  describe("whose rows change", () => {
    let markets: LiveTable;
    let gatewayColumns: string[] = [];
    beforeEach(async () => {
      markets = new LiveTable(gateway.lending);
      const reader = listen(`${MARKETS}&listed=true`);
      const [snapshot] = await reader.count(1);
      gatewayColumns = snapshot?.data.columns.map(({ name }: { name: string }) => name);
      reader.close();
    });
    /** As many cells as the table has columns. */
    const market = (id: string, tvl: number, updatedAt = "t0"): Cell[] => {
      const columns = gatewayColumns;
      return columns.map((name) =>
        name === "marketId" ? id : name === "tvlUsd" ? tvl : name === "updatedAt" ? updatedAt : null,
      );
    };
    it("tell added, changed and removed rows, and their order where it is another", async () => {
      markets.mine([market("a", 3), market("b", 2), market("c", 1)]);
      const reader = listen(MARKETS);
      await reader.count(1);
      // Only time has passed.
      markets.mine([market("a", 3, "t1"), market("b", 2, "t1"), market("c", 1, "t1")]);
      expect((await reader.count(2))[1]?.name).to.equal("head");
      markets.mine([market("a", 3), market("b", 2.5), market("d", 0.5)]);
      const [, , change] = await reader.count(3);
      expect(change?.data.rows).to.deep.equal([market("b", 2.5), market("d", 0.5)]);
      expect(change?.data.removed).to.deep.equal([["c"]]);
      expect(change?.data).not.to.have.property("order");
      markets.mine([market("b", 4), market("a", 3), market("d", 0.5)]);
      const [, , , moved] = await reader.count(4);
      expect(moved?.data.rows).to.deep.equal([market("b", 4)]);
      expect(moved?.data.order).to.deep.equal([["b"], ["a"], ["d"]]);
    });

    it("tell a change of prices within a block", async () => {
      const reader = listen(MARKETS);
      await reader.count(1);
      markets.rows = [market("a", 5)];
      markets.version = "2";
      markets.tell();
      const [first, change] = await reader.count(2);
      expect(change?.data.block).to.equal(first?.data.block);
      expect(change?.id).not.to.equal(first?.id);
      expect(change?.data.rows).to.deep.equal([market("a", 5)]);
    });

    it("are refused where the table is longer than a MiB", async () => {
      markets.rows = Array.from({ length: 2_000 }, (_, i) => market(`${i}`.repeat(200), 1));
      const path = `${MARKETS}&limit=2000`;
      const answer = await gateway.get(path, { headers: { Accept: "text/event-stream" } });
      expect(answer.status).to.equal(400);
      expect(((await answer.json()) as { message: string }).message).to.match(/too long to be live/);
    });
  });
});
