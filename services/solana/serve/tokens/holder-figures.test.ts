import { expect } from "chai";
import { describe, it } from "mocha";
import { put } from "../../../shared/storage/port.ts";
import { bucketOf, changeCounts } from "../../metrics/balance-buckets.ts";
import { holders, type TokenRow } from "../../store/token-collections.ts";
import { openTestStore } from "../../test/store.ts";
import { findHolders, readHolderFigures } from "./holder-figures.ts";

const token: TokenRow = {
  ...{ mint: "T", number: 7, symbol: "T", name: "", decimals: 1, supply: 100n, isToken2022: false },
  ...{ extensions: {}, mintAuthority: null, freezeAuthority: null, mutableMetadata: false },
  ...{ holderCount: 0, held: 0n, balanceCounts: [] },
  ...{ readSlot: 1, holdersSlot: null, wholeSlot: null, foundSlot: 1 },
};

/** A store in which some wallets hold the token, beside another token's. */
async function withHolders(balances: readonly bigint[]) {
  const store = await openTestStore();
  const row = (owner: string, balance: bigint) => ({ token: 7, owner, balance, account: "a" });
  const rows = balances.map((balance, i) => row(`owner ${String(i).padStart(6, "0")}`, balance));
  const other = { ...row("owner 0", 10n ** 18n), token: 8 };
  await store.write([put(holders, [...rows, other])]);
  const counts = new Map<number, number>();
  for (const each of balances) counts.set(bucketOf(each), (counts.get(bucketOf(each)) ?? 0) + 1);
  const held = balances.reduce((sum, each) => sum + each, 0n);
  const known = { ...token, holderCount: balances.length, held, balanceCounts: changeCounts([], counts) };
  return { store, known };
}

async function figuresOf(fields: Partial<TokenRow>) {
  const { store, known } = await withHolders([50n, 30n, 10n, 3n, 2n]);
  const found = await readHolderFigures(store, { token: { ...known, ...fields }, leastCoverage: 0.95 });
  await store.close();
  const { concentrations, ...spread } = found;
  return { top: Object.values(concentrations), ...spread };
}

const UNKNOWN = { top: [null, null, null, null], count: null, median: null, bottom10: null, top10: null };

describe("figures of holders", () => {
  it("are told where the known ones have the share of the supply that is asked for", async () => {
    const spread = { count: 5, median: 1, bottom10: 0.2, top10: 5 };
    expect(await figuresOf({})).to.deep.equal({ top: [95, 95, 95, 95], coverage: 0.95, ...spread });
    // Supply and balances are read at different slots.
    expect(await figuresOf({ supply: 94n })).to.deep.include({ coverage: 1, ...spread });
  });

  it("are null where more may be held by others, or the supply is unknown; the covered share is told", async () => {
    for (const [supply, coverage] of [
      [101n, 95 / 101],
      [1_000n, 0.095],
      [0n, null],
      [null, null],
    ] as const)
      expect(await figuresOf({ supply }), `${supply}`).to.deep.equal({ ...UNKNOWN, coverage });
    // Its largest accounts alone do not make it whole.
    expect(await figuresOf({ supply: 1_000n, holdersSlot: 5 })).to.deep.equal({
      ...UNKNOWN,
      coverage: 0.095,
    });
  });

  it("among very many of nearly the same balance are within 6 % without passing them", async () => {
    const balances = Array.from({ length: 30_000 }, (_, i) => 1_000_000n + BigInt(i));
    const { store, known } = await withHolders(balances);
    const whole = { ...known, decimals: 0, supply: known.held };
    const skips: number[] = [];
    const watched = new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name);
        if (name !== "find") return typeof value === "function" ? value.bind(target) : value;
        return (from: typeof holders, query: { skip?: number }) => {
          skips.push(query.skip ?? 0);
          return target.find(from, query as never);
        };
      },
    });
    const found = await readHolderFigures(watched, { token: whole, leastCoverage: 0.95 });
    expect(Math.max(...skips)).to.be.at.most(10_000);
    expect(found.median).to.be.closeTo(1_014_999.5, 60_000);
    expect(found.bottom10).to.equal(1_002_999);
    expect(found.top10).to.equal(1_027_000);
    await store.close();
  });

  it("pages of holders are those of the whole list, however deep", async () => {
    const balances = Array.from({ length: 25_000 }, (_, i) => BigInt(1 + ((i * 7_919) % 5_000)));
    const { store, known } = await withHolders(balances);
    const all = await findHolders(store, { token: known, skip: 0, limit: 30_000 });
    for (const skip of [0, 5, 9_999, 10_001, 17_003, 24_990, 25_000, 99_999])
      expect(await findHolders(store, { token: known, skip, limit: 20 }), `${skip}`).to.deep.equal(
        all.slice(skip, skip + 20),
      );
    await store.close();
  });
});
