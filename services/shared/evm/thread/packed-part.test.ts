import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { BlockWithLogs, Hex, HistoryPart, RawLog } from "../port.ts";
import { packPart, unpackPart } from "./packed-part.ts";

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((list) => `0x${Buffer.from(list).toString("hex")}` as Hex);

const transaction = fc.record({
  hash: hex(32),
  from: hex(20),
  logs: fc.array(fc.record({ address: hex(20), topics: fc.array(hex(32), { maxLength: 4 }), data: hex(8) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

/** Blocks whose transactions have some logs each, and lie apart from each other. */
const block = fc
  .record({
    header: fc.record({
      number: fc.nat(),
      hash: hex(32),
      parentHash: hex(32),
      timestamp: fc.nat(),
      logsBloom: hex(256),
    }),
    transactions: fc.array(transaction, { maxLength: 4 }),
    gap: fc.integer({ min: 1, max: 5 }),
  })
  .map(({ header, transactions, gap }): BlockWithLogs => {
    const senders: Hex[] = [];
    const logs: RawLog[] = [];
    for (const [i, { hash, from, logs: own }] of transactions.entries()) {
      const transactionIndex = i * gap;
      senders[transactionIndex] = from;
      for (const { address, topics, data } of own)
        logs.push({
          ...{ address, topics, data, transactionIndex, logIndex: logs.length * gap },
          blockNumber: header.number,
          blockHash: header.hash,
          transactionHash: hash,
          blockTimestamp: header.timestamp,
        });
    }
    return { ...header, senders, logs };
  });

/** What a part says, as plain values. */
function readAll({ range, blocks }: HistoryPart): HistoryPart {
  const readLog = (log: RawLog): RawLog => {
    const { address, topics, data, blockNumber, blockHash } = log;
    const { transactionHash, transactionIndex, logIndex, blockTimestamp } = log;
    const own = {
      address,
      topics,
      data,
      blockNumber,
      blockHash,
      transactionHash,
      transactionIndex,
      logIndex,
    };
    return { ...own, blockTimestamp: blockTimestamp as number };
  };
  return { range, blocks: blocks.map((block) => ({ ...block, logs: block.logs.map(readLog) })) };
}

describe("packPart", () => {
  it("says all that a part says, across a structured clone", () => {
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
        const part: HistoryPart = { range: { fromBlock: 1, toBlock: 9 }, blocks };
        expect(readAll(unpackPart(structuredClone(packPart(part))))).to.deep.equal(part);
      }),
      { numRuns: 200 },
    );
  });
});
