import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { decodeFunctionData, encodeFunctionData, encodeFunctionResult, multicall3Abi } from "viem";
import type { Hex } from "../port.ts";
import { decodeAggregate3, encodeAggregate3, innerBytes } from "./abi.ts";

const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString("hex")}`;
const bytes = fc.uint8Array({ maxLength: 100 }).map(hex);
const address = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex);
const calls = fc.array(fc.record({ to: address, data: bytes }), { maxLength: 12 });
const results = fc.array(fc.record({ success: fc.boolean(), data: bytes }), { maxLength: 12 });

function encodeResults(list: readonly { success: boolean; data: Hex }[]): Hex {
  const result = list.map(({ success, data }) => ({ success, returnData: data }));
  return encodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", result });
}

describe("multicall: encoding of calls", () => {
  it("is that of the ABI", () => {
    fc.assert(
      fc.property(calls, (list) => {
        const given = list.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }));
        const expected = encodeFunctionData({
          abi: multicall3Abi,
          functionName: "aggregate3",
          args: [given],
        });
        expect(encodeAggregate3(list)).to.equal(expected);
      }),
    );
  });

  it("takes as many bytes as it says, beside selector, offset and length", () => {
    fc.assert(
      fc.property(calls, (list) => {
        const sum = list.reduce((total, call) => total + innerBytes(call), 0);
        expect((encodeAggregate3(list).length - 2) / 2).to.equal(4 + 64 + sum);
      }),
    );
  });

  it("writes addresses as they are, whatever their case", () => {
    const to: Hex = "0xcA11bde05977b3631167028862bE2a173976CA11";
    const { args } = decodeFunctionData({
      abi: multicall3Abi,
      data: encodeAggregate3([{ to, data: "0xABcd" }]),
    });
    expect(args).to.deep.equal([[{ target: to, allowFailure: true, callData: "0xabcd" }]]);
  });

  for (const [name, call] of Object.entries({
    "19 bytes for an address": { to: `0x${"1".repeat(38)}`, data: "0x" },
    "half a byte": { to: `0x${"1".repeat(40)}`, data: "0x123" },
    "what is not hex": { to: `0x${"1".repeat(40)}`, data: "0xzz" },
  } as const)) {
    it(`refuses ${name}`, () => expect(() => encodeAggregate3([call])).to.throw(RangeError, /Cannot call/));
  }
});

describe("multicall: reading of results", () => {
  it("returns what the calls returned", () => {
    fc.assert(
      fc.property(results, (list) => {
        expect(decodeAggregate3(encodeResults(list), list.length)).to.deep.equal(list);
      }),
    );
  });

  it("throws RangeError for anything else: cut off, changed, of another number", () => {
    fc.assert(
      fc.property(results, fc.nat(), (list, at) => {
        const whole = encodeResults(list);
        const cut = whole.slice(0, 2 + 64 * (at % ((whole.length - 2) / 64))) as Hex;
        expect(() => decodeAggregate3(cut, list.length)).to.throw(RangeError);
        expect(() => decodeAggregate3(whole, list.length + 1)).to.throw(RangeError);
      }),
    );
    expect(() => decodeAggregate3("0x", 0)).to.throw(RangeError);
  });

  it("never reads beyond the data, whatever a word of it is changed to", () => {
    fc.assert(
      fc.property(results, fc.nat(), fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (list, at, value) => {
        const whole = encodeResults(list);
        const start = 2 + 64 * (at % ((whole.length - 2) / 64));
        const word = value.toString(16).padStart(64, "0");
        const changed = (whole.slice(0, start) + word + whole.slice(start + 64)) as Hex;
        try {
          const read = decodeAggregate3(changed, list.length);
          expect(read).to.have.length(list.length);
          for (const { data } of read) expect(changed).to.contain(data.slice(2));
        } catch (error) {
          expect(error).to.be.instanceOf(RangeError);
        }
      }),
    );
  });
});
