import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type ChainDeployments, loadDeployments } from "../services/lending/deployments.ts";
import { ChainSync } from "../services/lending/ingest/sync.ts";
import { PROTOCOLS } from "../services/lending/protocols/index.ts";
import { COLLECTIONS } from "../services/lending/store/collections.ts";
import type { BlockHeader } from "../services/shared/evm/port.ts";
import { createEvmSource } from "../services/shared/evm/source/source.ts";
import { systemClock } from "../services/shared/rpc-client/endpoint/clock.ts";
import { openSqliteStore } from "../services/shared/storage/sqlite/store.ts";
import { BASE_SHAPE, HeadChain, headDeployments, PAST_BLOCKS } from "./chains/head-chain.ts";
import { callsOfNode, type HeadNode, startHeadNode } from "./chains/head-node.ts";

const CHAIN_ID = 8_453;
/** Blocks of two seconds, as Base's, though in less time; what does not concern lending is left out. */
const SHAPE = { ...BASE_SHAPE, touchedPools: 1, pools: 12, transactions: 4, otherLogs: 20 };
const WARM_UP = 20;
/** Whole periods of what comes every 5 and every 32 blocks. */
const BLOCKS = 160;

describe("lending's ingest at the head of a chain, told of its heads", () => {
  let folder: string;
  let node: HeadNode;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-lending-calls-"));
  });
  after(async () => {
    await node?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("asks at most two calls a block, with all that is asked now and then", async () => {
    const chain = new HeadChain(SHAPE, 1_700_000_000);
    let head = PAST_BLOCKS;
    node = await startHeadNode(chain, { head: () => head });
    const deploymentsFile = join(folder, "deployments.json");
    await writeFile(deploymentsFile, JSON.stringify(headDeployments(CHAIN_ID)));
    const store = await openSqliteStore({ path: ":memory:" });
    await store.declare(COLLECTIONS);
    const clock = { ...systemClock, now: () => head * SHAPE.blockSeconds * 1_000 };
    const source = createEvmSource({ chainId: CHAIN_ID, urls: [node.urlOf("lending")], options: { clock } });
    const sync = await ChainSync.open({
      ...{ store, source, signal: new AbortController().signal, guard: () => [] },
      ...{ refreshSeconds: 600, log: () => {}, report: () => {} },
      chain: loadDeployments(deploymentsFile, PROTOCOLS)[0] as ChainDeployments,
    });
    const follow = async (blocks: number) => {
      for (let i = 0; i < blocks; i++) {
        head += 1;
        const { number, hash, header, timestamp } = chain.block(head);
        const { parentHash, logsBloom } = header as Pick<BlockHeader, "parentHash" | "logsBloom">;
        await sync.step({ number, hash, parentHash, timestamp, logsBloom });
        await sync.settled();
      }
    };
    await follow(WARM_UP);
    node.reset();
    await follow(BLOCKS);
    const counted = node.counted("lending");
    const { calls } = counted;
    expect(callsOfNode(counted) / BLOCKS, JSON.stringify([...calls])).to.be.at.most(1.95);
    expect(calls.get("eth_getLogs")).to.equal(BLOCKS);
    // Four of five blocks change a market; a few of the others find one that has not been read for long.
    expect(calls.get("eth_call")).to.be.within(0.8 * BLOCKS, 0.85 * BLOCKS);
    // The newest final block, every 32 blocks: its tag and the tip. And the last one, once a minute.
    const minutes = Math.ceil((BLOCKS * SHAPE.blockSeconds) / 60);
    expect(calls.get("eth_getBlockByNumber")).to.be.at.most(2 * (BLOCKS / 32) + minutes);
    await source.close();
    await store.close();
  });
});
