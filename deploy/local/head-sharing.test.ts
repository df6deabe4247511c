import { EventEmitter } from "node:events";
import { expect } from "chai";
import { describe, it } from "mocha";
import { HeadChain } from "../../bench/chains/head-chain.ts";
import { callsOfNode, startHeadNode } from "../../bench/chains/head-node.ts";
import type { HeadBlock } from "../../services/shared/evm/head-watch/port.ts";
import {
  type HeadNotice,
  type HeadRequest,
  takeSharedHeads,
} from "../../services/shared/evm/head-watch/shared-heads.ts";
import { collectingLog, until } from "../../services/shared/testkit/fixture.ts";
import { HeadSharing } from "./head-sharing.ts";

const SHAPE = {
  ...{ touchedPools: 2, pools: 10, transactions: 3, otherLogs: 4, markets: 2, touchedMarkets: 1 },
  blockSeconds: 2,
};
const REQUEST: HeadRequest = { kind: "watch-head", chainId: 8453 };

async function setUp() {
  const chain = new HeadChain(SHAPE, 1_700_000_000);
  let head = 20;
  const node = await startHeadNode(chain, { head: () => head });
  const sharing = new HeadSharing({
    urls: new Map([[8453, [node.urlOf("watcher")]]]),
    pollMs: 50,
    log: collectingLog([]),
  });
  return {
    ...{ node, sharing },
    setHead(number: number) {
      head = number;
    },
    async stop() {
      await sharing.stop();
      await node.stop();
    },
  };
}

describe("HeadSharing", () => {
  it("tells all who ask of each head, and watches no more once they are gone", async () => {
    const { sharing, node, setHead, stop } = await setUp();
    try {
      const told: number[][] = [[], []];
      let isGone = false;
      const tell = (to: number[]) => (notice: HeadNotice) => {
        if (!isGone) to.push(notice.block.number);
        return !isGone;
      };
      sharing.receive({ kind: "something else" }, tell(told[0] as number[]));
      sharing.receive({ ...REQUEST, chainId: 1 }, tell(told[0] as number[]));
      expect(callsOfNode(node.counted("watcher"))).to.equal(0);
      for (const list of told) sharing.receive(REQUEST, tell(list));
      await until(() => told.every((list) => list.includes(20)));
      setHead(21);
      await until(() => told.every((list) => list.at(-1) === 21));
      isGone = true;
      setHead(22);
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      const asked = callsOfNode(node.counted("watcher"));
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(callsOfNode(node.counted("watcher"))).to.equal(asked);
      isGone = false;
      sharing.receive(REQUEST, tell(told[0] as number[]));
      await until(() => told[0]?.at(-1) === 22);
    } finally {
      await stop();
    }
  });
});

describe("takeSharedHeads", () => {
  it("asks the parent once, and offers its heads of the chain until it is ended", () => {
    const sent: HeadRequest[] = [];
    const events = new EventEmitter();
    const channel = Object.assign(events, {
      connected: true,
      send: (message: HeadRequest) => sent.push(message),
    });
    const offered: HeadBlock[] = [];
    const end = takeSharedHeads({ offer: (block) => offered.push(block) }, { chainId: 8453, channel });
    expect(sent).to.deep.equal([REQUEST]);
    const block = { number: 5 } as HeadBlock;
    for (const notice of [{ kind: "head", chainId: 1, block }, { kind: "other" }, null, "text"])
      events.emit("message", notice);
    expect(offered).to.deep.equal([]);
    events.emit("message", { kind: "head", chainId: 8453, block });
    expect(offered).to.deep.equal([block]);
    end();
    expect(events.listenerCount("message")).to.equal(0);
  });

  it("does nothing without a parent", () => {
    const events = new EventEmitter();
    takeSharedHeads({ offer: () => expect.fail("offered") }, { chainId: 8453, channel: events });
    expect(events.listenerCount("message")).to.equal(0);
  });
});
