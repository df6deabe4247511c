import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { VERSION } from "../../shared/process/version.ts";
import { address, hash } from "../test/kit/rows.ts";
import {
  parseRequestedMember,
  readSnapshot,
  requestedMember,
  type SnapshotHead,
  snapshotKey,
  writeSnapshot,
} from "./snapshot.ts";

const HEAD: SnapshotHead = { blockHash: hash(200), fromBlock: 100, fromTime: 1_700_000_000 };
const NOW = 1_785_932_479_123;
const write = (row: object, head = HEAD) => writeSnapshot({ family: "dexb", row, computedAtMs: NOW }, head);

/** Every kind of value that a row of a view holds. */
const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }),
  // JSON has one zero; so have the bodies of responses.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
  fc.boolean(),
  fc.constant(null),
);
const rows = fc.dictionary(
  fc.string({ minLength: 1 }).filter((name) => name !== "bigint" && name !== "__proto__"),
  fc.oneof(scalar, fc.array(scalar), fc.array(fc.array(scalar))),
  { noNullPrototype: true },
);

describe("snapshots", () => {
  it("are read as they were written, to the bit", () => {
    fc.assert(
      fc.property(rows, (row) => {
        expect(readSnapshot(write(row), HEAD)).to.deep.equal({ family: "dexb", row, computedAtMs: NOW });
      }),
    );
  });

  it("are of one block, one branch and one beginning of the index", () => {
    const text = write({ a: 1 });
    for (const other of [
      { ...HEAD, blockHash: hash(200, 1) },
      { ...HEAD, blockHash: hash(201) },
      { ...HEAD, fromBlock: 101 },
      { ...HEAD, fromTime: 1_700_000_001 },
    ]) {
      expect(readSnapshot(text, other), JSON.stringify(other)).to.equal(undefined);
      expect(readSnapshot(write({ a: 1 }, other), other)?.row).to.deep.equal({ a: 1 });
    }
  });

  it("are of one version of this software", () => {
    const text = write({ a: 1 });
    expect(text).to.contain(VERSION);
    expect(readSnapshot(text.replace(VERSION, `${VERSION}-next`), HEAD)).to.equal(undefined);
  });

  it("are refused where the text is not a snapshot", () => {
    const whole = write({ a: 1 });
    for (const text of ["", "null", "{}", "[1]", '{"a":1}', "nonsense", whole.slice(0, -9), `${whole}x`]) {
      expect(() => readSnapshot(text, HEAD), text).to.throw();
    }
    const named = whole.slice(0, whole.indexOf(",") + 1);
    for (const rest of ['"row":1}', '"family":"dexb","row":null}', '"family":7,"row":{}}']) {
      expect(() => readSnapshot(named + rest, HEAD), rest).to.throw("is malformed");
    }
  });

  it("are not made of numbers that JSON would change", () => {
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY, [Number.NEGATIVE_INFINITY]]) {
      expect(() => write({ price: value })).to.throw("Cannot write a snapshot");
    }
  });

  it("have a key each, by chain, pool and view", () => {
    const at = { chainId: 8453, poolAddress: address(1), view: "v3" };
    const keys = [at, { ...at, chainId: 1 }, { ...at, poolAddress: address(2) }, { ...at, view: "v2" }];
    expect(new Set(keys.map(snapshotKey)).size).to.equal(4);
    expect(snapshotKey(at)).to.equal(`evm-dex:pool:8453:${address(1)}:v3`);
    expect(parseRequestedMember(requestedMember(at))).to.deep.equal({ poolAddress: address(1), view: "v3" });
    for (const member of ["", "one", "one two three"]) {
      expect(parseRequestedMember(member), member).to.equal(undefined);
    }
  });
});
