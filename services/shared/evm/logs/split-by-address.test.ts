import { expect } from "chai";
import { describe, it } from "mocha";
import { computeLogsBloom, expectedFalsePositives } from "../bloom.ts";
import type { Hex, LogFilter, RawLog } from "../port.ts";
import { FULL_BLOOM, fakeHeader, fakeLog, NO_BLOOM, TOPIC } from "../testkit/fake-chain.ts";
import { type LogSource, splitByAddress } from "./split-by-address.ts";

const RANGE = { fromBlock: 1, toBlock: 90 };
const addressOf = (n: number): Hex => `0x${n.toString(16).padStart(40, "0")}`;
const logOf = (block: number, address: Hex): RawLog => ({ ...fakeLog(block), address });

/** Returns the logs of the named contracts, and records their addresses. */
function sourceOf(logs: readonly RawLog[]) {
  const requested: LogFilter[] = [];
  const verified: number[][] = [];
  const source: LogSource = {
    headers: async () => [],
    async logs(_, filter) {
      requested.push(filter);
      return logs.filter(({ address }) => filter.addresses?.includes(address));
    },
    async verifyEmpty(headers, answer) {
      verified.push(headers.map(({ number }) => number));
      return [...answer.logs, fakeLog(77)];
    },
  };
  return { source, requested, verified };
}

describe("splitByAddress", () => {
  it("names a limited number of contracts per request, and joins the logs in order", async () => {
    const addresses = Array.from({ length: 7 }, (_, i) => addressOf(i + 1));
    const logs = addresses.map((address, i) => logOf(90 - i, address));
    const { source, requested } = sourceOf(logs);
    const filter = { topics: [TOPIC], addresses };
    expect(await splitByAddress(source, 3).logs(RANGE, filter)).to.deep.equal([...logs].reverse());
    expect(requested.map((each) => each.addresses)).to.deep.equal([
      addresses.slice(0, 3),
      addresses.slice(3, 6),
      addresses.slice(6),
    ]);
    for (const { topics } of requested) expect(topics).to.deep.equal([TOPIC]);
  });

  it("requests nothing without contracts", async () => {
    const { source, requested } = sourceOf([]);
    expect(await splitByAddress(source, 3).logs(RANGE, { topics: [TOPIC], addresses: [] })).to.deep.equal([]);
    expect(await splitByAddress(source, 3).logs(RANGE, { topics: [TOPIC] })).to.deep.equal([]);
    expect(requested).to.deep.equal([]);
  });

  it("verifies only blocks whose bloom is selective enough for so many contracts", async () => {
    const { source, verified } = sourceOf([]);
    const logsBloom = computeLogsBloom([fakeLog(1)]);
    const headers = [fakeHeader(1, { logsBloom }), fakeHeader(2, { logsBloom: FULL_BLOOM }), fakeHeader(3)];
    const answer = { logs: [], filter: { topics: [TOPIC], addresses: [addressOf(1)] } };
    expect(await splitByAddress(source, 3).verifyEmpty(headers, answer)).to.deep.equal([fakeLog(77)]);
    expect(verified).to.deep.equal([[1, 3]]);
    const full = headers.slice(1, 2);
    expect(await splitByAddress(source, 3).verifyEmpty(full, answer)).to.deep.equal([]);
    expect(verified).to.have.length(1);
  });
});

describe("expectedFalsePositives", () => {
  it("is 0 for an empty bloom, all for a full one, and the third power of the share of bits between", () => {
    expect(expectedFalsePositives(NO_BLOOM, 1_000)).to.equal(0);
    expect(expectedFalsePositives(FULL_BLOOM, 1_000)).to.equal(1_000);
    const half: Hex = `0x${"5".repeat(512)}`;
    expect(expectedFalsePositives(half, 8)).to.equal(1);
    const three: Hex = `0x7${"0".repeat(511)}`;
    expect(expectedFalsePositives(three, 1)).to.be.closeTo((3 / 2048) ** 3, 1e-12);
  });
});
