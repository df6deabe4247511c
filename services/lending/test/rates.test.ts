import { expect } from "chai";
import { after, before, it } from "mocha";
import { LENDING_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createRandom } from "../../../deploy/devnet/random.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { ParamsOf } from "../../shared/contract/endpoint.ts";
import { parseQuery } from "../../shared/contract/parse.ts";
import { checkRows } from "../../shared/contract/testkit/check-rows.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { rates } from "../contract.ts";
import { type ChainDeployments, loadDeployments } from "../deployments.ts";
import { ratesHandler } from "../endpoints/evm/lending/rates.handler.ts";
import { PROTOCOL_IDS } from "../protocols/protocol-id.ts";
import type { LendingRow, MarketRow, VaultRow } from "../protocols/rows.ts";
import {
  busyMiner,
  dumpStore,
  type IndexedChain,
  indexLending,
  startTestIngest,
  type TestIngest,
} from "./harness.ts";

const HOUR = 3_600;
const DAY = 86_400;
/** A whole day. */
const GENESIS_S = 1_760_054_400;
const HOURS = 30;
const PROTOCOLS: ReadonlySet<string> = new Set(PROTOCOL_IDS);

type Row = VaultRow | MarketRow;
type Found = Readonly<Record<string, string | number | null>>;

describeWithChain("/evm/lending/rates over an indexed chain", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  let ingest: TestIngest;
  let chains: readonly ChainDeployments[];
  let headTime: number;
  /** By the start of an hour: all vaults and markets in its last block, as lists show them. */
  const seen = new Map<number, readonly Row[]>();

  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S - DAY, families: LENDING_FAMILIES, poolCount: 1 });
    indexed = await indexLending(chain);
    chains = loadDeployments(indexed.deploymentsFile, indexed.protocols);
    ingest = await startTestIngest(indexed);
    const random = createRandom(7);
    const mine = busyMiner(chain);
    const timeNow = async () => (await chain.header(await chain.headNumber())).timestamp;
    for (let i = 0; i < HOURS; i++) {
      // Something within the hour, then a block in its last second.
      await mine(random, { intervalS: 60 });
      await ingest.catchUp();
      const now = await timeNow();
      await mine(random, { intervalS: HOUR - 1 - (now % HOUR) });
      await ingest.catchUp();
      headTime = await timeNow();
      const isRow = (row: LendingRow): row is Row =>
        row.table !== "vault-market" && PROTOCOLS.has(row.protocolId);
      seen.set(headTime - (headTime % HOUR), (await dumpStore(ingest.store, indexed)).rows.filter(isRow));
    }
  });
  after(async () => {
    await ingest?.close();
    await indexed?.remove();
    await chain?.stop();
  });

  const ask = async (query: string): Promise<Found[]> => {
    const params = parseQuery(rates, query).params as ParamsOf<typeof rates>;
    const handler = ratesHandler({ store: ingest.store, chains });
    const { rows, version } = await handler(params, { session: "t", signal: AbortSignal.timeout(30_000) });
    checkRows(rates as never, rows as never);
    expect(version?.block).to.equal(ingest.checkpoint().blockNumber);
    const names = rates.columns.map(({ name }) => name);
    return (rows as (readonly (string | number | null)[])[]).map((row) =>
      Object.fromEntries(names.map((name, i) => [name, row[i] ?? null])),
    );
  };
  const idOf = (row: Row) =>
    row.table === "market"
      ? `id=${row.marketId}`
      : `id=${row.address}&underlying_address=${row.underlying.address}`;
  const window = () => `after_time=${headTime - 40 * HOUR}&before_time=${headTime + 1}`;

  const expectSameFigures = (found: Found | undefined, row: Row, where: string) => {
    const token = row.table === "vault" ? row.underlying : row.loan;
    expect(found, where).to.include({
      protocolId: row.protocolId,
      tokenAddress: token.address,
      tokenSymbol: token.symbol,
    });
    const pairs: [keyof Found, number | null][] = [
      ["supplyApy", row.supplyApy],
      ["borrowApy", row.borrowApy],
      ["utilizationRate", row.utilizationRate],
      ["tvl", row.supply],
      ["borrow", row.borrow],
      ["availableLiquidity", row.available],
    ];
    for (const [name, value] of pairs) {
      const own = found?.[name];
      if (value === null) expect(own, `${where} ${name}`).to.equal(null);
      // States that have not changed are those of an earlier block: interest is rounded once more or less.
      else expect(own, `${where} ${name}`).to.be.closeTo(value, Math.abs(value) * 1e-6 + 1e-12);
    }
  };

  it("has of every vault, reserve and market of every protocol what lists showed at the end of each hour", async () => {
    const atHead = seen.get(headTime - (headTime % HOUR)) ?? [];
    expect(new Set(atHead.map(({ protocolId, table }) => `${protocolId} ${table}`))).to.have.members([
      ...["aave-v3 vault", "euler-v2 vault", "euler-v2 market", "morpho-v1 vault", "morpho-v1 market"],
    ]);
    let changed = 0;
    for (const row of atHead) {
      const found = await ask(`${idOf(row)}&${window()}`);
      expect(found.length, idOf(row)).to.be.within(HOURS, HOURS + 1);
      const byHour = new Map(found.map((each) => [each.unixTime, each]));
      for (const [hour, rows] of seen) {
        const then = rows.find((other) => idOf(other) === idOf(row));
        if (then !== undefined) expectSameFigures(byHour.get(hour), then, `${idOf(row)} ${hour}`);
      }
      changed += new Set(found.map(({ utilizationRate }) => utilizationRate)).size - 1;
    }
    expect(changed, "rates that never move prove nothing").to.be.above(HOURS);
  });

  it("has days as the last hours of each, the latest as of the head", async () => {
    const [row] = [...seen.values()].at(-1) ?? [];
    const days = await ask(
      `${idOf(row as Row)}&interval=1d&after_time=${GENESIS_S - 3 * DAY}&before_time=${headTime + 1}`,
    );
    const hours = await ask(`${idOf(row as Row)}&${window()}`);
    expect(days.at(-1)?.tvl).to.equal(hours.at(-1)?.tvl);
    expect(days.length).to.be.at.least(2);
    for (const { unixTime, tvl } of days.slice(0, -1)) {
      const lastHour = hours.find((each) => each.unixTime === Number(unixTime) + DAY - HOUR);
      if (lastHour !== undefined) expect(tvl).to.equal(lastHour.tvl);
    }
  });

  it("is 404 for what is not known, and for an Aave Pool without a token", async () => {
    const refusal = async (query: string) => {
      const error = await ask(`${query}&${window()}`).catch((caught: unknown) => caught);
      return error as { code: string; message: string };
    };
    const unknown = await refusal("id=0xdead");
    expect(unknown.code).to.equal("not_found");
    expect(unknown.message).to.contain('No vault or market "0xdead" is known on chain 8453.');
    const reserve = [...seen.values()].at(-1)?.find(({ protocolId }) => protocolId === "aave-v3") as VaultRow;
    expect((await refusal(`id=${reserve.address}`)).message).to.contain("needs underlying_address");
  });

  it("refuses more points than are read at once", () => {
    const query = `id=0xdead&after_time=${GENESIS_S}&before_time=${GENESIS_S + 201 * HOUR}`;
    expect(() => parseQuery(rates, query)).to.throw(
      /makes 201 points of this time range, which is above 200/,
    );
  });
});
