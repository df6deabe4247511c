import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { encodeAbiParameters, encodeFunctionData, pad, parseAbi, toFunctionSelector } from "viem";
import {
  decodeText,
  encodeCall,
  readAddress,
  readBool,
  readBytes32,
  readInt,
  readSigned,
  readTopicAddress,
  readTopicInt,
  readUint,
} from "./abi.ts";
import type { Hex } from "./port.ts";

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const int256 = fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n });
const int24 = fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 });
const safe = fc.maxSafeInteger();
const bytes = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((each) => `0x${Buffer.from(each).toString("hex")}` as Hex);

describe("word readers", () => {
  it("read what viem encodes", () =>
    fc.assert(
      fc.property(fc.tuple(uint256, int256, int24, safe, bytes(20), bytes(32), fc.boolean()), (values) => {
        const types = ["uint256", "int256", "int24", "int256", "address", "bytes32", "bool"].map((type) => ({
          type,
        }));
        const [big, signed, tick, small, address, word, flag] = values;
        const data = encodeAbiParameters(types, [big, signed, tick, BigInt(small), address, word, flag]);
        expect(readUint(data, 0)).to.equal(big);
        expect(readSigned(data, 1)).to.equal(signed);
        expect(readInt(data, 2)).to.equal(tick);
        expect(readInt(data, 3)).to.equal(small);
        expect(readAddress(data, 4)).to.equal(address);
        expect(readBytes32(data, 5)).to.equal(word);
        expect(readBool(data, 6)).to.equal(flag);
        expect(readTopicAddress(pad(address))).to.equal(address);
        expect(readTopicInt(`0x${data.slice(2 + 2 * 64, 2 + 3 * 64)}`)).to.equal(tick);
      }),
    ));

  it("read the edges of 32 bits", () => {
    for (const value of [
      0,
      1,
      -1,
      2 ** 31 - 1,
      2 ** 31,
      2 ** 32 - 1,
      2 ** 32,
      -(2 ** 31),
      -(2 ** 31) - 1,
      -(2 ** 32),
    ]) {
      expect(readInt(encodeAbiParameters([{ type: "int256" }], [BigInt(value)]), 0)).to.equal(value);
    }
  });

  it("throw for what is not there or does not fit", () => {
    const data = encodeAbiParameters([{ type: "uint256" }], [2n ** 60n]);
    expect(() => readUint(data, 1)).to.throw(RangeError, "word 1: data has 1");
    expect(() => readUint("0x", 0)).to.throw(RangeError);
    expect(() => readInt(data, 0)).to.throw(RangeError, "2^53");
    expect(() => readTopicAddress(undefined)).to.throw(RangeError);
    expect(() => readTopicInt("0x12")).to.throw(RangeError);
  });
});

describe("encodeCall", () => {
  const abi = parseAbi(["function f(address a, uint256 b, int24 c, bytes32 d, bool e)"]);
  it("encodes as viem does", () =>
    fc.assert(
      fc.property(fc.tuple(bytes(20), uint256, int24, bytes(32), fc.boolean()), (args) => {
        const selector = toFunctionSelector("f(address,uint256,int24,bytes32,bool)");
        expect(encodeCall(selector, args)).to.equal(encodeFunctionData({ abi, functionName: "f", args }));
      }),
    ));

  it("refuses what is neither a selector nor a static argument", () => {
    expect(() => encodeCall("0x12")).to.throw(RangeError);
    expect(() => encodeCall("0x12345678", ["0x1234"])).to.throw(RangeError);
  });
});

describe("decodeText", () => {
  const asString = (text: string) => encodeAbiParameters([{ type: "string" }], [text]);
  const asBytes32 = (text: string) =>
    pad(`0x${Buffer.from(text).toString("hex")}`, { dir: "right", size: 32 });

  it("reads both forms of symbol()", () => {
    expect(decodeText(asString("USDC"))).to.equal("USDC");
    expect(decodeText(asBytes32("MKR"))).to.equal("MKR");
    expect(decodeText(asString("USD₮0"))).to.equal("USD₮0");
    expect(decodeText(asString("🥞"))).to.equal("🥞");
    expect(decodeText(asBytes32("A".repeat(32)))).to.equal("A".repeat(32));
  });

  it("returns any printable text of up to 64 characters", () =>
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 64 }), (text) => {
        expect(decodeText(asString(text))).to.equal(text.trim() === "" ? null : text.trim());
      }),
    ));

  it("strips what cannot be seen, and cuts", () => {
    expect(decodeText(asString("\u0000US\u202eDC\u0007\n "))).to.equal("USDC");
    expect(decodeText(asString("x".repeat(5000)))).to.equal("x".repeat(64));
  });

  it("returns null for garbage", () => {
    for (const garbage of [
      "0x",
      "0x12",
      `0x${"00".repeat(32)}`,
      asString(""),
      asString("\u0001\u0002"),
      null,
    ] as const) {
      expect(decodeText(garbage)).to.equal(null);
    }
    const beyond = `0x${"20".padStart(64, "0")}${"ff".padStart(64, "0")}4142` as Hex;
    expect(decodeText(beyond)).to.equal(null);
    const huge = `0x${"20".padStart(64, "0")}${"f".repeat(64)}${"41".repeat(32)}` as Hex;
    expect(decodeText(huge)).to.equal(null);
  });

  it("never throws", () =>
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        (each) => void decodeText(`0x${Buffer.from(each).toString("hex")}`),
      ),
    ));
});
