import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Address } from "../../../deploy/devnet/node/transactions.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { TimeSlices } from "../../shared/process/time-slices.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { endpoints } from "../contract.ts";
import { CuratorRegistry } from "../curators.ts";
import { loadDeployments } from "../deployments.ts";
import { createHandlers } from "../handlers.ts";
import { EntityMap } from "../protocols/entity-map.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import { ProtocolTables } from "../serve/tables/protocol-tables.ts";
import { collectRows, RowDictionaries } from "../serve/tables/row-set.ts";
import { entities } from "../store/collections.ts";
import { fromStateText } from "../store/state-text.ts";
import { callHandler, pricesOf, type RowObject, rowsIn } from "./answers.ts";
import { type IndexedChain, indexLending, startTestIngest, type TestIngest } from "./harness.ts";
import { type Strangers, sendStrangers } from "./strangers.ts";

const LISTS = endpoints.filter(
  ({ whenAbsent, path }) => whenAbsent === "empty" && !/curator\/vaults$/.test(path),
);
const OF_CURATOR = endpoints.filter(({ path }) => /curator\/vaults$/.test(path));
const ORDERS = ["", "order_desc=tvlUsd", "order_asc=tvlUsd", "order_desc=supplyApy,utilizationRate"];

type Answers = Record<string, readonly RowObject[]>;

