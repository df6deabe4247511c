import { expect } from "chai";
import { describe, it } from "mocha";
import type { BlockWithLogs, EvmSource, HistoryPart, RawLog } from "../../../shared/evm/port.ts";
import type { Factory } from "../../deployments.ts";
import { encodeLog, slipstreamFactoryAbi } from "../../protocols/v3/testkit/encode-event.ts";
import { createFakeSource, headersUpTo } from "../../test/kit/fake-source.ts";
import { address } from "../../test/kit/rows.ts";
import { readBackfill } from "./backfill.ts";
import { Fetcher } from "./fetcher.ts";

const LAST = 8;
const factory: Factory = {
  address: address(0xfac),
  dexName: "Aerodrome Slipstream",
  family: "dexa",
  kind: "slipstream",
  fromBlock: 0,
};

/** A history of blocks 1 to LAST, a part each, in which every block creates a pool. */
function openHistory(emitters?: HistoryPart["emitters"]): { source: EvmSource; unpacked: number[] } {
  const headers = headersUpTo(LAST);
  const unpacked: number[] = [];
  const partOf = (number: number): HistoryPart => {
    const header = headers[number] as (typeof headers)[number];
    const created = encodeLog(slipstreamFactoryAbi[0], {
      ...{ token0: address(1), token1: address(number + 1), tickSpacing: 100, pool: address(0x900 + number) },
    });
    const log: RawLog = {
      ...{ ...created, address: factory.address, blockNumber: number, blockHash: header.hash },
      ...{ transactionHash: header.hash, transactionIndex: 0, logIndex: 0 },
    };
    const block: BlockWithLogs = { ...header, senders: [address(0xa)], logs: [log] };
    const part = { range: { fromBlock: number, toBlock: number }, ...(emitters && { emitters }) };
    return Object.defineProperty(part, "blocks", {
      get() {
        unpacked.push(number);
        return [block];
      },
    }) as HistoryPart;
  };
  const source: EvmSource = {
    ...createFakeSource({ headers }),
    async *history() {
      for (let number = 1; number <= LAST; number++) yield partOf(number);
    },
  };
  return { source, unpacked };
}

async function readAll(source: EvmSource) {
  const foreseen: string[] = [];
  const before: number[] = [];
  const blocks: number[][] = [];
  const fetcher = new Fetcher(source, {
    factories: [factory],
    known: { protocolOf: () => undefined, poolOfGauge: () => undefined, isForeign: () => false },
    foresee: (created) => foreseen.push(...created.map(({ pool }) => pool)),
  });
  const { signal } = new AbortController();
  for await (const batch of readBackfill({ source, fetcher, from: 1, to: LAST, signal })) {
    before.push(foreseen.length);
    blocks.push(batch.created.map(({ block }) => block));
  }
  return { foreseen, before, blocks };
}

describe("readBackfill", () => {
  it("tells of the pools of three parts ahead before a batch is there, of each once", async () => {
    const { foreseen, before, blocks } = await readAll(openHistory().source);
    expect(blocks).to.deep.equal([[1], [2], [3], [4], [5], [6], [7], [8]]);
    expect(before).to.deep.equal([4, 5, 6, 7, 8, 8, 8, 8]);
    expect(foreseen).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8].map((n) => address(0x900 + n)));
  });

  it("leaves parts as they came in which no factory has a log, until it is their turn", async () => {
    const { source, unpacked } = openHistory([address(0x123)]);
    const { foreseen } = await readAll(source);
    expect(foreseen).to.deep.equal([]);
    expect(unpacked).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
    const named = openHistory([address(0x123), factory.address]);
    expect((await readAll(named.source)).foreseen).to.have.length(LAST);
  });
});
