import { expect } from "chai";
import fc from "fast-check";
import { bloomMayContain, computeLogsBloom } from "../bloom.ts";
import { createMayContain } from "./checks.ts";

const addresses = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes): `0x${string}` => `0x${Buffer.from(bytes).toString("hex")}`);

describe("blooms of a portal's blocks", () => {
  it("say the same with kept positions, however few are kept", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(addresses, { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(11), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: 1, max: 12 }),
        (items, asked, mostKept) => {
          const mayContain = createMayContain(mostKept);
          const half = items.slice(0, Math.ceil(items.length / 2));
          const bloom = computeLogsBloom(half.map((address) => ({ address, topics: [] })));
          for (const at of asked) {
            const item = items[at % items.length] as `0x${string}`;
            expect(mayContain(bloom, item)).to.equal(bloomMayContain(bloom, item));
            if (half.includes(item)) expect(mayContain(bloom, item)).to.equal(true);
          }
        },
      ),
    );
  });
});
