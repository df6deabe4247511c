import { expect } from "chai";
import { after, before, beforeEach, it } from "mocha";
import { DEX_FAMILIES } from "../../../deploy/devnet/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { ChainPortal } from "../../shared/evm/testkit/chain-portal.ts";
import { startRpcPortal } from "../../shared/evm/testkit/rpc-portal.ts";
import { describeThoroughRounds } from "../../shared/testkit/describe.ts";
import { pools } from "../store/collections.ts";
import {
  dumpFreshIndex,
  dumpStore,
  expectSameStore,
  mineBusyBlocks,
  startTestIngest,
  type TestIngest,
} from "./kit/harness.ts";

/** Before the pools have events: more than what a history is asked for. */
const QUIET_BLOCKS = 1_050;
const BUSY_BLOCKS = 450;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

describeThoroughRounds(8, "evm-dex ingest: history from a portal", () => {
  let chain: TestChain;
  let portal: ChainPortal;
  let fresh: Record<string, unknown[]>;
  let lines: string[];
  /** Blocks that the portal has sent. */
  let sent: Set<number>;

  before(async () => {
    chain = await createTestChain({ keptStates: 5_000, families: DEX_FAMILIES });
    await chain.mine(QUIET_BLOCKS, { intervalS: 2 });
    await mineBusyBlocks(chain, { blocks: BUSY_BLOCKS, seed: 17 });
    portal = await startRpcPortal((method, params) => chain.anvil.rpc.call(method, [...params]));
    fresh = await dumpFreshIndex(chain);
  });
  after(async () => {
    await portal?.close();
    await chain?.stop();
  });

  async function readFinal(): Promise<void> {
    const { number, hash } = await chain.anvil.rpc.call<{ number: string; hash: string }>(
      "eth_getBlockByNumber",
      ["finalized", false],
    );
    portal.final = { number: Number(number), hash };
  }

  beforeEach(async () => {
    await readFinal();
    portal.cutAfter = 130;
    portal.tamper = (line) => {
      sent.add(line.header.number);
      return line;
    };
    lines = [];
    sent = new Set();
  });

  async function index(options: { startBlock?: number } = {}): Promise<Record<string, unknown[]>> {
    const ingest = await open(options);
    try {
      await ingest.catchUp();
      return await dumpStore(ingest.store);
    } finally {
      await ingest.close();
    }
  }

  const open = (options: { startBlock?: number } = {}): Promise<TestIngest> =>
    startTestIngest(chain, {
      ...options,
      portalUrl: portal.url,
      log: (message) => {
        if (message.includes("portal")) lines.push(message);
      },
    });

  it("gives the rows of an index by JSON-RPC", async () => {
    expectSameStore(await index(), fresh);
    expect(lines).to.deep.equal([]);
    const head = Number(await chain.anvil.rpc.call<string>("eth_blockNumber", []));
    // All but what the head needs headers of.
    expect(sent.size).to.be.at.least(head - 256);
  });

  it("gives the same where the portal is behind", async () => {
    const { final } = portal;
    portal.final = { ...(final as { number: number; hash: string }), number: QUIET_BLOCKS + 60 };
    expectSameStore(await index(), fresh);
    expect(lines).to.deep.equal([]);
    expect(sent.size).to.be.within(QUIET_BLOCKS, QUIET_BLOCKS + 70);
  });

  it("gives the same where it withholds events of pools, and says so", async () => {
    portal.tamper = (line) => {
      const { logs: _, ...silent } = line;
      return line.header.number > QUIET_BLOCKS + 40 ? silent : line;
    };
    expectSameStore(await index(), fresh);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/set aside.*(withheld|receipts say)/);
  });

  it("gives the same where senders are forged, and says so", async () => {
    portal.tamper = (line) => ({
      ...line,
      ...(line.transactions && {
        transactions: line.transactions.map((each) => ({ ...each, from: `0x${"ab".repeat(20)}` })),
      }),
    });
    expectSameStore(await index(), fresh);
    expect(lines[0]).to.match(/set aside.*is from 0x/);
  });

  it("finds the pools that are older than the index", async () => {
    const startBlock = QUIET_BLOCKS + 80;
    const plain = await startTestIngest(chain, { startBlock });
    const ingest = await open({ startBlock });
    try {
      const found = await ingest.store.find(pools, {});
      expect(found.length).to.be.greaterThan(5);
      expect(found).to.deep.equal(await plain.store.find(pools, {}));
      expect(portal.asked.some(({ logs }) => logs.every(({ address }) => address !== undefined))).to.equal(
        true,
      );
      expect(lines).to.deep.equal([]);
      await Promise.all([ingest.catchUp(), plain.catchUp()]);
      expectSameStore(await dumpStore(ingest.store), await dumpStore(plain.store));
    } finally {
      await ingest.close();
      await plain.close();
    }
  });

  it("gives the same where it withholds Transfers of LP tokens of known pools, and says so", async () => {
    const ingest = await open();
    try {
      await ingest.catchUp();
      await mineBusyBlocks(chain, { blocks: 330, seed: 18 });
      await readFinal();
      let withheld = 0;
      portal.tamper = ({ logs, ...line }) => {
        const kept = logs?.filter(({ topics }) => (topics as string[])[0] !== TRANSFER);
        withheld += (logs?.length ?? 0) - (kept?.length ?? 0);
        return { ...line, ...(kept && { logs: kept }) };
      };
      await ingest.catchUp();
      expect(withheld).to.be.greaterThan(0);
      expect(lines, lines.join("; ")).to.have.length(1);
      expectSameStore(await dumpStore(ingest.store), await dumpFreshIndex(chain));
    } finally {
      await ingest.close();
    }
  });
});