describeWithChain("lending among strangers", () => {
  let chain: TestChain;
  let indexed: IndexedChain & { remove(): Promise<void> };
  let ingest: TestIngest;
  let strangers: Strangers;
  let known: { euler: Address; morpho: Address };
  let earlier: Answers;
  let later: Answers;
  /** Rows are accrued to one moment, before and after: nothing but the strangers makes a difference. */
  let time: number;

  before(async () => {
    chain = await createTestChain({ poolCount: 1, families: ["aave-v3", "morpho-v1", "euler-v2"] });
    indexed = await indexLending(chain);
    known = { euler: chain.euler.deployment.supplier, morpho: chain.morpho.deployment.actors.curator };
    ingest = await startTestIngest(indexed, { refreshSeconds: 1_000_000 });
    await ingest.catchUp();
    time = ingest.checkpoint().blockTime + 86_400;
    earlier = await answers();
    const stranger = chain.accounts[6] as Address;
    strangers = await sendStrangers(chain, { stranger, known });
    await ingest.catchUp();
    later = await answers();
  });
  after(async () => {
    await ingest?.close();
    await indexed?.remove();
    await chain?.stop();
  });

  /** Every list in several orders, and the vaults of the known curators, as a service answers them. */
  async function answers(): Promise<Answers> {
    const found: Answers = {};
    const ask = await asker();
    for (const endpoint of LISTS) {
      for (const order of ORDERS) {
        if (order !== "" && endpoint.path.endsWith("/curators")) continue;
        found[`${endpoint.path}?${order}`] = await ask(endpoint, order);
      }
    }
    for (const endpoint of OF_CURATOR) {
      for (const account of Object.values(known)) {
        const query = `curator_address=${account}`;
        found[`${endpoint.path}?${query}`] = await ask(endpoint, query);
      }
    }
    return found;
  }

  async function asker(): Promise<(endpoint: Endpoint, query: string) => Promise<RowObject[]>> {
    const [deployed] = loadDeployments(chain.deploymentsFile);
    const table = new EntityMap();
    for (const { kind, id, state, block, time: readAt } of await ingest.store.find(entities, {})) {
      if (state === null || block === null || readAt === null) continue;
      table.put({ kind, id, state: fromStateText(state), block, time: readAt });
    }
    const tables = new Map<ProtocolId, ProtocolTables>();
    for (const each of deployed?.protocols ?? []) {
      const options = { chainId: 8453, time, memory: new RowDictionaries(), slices: new TimeSlices() };
      const onSkipped = () => expect.fail("A row has a number that is not finite.");
      const rows = await collectRows({ ...options, deployed: each, entities: table, onSkipped });
      const protocol = each.protocol.id;
      tables.set(
        protocol,
        new ProtocolTables({ rows, prices: prices(), protocol, chainId: 8453, time, curators: registry() }),
      );
    }
    const version = { block: 1, time };
    const handlers = createHandlers({
      ...{ store: ingest.store, chains: [], past: { stateAt: async () => undefined } },
      tables: {
        headState: async ({ protocol }) => ({ tables: tables.get(protocol) as ProtocolTables, version }),
      },
    });
    return async (endpoint, query) =>
      rowsIn(endpoint, await callHandler(endpoint, handlers[endpoint.path] as never, `${query}&limit=1000`));
  }

  /** As the walk has them. */
  const prices = () => {
    const { USDC, WETH } = chain.deployment.tokens;
    return pricesOf(Object.fromEntries([USDC, WETH].map(({ address, usd }) => [address, usd])));
  };
  const registry = () =>
    new CuratorRegistry([
      {
        ...{ name: "Known Capital", verified: true, source: "https://example.com" },
        addresses: { 8453: [...new Set([known.euler, known.morpho].map((each) => each.toLowerCase()))] },
      },
    ]);
  const isTheirs = (row: RowObject) =>
    Object.entries(row).some(
      ([name, cell]) =>
        /^(vaultAddress|poolAddress|marketId|curatorAddress)$/.test(name) &&
        [...strangers.vaults, (chain.accounts[6] as Address).toLowerCase()].some((each) =>
          String(cell).startsWith(each),
        ),
    );

  it("has ten vaults of strangers in its lists, none of them listed", () => {
    expect(strangers.vaults).to.have.length.of.at.least(10);
    const rows = Object.entries(later).filter(([path]) => /vaults\?(order_asc.*)?$/.test(path));
    const shown = new Set(rows.flatMap(([, list]) => list.map(({ vaultAddress }) => vaultAddress)));
    // Vaults whose strategies are in a circle revert wherever they are asked.
    const missing = strangers.vaults.filter((vault) => !shown.has(vault));
    expect(missing.length, missing.join()).to.be.at.most(2);
    const theirs = Object.values(later).flatMap((list) => list.filter(isTheirs));
    expect(theirs).to.have.length.greaterThan(20);
    expect(theirs.filter(({ listed }) => listed !== false)).to.deep.equal([]);
  });

  it("has every other row as it was, in the order in which they were, in every list", () => {
    for (const [path, rows] of Object.entries(earlier)) {
      expect(rows.length, path).to.be.greaterThan(path.includes("curator/vaults") ? -1 : 0);
      expect(
        (later[path] ?? []).filter((row) => !isTheirs(row)),
        path,
      ).to.deep.equal(rows);
    }
  });

  it("counts for a known curator what it counted, under its name", () => {
    for (const protocol of ["lendingb", "lendingc"]) {
      const path = `/evm/lending/${protocol}/curators?`;
      const row = (list: Answers) =>
        list[path]?.find(({ curatorName }) => curatorName === "Known Capital") as RowObject;
      expect(row(later)).to.deep.equal(row(earlier));
      expect(row(later)).to.include({ verified: true, listed: true });
    }
    const names = Object.entries(later)
      .filter(([path]) => path.includes("curator/vaults"))
      .flatMap(([, list]) => list.filter(isTheirs));
    expect(names).to.deep.equal([]);
  });

  it("gives their tokens no worth: they come last, and pass no minimum", () => {
    const worth = Object.values(later)
      .flatMap((list) => list.filter(isTheirs))
      .filter(({ underlyingAddress, loanAddress }) =>
        [underlyingAddress, loanAddress].some((each) => strangers.tokens.includes(each as Address)),
      );
    expect(worth).to.have.length.greaterThan(5);
    for (const row of worth) expect(row.tvlUsd).to.equal(null);
    const most = Math.max(
      ...Object.values(later).flatMap((list) =>
        list.map(({ tvlUsd, totalTvlUsd }) => Number(tvlUsd ?? totalTvlUsd ?? 0)),
      ),
    );
    expect(most).to.be.lessThan(1e9);
  });

  it("adds up: each list has a protocol's total once, or as its columns say", () => {
    const path = (name: string) => `/evm/lending/${name}?order_desc=tvlUsd`;
    const list = (name: string) => (later[path(name)] ?? []).filter(({ listed }) => listed);
    const total = (rows: readonly RowObject[]) =>
      rows.reduce((sum, { tvlUsd, totalTvlUsd }) => sum + Number(tvlUsd ?? totalTvlUsd ?? 0), 0);
    const evk = new Map(
      list("lendingb/v2/vaults").flatMap((row) =>
        String(row.symbol).startsWith("e") ? [[row.vaultAddress, row]] : [],
      ),
    );
    // A market's loan vault once, and the vaults that are in no market.
    const loans = new Map(list("lendingb/markets").map((row) => [String(row.marketId).split(":")[0], row]));
    const alone = [...evk].filter(([vault]) => !loans.has(String(vault))).map(([, row]) => row);
    const ofEvk = total([...evk.values()]);
    expect(total([...loans.values(), ...alone])).to.be.closeTo(ofEvk, ofEvk * 1e-12);
    expect(total(list("lendingb/markets"))).to.be.greaterThan(total([...loans.values()]));
    // All of EulerEarn's is in EVK vaults, all of MetaMorpho's in markets.
    const ofEarn = total(list("lendingb/v2/vaults")) - ofEvk;
    expect(ofEarn).to.be.within(1, ofEvk);
    expect(total(list("lendingc/v1/vaults"))).to.be.within(1, total(list("lendingc/markets")));
    // Every vault has one curator here: escrows have one, too, as their governor made them.
    for (const protocol of ["lendingb/v2", "lendingc/v1"]) {
      const curators = (later[`/evm/lending/${protocol.split("/")[0]}/curators?`] ?? []).filter(
        ({ listed }) => listed,
      );
      const vaults = list(`${protocol}/vaults`);
      const counts = curators.map(({ vaultCount }) => Number(vaultCount));
      expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(vaults.length);
      // Of Euler's, one has assets without a price.
      if (curators.some(({ totalTvlUsd }) => totalTvlUsd === null)) continue;
      expect(total(curators)).to.be.closeTo(total(vaults), total(vaults) * 1e-12);
    }
  });

  it("cannot be told by a stranger what Euler lists", async () => {
    const { status } = await chain.client.getTransactionReceipt({ hash: strangers.refused });
    expect(status).to.equal("reverted");
  });
});
