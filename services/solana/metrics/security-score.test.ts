import { expect } from "chai";
import { describe, it } from "mocha";
import { type SecurityFacts, securityScore } from "./security-score.ts";

const SAFE: SecurityFacts = {
  hasMintAuthority: false,
  hasFreezeAuthority: false,
  mutableMetadata: false,
  transferFeeBps: 0,
  extensions: {},
  top10HolderConcentration: 0,
};

describe("securityScore", () => {
  it("subtracts what each weakness costs", () => {
    expect(securityScore(SAFE)).to.equal(100);
    const costs: [Partial<SecurityFacts>, number][] = [
      [{ hasMintAuthority: true }, 30],
      [{ hasFreezeAuthority: true }, 20],
      [{ mutableMetadata: true }, 10],
      [{ transferFeeBps: 1 }, 10],
      [{ extensions: { nonTransferable: true } }, 10],
      [{ extensions: { permanentDelegate: "A" } }, 40],
      [{ extensions: { transferHook: { program: "P", authority: "A" } } }, 20],
      [{ extensions: { transferHook: { program: null, authority: "A" } } }, 10],
      [{ extensions: { isFrozenByDefault: true } }, 20],
      [{ extensions: { pausable: { authority: "A", isPaused: false } } }, 20],
      [{ extensions: { pausable: { authority: "A", isPaused: true } } }, 40],
      [{ extensions: { closeAuthority: "A" } }, 5],
      [{ extensions: { scaledAmount: { older: 1, newer: 2, newerTime: 9 } } }, 5],
      [{ extensions: { interest: { startTime: 0, averageBps: 1, updateTime: 2, currentBps: 3 } } }, 5],
      [{ extensions: { confidentialTransfers: true } }, 5],
      [{ top10HolderConcentration: 50 }, 10],
      [{ top10HolderConcentration: 100 }, 20],
      // Balances that were seen may add up to more than a supply read earlier.
      [{ top10HolderConcentration: 250 }, 20],
    ];
    for (const [weakness, cost] of costs)
      expect(securityScore({ ...SAFE, ...weakness }), JSON.stringify(weakness)).to.equal(100 - cost);
    const all = Object.assign({}, ...costs.map(([weakness]) => weakness));
    all.extensions = Object.assign({}, ...costs.map(([{ extensions }]) => extensions));
    expect(securityScore(all)).to.equal(0);
  });

  it("is unknown while a part is", () => {
    for (const name of Object.keys(SAFE))
      expect(securityScore({ ...SAFE, [name]: null }), name).to.equal(null);
  });
});
