import { expect } from "chai";
import { describe, it } from "mocha";
import { parseAaveDeployment } from "./deployment.ts";

const provider = "0x2F39d218133AFaB8F2B819B1066c7E434Ad94E9e";

describe("aave-v3: deployments", () => {
  it("takes providers in any case", () => {
    expect(parseAaveDeployment({ markets: [{ name: "Core", provider }] })).to.deep.equal({
      markets: [{ name: "Core", provider: provider.toLowerCase() }],
    });
  });

  it("names the field that is wrong", () => {
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [{}, /markets/],
      [{ markets: [] }, /markets/],
      [{ markets: [{ provider }] }, /markets\[0\]\.name/],
      [{ markets: [{ name: "Core", provider: "0x1" }] }, /not an EVM address\s.*markets\[0\]\.provider/],
      [{ markets: [{ name: "Core", provider, pool: provider }] }, /pool/],
      [
        {
          markets: [
            { name: "A", provider },
            { name: "B", provider: provider.toLowerCase() },
          ],
        },
        /listed twice/,
      ],
    ];
    for (const [section, message] of wrong) expect(() => parseAaveDeployment(section)).to.throw(message);
  });
});
