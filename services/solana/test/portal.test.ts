import { expect } from "chai";
import { afterEach, beforeEach, it } from "mocha";
import type { PortalLie } from "../../../deploy/devnet/portal/lies.ts";
import { type Portal, type PortalOptions, startPortal } from "../../../deploy/devnet/portal/portal.ts";
import { solanaRpcBlocks } from "../../../deploy/devnet/portal/solana/rpc-blocks.ts";
import { solanaDialect } from "../../../deploy/devnet/portal/solana/select.ts";
import { type RpcServer, startRpcServer } from "../../../deploy/devnet/solana/server/rpc-server.ts";
import { createTestSolana, type TestSolana } from "../../../deploy/devnet/solana/testkit.ts";
import type { Store } from "../../shared/storage/port.ts";
import { describeThorough } from "../../shared/testkit/describe.ts";
import { openPortalReader, type PortalTask } from "../ingest/read/portal-reader.ts";
import { createLocalReader } from "../ingest/read/reader.ts";
import { poolRows, tokenRows } from "../store/collections.ts";
import { expectEqualIndexes } from "./comparable.ts";
import { startTestIngest, type TestIngest } from "./harness.ts";
import { contents } from "./store.ts";

const SLOTS = 90;

describeThorough("Solana's history from a portal", () => {
  let solana: TestSolana;
  let portal: Portal;
  /** The portal's own: calls of the ingest are counted. */
  let node: RpcServer;
  let ingest: TestIngest | undefined;
  let log: Record<string, unknown>[];

  beforeEach(async () => {
    log = [];
    solana = await createTestSolana({ seed: 21, transactions: 3 });
    solana.produce(SLOTS);
    node = await startRpcServer(solana.chain);
  });
  afterEach(async () => {
    await ingest?.close();
    ingest = undefined;
    await portal.close();
    await node.close();
    await solana.stop();
  });

  async function serve(options: Partial<PortalOptions> = {}): Promise<void> {
    portal = await startPortal({
      dataset: "solana-mainnet",
      dialect: solanaDialect,
      blocks: solanaRpcBlocks(node.url),
      rateLimit: null,
      retryAfter: false,
      ...options,
    });
  }

  /** An index of all slots, final ones from the portal. */
  async function index(task: Partial<PortalTask> = {}): Promise<Store> {
    ingest = await startTestIngest(solana, {
      reader(source) {
        const { withHolders = true } = task;
        const whole = createLocalReader(source, { withHolders });
        return openPortalReader(
          { url: portal.url, withHolders, gapMs: 0, ...task },
          { whole, reader: whole, source, log: (message, fields) => log.push({ message, ...fields }) },
        );
      },
    });
    await ingest.catchUp();
    return ingest.store;
  }

  async function indexByRpc(): Promise<Record<string, unknown[]>> {
    const fresh = await startTestIngest(solana);
    await fresh.catchUp();
    const found = await contents(fresh.store);
    await fresh.close();
    return found;
  }
  const expectWhole = async (store: Store) => expectEqualIndexes(await contents(store), await indexByRpc());
  const reasons = () => log.map(({ reason }) => String(reason));
  const wholeBlocks = () => solana.servers[0]?.calls.get("getBlock") ?? 0;
  const someSlot = () => solana.chain.produced(0, solana.chain.head("finalized")).at(20) ?? 0;

  it("gives the index that getBlock gives, for few blocks of the node", async () => {
    await serve({ chunkBlocks: 10, maxChunks: 2 });
    const store = await index();
    const asked = wholeBlocks();
    expect(log).to.deep.equal([]);
    expect(portal.requests()).to.be.greaterThan(2);
    await expectWhole(store);
    // Those behind the final head, the first comparisons and the links of pieces; without a portal it is every slot.
    expect(asked).to.be.lessThan(SLOTS / 2);
  });

  it("gives the same through whatever goes wrong on the way", async () => {
    await serve({ chunkBlocks: 5, maxChunks: 1, nullFields: true });
    portal.force("nullHead", "noData", "cut", "cutLine", "truncatedGzip", "resetBody", "noHeadHeaders");
    const store = await index();
    expect(log).to.deep.equal([]);
    const { nullHead, noData, cut, cutLine, truncatedGzip, resetBody } = portal.counts();
    expect([nullHead, noData, cut, cutLine, truncatedGzip, resetBody]).to.deep.equal([1, 1, 1, 1, 1, 1]);
    await expectWhole(store);
  });

  it("has trades and liquidity alone without holders", async () => {
    await serve();
    const found = await contents(await index({ withHolders: false, proofEvery: 20 }));
    const whole = await indexByRpc();
    expect(log).to.deep.equal([]);
    for (const { name } of [tokenRows, poolRows]) expect(found[name]).to.deep.equal(whole[name]);
  });

  it("goes on by JSON-RPC where the portal ends, and says so where it refuses", async () => {
    await serve({ finalizedLag: 30 });
    await expectWhole(await index());
    expect(log).to.deep.equal([]);
    await ingest?.close();
    await expectWhole(await index({ url: `${portal.url}-2` }));
    expect(log.map(({ message }) => message)).to.deep.equal([
      "the portal is set aside: reading goes on by JSON-RPC",
    ]);
  });

  /** What each lie is found by. */
  const LIES: readonly (readonly [PortalLie, RegExp])[] = [
    ["hiddenBlock", /follows on slot/],
    ["brokenParent", /follows on slot/],
    ["changedHash", /follows on slot/],
    ["changedTime", /gives other rows/],
    ["withheldTransaction", /gives other rows/],
    ["withheldInstruction", /is missing|gives other rows/],
    ["changedAmount", /gives other rows/],
  ];
  const IN_HEADERS = 3;
  it("finds a portal's lies before they are used", async () => {
    await serve();
    const whole = await indexByRpc();
    for (const [i, [lie, reason]] of LIES.entries()) {
      log = [];
      portal.setLies([{ lie, block: someSlot() }]);
      const store = await index(i < IN_HEADERS ? {} : { proofEvery: 1, pieceBlocks: 1 });
      expect(
        reasons().some((each) => reason.test(each)),
        `${lie}: ${reasons().join("\n")}`,
      ).to.equal(true);
      expectEqualIndexes(await contents(store), whole);
      await ingest?.close();
      ingest = undefined;
    }
  });
});
