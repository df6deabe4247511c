import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { Pacer } from "../../../shared/service/pacer.ts";
import { put, type Store } from "../../../shared/storage/port.ts";
import { randomRuns } from "../../../shared/testkit/describe.ts";
import { type TokenRow, tokenFragments, tokens } from "../../store/token-collections.ts";
import { listFragments } from "../../store/token-search.ts";
import { refuseScans } from "../../test/planned-store.ts";
import { openTestStore } from "../../test/store.ts";
import { findTokens } from "./find-tokens.ts";

type Named = Pick<TokenRow, "mint" | "symbol" | "name">;

function tokenRow(names: Named, number: number): TokenRow {
  return {
    ...{ ...names, number },
    ...{ decimals: 6, supply: null, mintAuthority: null, freezeAuthority: null, isToken2022: false },
    ...{ extensions: null, mutableMetadata: null, holderCount: 0, held: 0n, balanceCounts: [] },
    ...{ readSlot: null, holdersSlot: null, wholeSlot: null, foundSlot: 1 },
  };
}

async function withTokens(named: readonly Named[], look: (store: Store) => Promise<void>): Promise<void> {
  const store = await openTestStore();
  try {
    const fragments = named.flatMap(({ symbol, name }, token) =>
      [...listFragments(symbol, name)].map((fragment) => ({ fragment, symbol, token })),
    );
    await store.write([put(tokens, named.map(tokenRow)), put(tokenFragments, fragments)]);
    await look(refuseScans(store));
  } finally {
    await store.close();
  }
}

/** As a reader would: every token looked at. */
function expected(named: readonly Named[], filter: string | undefined): string[] {
  const wanted = filter?.toLowerCase() ?? "";
  return (
    named
      .filter(({ symbol, name }) => [symbol, name].some((text) => text.toLowerCase().includes(wanted)))
      // Those of one symbol stay in the order in which they were seen.
      .sort((a, b) => (a.symbol === b.symbol ? 0 : a.symbol < b.symbol ? -1 : 1))
      .map(({ mint }) => mint)
  );
}

describe("search of tokens", () => {
  const text = (maxLength: number) =>
    fc.string({ unit: fc.constantFrom("a", "B", "b", " ", "🐕", "é", "É"), maxLength });

  it("finds tokens with a text in symbol or name, in any case, ordered by symbol, then the first seen", async () => {
    const named = fc.uniqueArray(
      fc.record({ mint: fc.nat(4_000).map((number) => `mint ${number}`), symbol: text(4), name: text(9) }),
      { selector: ({ mint }) => mint, minLength: 1, maxLength: 40 },
    );
    const filter = fc.option(
      text(6).filter((found) => found !== ""),
      { nil: undefined },
    );
    const question = fc.record({ filter, skip: fc.nat(6), limit: fc.integer({ min: 1, max: 10 }) });
    await fc.assert(
      fc.asyncProperty(named, fc.array(question, { minLength: 5 }), async (all, questions) => {
        await withTokens(all, async (store) => {
          for (const { filter: wanted, skip, limit } of questions) {
            const found = await findTokens(store, { filter: wanted, skip, limit, pacer: new Pacer() });
            const whole = expected(all, wanted);
            expect(found.map(({ mint }) => mint)).to.deep.equal(whole.slice(skip, skip + limit));
          }
        });
      }),
      { numRuns: randomRuns(100) },
    );
  });

  it("finds every one of many with the same symbol and fragment, page by page", async () => {
    const all = Array.from({ length: 1_700 }, (_, i) => ({
      mint: `mint ${String(i).padStart(4, "0")}`,
      symbol: i % 3 === 0 ? "COIN" : `COIN${i % 7}`,
      name: i % 2 === 0 ? "A dogged coin" : "A dog",
    }));
    await withTokens(all, async (store) => {
      const found: string[] = [];
      for (let skip = 0; ; skip += 170) {
        const pacer = new Pacer();
        const page = await findTokens(store, { filter: "a DOGGED coin", skip, limit: 170, pacer });
        found.push(...page.map(({ mint }) => mint));
        if (page.length < 170) break;
      }
      expect(found).to.deep.equal(expected(all, "a dogged coin"));
      expect(found).to.have.length(850);
    });
  });
});
