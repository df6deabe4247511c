import { encodePaymentRequiredHeader } from "@x402/core/http";
import { parsePaymentRequired } from "@x402/core/schemas";
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from "@x402/extensions/bazaar";
import { expect } from "chai";
import { describe, it } from "mocha";
import { ConfigError } from "../../../services/shared/settings/settings.ts";
import { catalogue } from "../../catalogue.ts";
import { createOffers, describePaymentRequired } from "./offers.ts";
import { applyPrices } from "./prices.ts";

const PAY_TO = `0x${"ab".repeat(20)}`;
const SPECIFIED = ["/api/v1/solana/token-transactions", "/api/v1/solana/token-transactions-time-bounded"];

describe("offers", () => {
  it("are the two specified endpoints at 0.05 USD where nothing is configured", async () => {
    const offers = await createOffers(applyPrices(catalogue, new Map()), PAY_TO);
    expect([...offers.keys()]).to.deep.equal(SPECIFIED);
    for (const { requirements } of offers.values()) {
      expect(requirements).to.deep.include({ amount: "50000", network: "eip155:8453", payTo: PAY_TO });
    }
  });

  it("follow the configuration: another price, another endpoint, no endpoint", async () => {
    const prices = new Map([
      [SPECIFIED[0] as string, "0"],
      [SPECIFIED[1] as string, "0.1"],
      ["/evm/chains", "0.000001"],
      ["/evm/dexb/v3/pool", "1234.567891"],
    ]);
    const offers = await createOffers(applyPrices(catalogue, prices), PAY_TO);
    const amounts = [...offers].map(([path, { requirements }]) => [path, requirements.amount]);
    expect(new Map(amounts as [string, string][])).to.deep.equal(
      new Map([
        [SPECIFIED[1], "100000"],
        ["/evm/chains", "1"],
        ["/evm/dexb/v3/pool", "1234567891"],
      ]),
    );
  });

  it("refuse the price of a path that no service declares", () => {
    const price = () => applyPrices(catalogue, new Map([["/evm/nothing", "1"]]));
    expect(price).to.throw(ConfigError, '"/evm/nothing"');
  });

  it("of any endpoint have terms that published clients accept, in a header that proxies accept", async () => {
    const everything = new Map(catalogue.map(({ path }) => [path, "0.01"]));
    const offers = await createOffers(applyPrices(catalogue, everything), PAY_TO);
    expect(offers.size).to.equal(catalogue.length);
    for (const [path, offer] of offers) {
      const terms = describePaymentRequired(
        { offer, resourceUrl: `https://pay.example${path}` },
        "A payment is required.",
      );
      expect(parsePaymentRequired(terms).success, path).to.equal(true);
      const bazaar = offer.extensions.bazaar as Parameters<typeof validateDiscoveryExtension>[0];
      expect(validateDiscoveryExtension(bazaar), path).to.deep.equal({ valid: true });
      expect(validateDiscoveryExtensionSpec(bazaar as never), path).to.deep.equal({ valid: true });
      expect(encodePaymentRequiredHeader(terms).length, path).to.be.below(8_000);
    }
  });
});
