import { expect } from "chai";
import { describe, it } from "mocha";
import { computeLogsBloom } from "../bloom.ts";
import type { Hex, RawLog } from "../port.ts";
import { fakeHeader, fakeLog, TOPIC } from "../testkit/fake-chain.ts";
import { createLogFilter, parseReceiptLogs } from "./parse.ts";

const TRANSFER: Hex = `0x${"ee".repeat(32)}`;
const OURS: Hex = `0x${"0a".repeat(20)}`;
const THEIRS: Hex = `0x${"0b".repeat(20)}`;
const filter = { topics: [TOPIC], addressed: { topics: [TRANSFER], addresses: [OURS] } };

const logs: RawLog[] = [
  { ...fakeLog(1), address: THEIRS },
  { ...fakeLog(1), address: OURS, topics: [TRANSFER] },
  { ...fakeLog(1), address: THEIRS, topics: [TRANSFER] },
  { ...fakeLog(1), address: OURS, topics: [`0x${"dd".repeat(32)}` as Hex] },
].map((log, logIndex) => ({ ...log, logIndex }));

/** As a node sends it. */
function toRaw(log: RawLog) {
  const hex = (n: number) => `0x${n.toString(16)}`;
  const { blockNumber, transactionIndex, logIndex } = log;
  return {
    ...log,
    blockNumber: hex(blockNumber),
    transactionIndex: hex(transactionIndex),
    logIndex: hex(logIndex),
  };
}

describe("readReceiptLogs", () => {
  const block = fakeHeader(1, { logsBloom: computeLogsBloom(logs) });
  const read = (entries: readonly unknown[]) => {
    const outcome = parseReceiptLogs([{ logs: entries }], { block, filter });
    return "value" in outcome ? outcome.value.map(({ logIndex }) => logIndex) : outcome.fault.kind;
  };

  it("takes a topic of any contract, and an addressed one of those it names", () => {
    expect(read(logs.map(toRaw))).to.deep.equal([0, 1]);
  });

  it("does so in whatever case a node writes", () => {
    const loud = logs.map(toRaw).map((log) => ({
      ...log,
      address: `0x${log.address.slice(2).toUpperCase()}`,
      topics: log.topics.map((topic) => `0x${topic.slice(2).toUpperCase()}`),
    }));
    expect(read(loud)).to.deep.equal([0, 1]);
  });

  it("does not miss logs outside the filter", () => {
    const withoutForeign = logs.map(toRaw).filter((_, i) => i !== 2);
    expect(read(withoutForeign)).to.equal("untrusted");
  });
});

describe("createLogFilter", () => {
  it("matches addressed topics beside the others", () => {
    expect(logs.filter(createLogFilter(filter)).map(({ logIndex }) => logIndex)).to.deep.equal([0, 1]);
    const alone = { topics: [TOPIC], addresses: [OURS] };
    expect(logs.filter(createLogFilter(alone))).to.deep.equal([]);
  });
});
