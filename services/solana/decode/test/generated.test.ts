import { expect } from "chai";
import { it } from "mocha";
import { createGenerator } from "../../../../deploy/devnet/solana/generator.ts";
import { describeWithChain, randomRuns } from "../../../shared/testkit/describe.ts";
import type { SolanaBlock } from "../../chain/port.ts";
import { decodeBlock } from "../decode.ts";

const SLOT = 300_000_000;
const TIME = 1_763_000_000;

/** What the block generator expects: it shares nothing with the decoder but the facts. */
describeWithChain("decodeBlock on generated blocks", () => {
  for (const seed of [1, 2, 3].slice(0, randomRuns(3))) {
    it(`finds what is there and nothing else (seed ${seed})`, () => {
      const generator = createGenerator({ seed, time: TIME, slot: SLOT });
      let found = 0;
      for (let i = 1; i <= 150; i++) {
        const made = generator.make(SLOT + i, { time: TIME + 30 * i });
        if (made === undefined) continue;
        const { transactions, broken } = decodeBlock({
          ...made.raw,
          slot: made.slot,
        } as unknown as SolanaBlock);
        expect(broken).to.deep.equal([]);
        const expected = made.expected.filter(({ events, balances }) => events.length + balances.length > 0);
        expect(transactions).to.deep.equal(expected.map((each) => ({ ...each, disagreements: [] })));
        found += transactions.length;
      }
      expect(found).to.be.greaterThan(1_000);
    });
  }
});
