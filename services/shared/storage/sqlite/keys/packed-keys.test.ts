import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { compileCollection } from "../../declaration.ts";
import { entryOf } from "../rows.ts";
import { type Key, packKeys } from "./packed-keys.ts";

const fields = { block: "int", owner: "hex", name: "text" } as const;
const entry = entryOf(
  compileCollection({
    name: "places",
    fields,
    key: ["block", "owner", "name"],
    indexes: [],
    shardKey: ["block"],
  }),
);
const pack = (...keys: Key[]) => packKeys(keys, entry.key);

/** What SQLite takes for the packed keys. */
function unpacked({ bytes, width, fields, keys }: NonNullable<ReturnType<typeof pack>>): unknown[][] {
  return keys.map((_, i) =>
    fields.map(({ form, at, length }) => {
      const part = Buffer.from(bytes.subarray(width * i + at, width * i + at + length));
      if (form === "integer") return Number(part.toString("latin1"));
      return form === "hex" ? `0x${part.toString("hex")}` : part.toString("latin1");
    }),
  );
}

describe("packKeys", () => {
  it("packs keys of one length in the order of their bytes, each once", () => {
    const anyKey = fc.record({
      block: fc.oneof(
        fc.maxSafeInteger(),
        fc.constantFrom(0, 99_999_999, 100_000_000, Number.MAX_SAFE_INTEGER),
      ),
      owner: fc.constantFrom("0xab01", "0x0000", "0xffff"),
      name: fc.constantFrom("abc", "abd", "\0a"),
    });
    fc.assert(
      fc.property(fc.array(anyKey, { minLength: 1, maxLength: 30 }), (list) => {
        const packed = pack(...list);
        if (packed === undefined) throw new Error("They were not packed.");
        const { bytes, width, keys } = packed;
        const wanted = new Set(list.map(({ block, owner, name }) => JSON.stringify([block, owner, name])));
        // A text's NUL is escaped, and as long as another's letters then.
        const found = unpacked(packed).map(([block, owner, name]) =>
          JSON.stringify([block, owner, String(name).replace("\x01\x01", "\0")]),
        );
        expect(found).to.have.length(wanted.size);
        expect(new Set(found)).to.deep.equal(wanted);
        expect(keys.map(({ block, owner, name }) => JSON.stringify([block, owner, name]))).to.deep.equal(
          found,
        );
        for (let i = 1; i < keys.length; i++) {
          const [before, at] = [i - 1, i].map((n) => bytes.subarray(width * n, width * (n + 1)));
          expect(Buffer.compare(before as Uint8Array, at as Uint8Array)).to.equal(-1);
        }
      }),
    );
  });

  it("leaves keys of several lengths, with texts beyond ASCII, and none", () => {
    const key = { block: 1, owner: "0xab", name: "abc" };
    expect(pack(key, { ...key, block: -2 })?.keys).to.have.length(2);
    expect(pack(key, { ...key, owner: "0xabcd" })).to.equal(undefined);
    expect(pack(key, { ...key, name: "ab" })).to.equal(undefined);
    expect(pack(key, { ...key, name: "abé" })).to.equal(undefined);
    expect(pack({ ...key, name: "日本" })).to.equal(undefined);
    expect(pack()).to.equal(undefined);
    const owner = entry.key.slice(1, 2);
    expect(packKeys([{ owner: "" }], owner), "of no bytes").to.equal(undefined);
    expect(packKeys([{ owner: "0xab" }], owner)?.width).to.equal(1);
  });

  it("refuses what is no value of a field", () => {
    expect(() => pack({ block: 1.5, owner: "0xab", name: "" })).to.throw(TypeError, "places.block");
    expect(() => pack({ block: 1, owner: "0xAB", name: "" })).to.throw(TypeError, "places.owner");
    expect(() => pack({ block: 1, owner: "0xab" })).to.throw(TypeError, "places.name");
    const good = { block: 1, owner: "0xab", name: "a" };
    expect(() => pack(good, { ...good, block: 1.5 })).to.throw(TypeError, "places.block");
    expect(() => pack(good, { ...good, owner: "0xAB" })).to.throw(TypeError, "places.owner");
  });
});
