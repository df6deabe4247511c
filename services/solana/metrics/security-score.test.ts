import { expect } from "chai";
import { describe, it } from "mocha";
import { type SecurityFacts, securityScore } from "./security-score.ts";

const SAFE: SecurityFacts = {
  hasMintAuthority: false,
  hasFreezeAuthority: false,
  mutableMetadata: false,
  transferFeeBps: 0,
  nonTransferable: false,
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
      [{ nonTransferable: true }, 10],
      [{ top10HolderConcentration: 50 }, 10],
      [{ top10HolderConcentration: 100 }, 20],
      // Balances that were seen may add up to more than a supply read earlier.
      [{ top10HolderConcentration: 250 }, 20],
    ];
    for (const [weakness, cost] of costs)
      expect(securityScore({ ...SAFE, ...weakness }), JSON.stringify(weakness)).to.equal(100 - cost);
    const all = Object.assign({}, ...costs.map(([weakness]) => weakness));
    expect(securityScore(all)).to.equal(0);
  });

  it("is unknown while a part is", () => {
    for (const name of Object.keys(SAFE))
      expect(securityScore({ ...SAFE, [name]: null }), name).to.equal(null);
  });
});
