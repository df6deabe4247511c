import { expect } from "chai";
import { describe, it } from "mocha";
import { put } from "../../../shared/storage/port.ts";
import { holders, type TokenRow } from "../../store/collections.ts";
import { openTestStore } from "../../test/store.ts";
import { readHolderFigures } from "./holder-figures.ts";

const HELD = [50n, 30n, 10n, 7n, 2n];

const token: TokenRow = {
  ...{ mint: "T", symbol: "T", name: "", decimals: 1, supply: 100n, isToken2022: false, transferFeeBps: 0 },
  ...{ mintAuthority: null, freezeAuthority: null, nonTransferable: false, mutableMetadata: false },
  ...{ holderCount: HELD.length, readSlot: 1, holdersSlot: null, foundSlot: 1 },
};

async function figuresOf(known: Partial<TokenRow>) {
  const store = await openTestStore();
  const rows = HELD.map((balance, i) => ({ mint: "T", owner: `owner ${i}`, balance, accounts: [] }));
  await store.write([put(holders, rows)]);
  const { concentrations, ...spread } = await readHolderFigures(store, { ...token, ...known });
  await store.close();
  return { top: Object.values(concentrations), ...spread };
}

const UNKNOWN = { median: null, bottom10: null, top10: null };

describe("figures of holders", () => {
  it("are told where the known ones have 99 % of the supply", async () => {
    const whole = { top: [99, 99, 99, 99], median: 1, bottom10: 0.2, top10: 5 };
    expect(await figuresOf({})).to.deep.equal(whole);
  });

  it("are null where more than 1 % of the supply may be held by others, or the supply is unknown", async () => {
    for (const supply of [101n, 1_000n, 0n, null]) {
      const found = await figuresOf({ supply });
      expect(found, `${supply}`).to.deep.equal({ top: [null, null, null, null], ...UNKNOWN });
    }
  });

  it("of the largest 20 are told where the largest accounts were read", async () => {
    const found = await figuresOf({ supply: 1_000n, holdersSlot: 5 });
    expect(found).to.deep.equal({ top: [9.9, 9.9, 9.9, null], ...UNKNOWN });
  });
});
