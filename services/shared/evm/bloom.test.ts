import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  bloomMatcher,
  bloomMayContain,
  computeLogsBloom,
  expectedFalseRate,
  findSuspectBlocks,
} from "./bloom.ts";
import type { Hex } from "./port.ts";
import { ADDRESS, FULL_BLOOM, fakeHeader, fakeLog, NO_BLOOM, TOPIC } from "./testkit/fake-chain.ts";

const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((each) => `0x${Buffer.from(each).toString("hex")}` as Hex);

describe("blooms", () => {
  it("hold what was put in", () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ address: hex(20), topics: fc.array(hex(32), { maxLength: 4 }) }), {
          maxLength: 10,
        }),
        (logs) => {
          const bloom = computeLogsBloom(logs);
          for (const item of logs.flatMap((log) => [log.address, ...log.topics])) {
            expect(bloomMayContain(bloom, item)).to.equal(true);
            expect(bloomMatcher([TOPIC, item])(bloom)).to.equal(true);
          }
        },
      ),
    ));

  it("rarely hold what was not", () => {
    const bloom = computeLogsBloom([fakeLog(1)]);
    let held = 0;
    for (let i = 0; i < 1000; i++)
      if (bloomMayContain(bloom, `0x${i.toString(16).padStart(40, "0")}`)) held += 1;
    expect(held).to.be.lessThan(10);
    expect(bloomMayContain(NO_BLOOM, ADDRESS)).to.equal(false);
    expect(bloomMayContain(FULL_BLOOM, ADDRESS)).to.equal(true);
  });

  it("have the rate of false alarms that is expected of them", () => {
    expect(expectedFalseRate(NO_BLOOM, { topics: [TOPIC] })).to.equal(0);
    expect(expectedFalseRate(FULL_BLOOM, { topics: [TOPIC], addresses: [ADDRESS] })).to.equal(1);
    const half: Hex = `0x${"55".repeat(256)}`;
    expect(expectedFalseRate(half, { topics: [TOPIC] })).to.equal(1 / 8);
    expect(expectedFalseRate(half, { topics: [], addresses: [ADDRESS] })).to.equal(1 / 8);
    // Busy as a block of Base: 1,200 logs. Random filters of three topics and fifteen addresses.
    const item = (seed: number, bytes: number): Hex =>
      `0x${(seed * 2_654_435_761).toString(16).padStart(2 * bytes, "0")}`;
    for (const count of [60, 250, 1_200]) {
      const logs = Array.from({ length: count }, (_, i) => ({
        address: item(1 + (i % 90), 20),
        topics: [item(i + 500, 32)],
      }));
      const header = fakeHeader(1, { logsBloom: computeLogsBloom(logs) });
      let [suspected, expected] = [0, 0];
      for (let i = 0; i < 400; i++) {
        const filter = {
          topics: Array.from({ length: 3 }, (_, n) => item(1e6 + 100 * i + n, 32)),
          addresses: Array.from({ length: 15 }, (_, n) => item(2e6 + 100 * i + n, 20)),
        };
        suspected += findSuspectBlocks([header], [], filter).length / 400;
        expected = expectedFalseRate(header.logsBloom, filter);
      }
      expect(suspected, `${count} logs`).to.be.closeTo(expected, 0.07);
    }
  });

  it("agree with the three bits of the yellow paper", () => {
    // keccak256(0x0f572e5295c57f15886f9b263e2f6d2d6c7b5ec6) = bd2b01afcd27800b54d2179edc49e2bffde5078bb6d0b204694169b1643fb108:
    // bits 0x52b, 0x1af, 0x527 of 2048.
    const bloom = computeLogsBloom([{ address: "0x0f572e5295c57f15886f9b263e2f6d2d6c7b5ec6", topics: [] }]);
    const bits = [0x52b, 0x1af, 0x527];
    const expected = bits.reduce((sum, bit) => sum | (1n << BigInt(bit)), 0n);
    expect(BigInt(bloom)).to.equal(expected);
  });
});

describe("findSuspectBlocks", () => {
  const logsBloom = computeLogsBloom([fakeLog(1)]);
  const other: Hex = `0x${"dd".repeat(20)}`;

  it("names blocks that claim a topic of the filter and have no log", () => {
    const headers = [fakeHeader(1, { logsBloom }), fakeHeader(2, { logsBloom }), fakeHeader(3)];
    expect(findSuspectBlocks(headers, [fakeLog(1)], { topics: [TOPIC] })).to.deep.equal([2]);
  });

  it("needs an address of the filter too, where it names some", () => {
    const headers = [fakeHeader(1, { logsBloom })];
    expect(findSuspectBlocks(headers, [], { topics: [TOPIC], addresses: [ADDRESS] })).to.deep.equal([1]);
    expect(findSuspectBlocks(headers, [], { topics: [TOPIC], addresses: [other] })).to.deep.equal([]);
  });

  it("suspects every block with logs where the filter takes any topic", () => {
    expect(
      findSuspectBlocks([fakeHeader(1, { logsBloom }), fakeHeader(2)], [], { topics: [] }),
    ).to.deep.equal([1]);
  });
});
