import { expect } from "chai";
import { describe, it } from "mocha";
import { contract, word } from "../testkit/portal-chain.ts";
import { MAX_PORTAL_ADDRESSES, toPortalQueries } from "./request.ts";

/** What a portal takes as a body. */
const MAX_BODY = 256 * 1_024;
const contracts = (count: number) => Array.from({ length: count }, (_, i) => contract(i + 1));

describe("toPortalQueries", () => {
  it("asks for topics from any contract, in every block", () => {
    const [query, ...others] = toPortalQueries({ topics: [word(1), "0xAB"] });
    expect(others).to.deep.equal([]);
    expect(query?.includeAllBlocks).to.equal(true);
    expect(query?.logs).to.deep.equal([{ topic0: [word(1), "0xab"], transaction: true }]);
    expect(toPortalQueries({ topics: [] })[0]?.logs).to.deep.equal([{ transaction: true }]);
  });

  it("asks only for blocks with logs of contracts, and for nothing without contracts", () => {
    const [query] = toPortalQueries({ topics: [word(1)], addresses: contracts(2) });
    expect(query?.includeAllBlocks).to.equal(false);
    expect(query?.logs).to.deep.equal([{ address: contracts(2), topic0: [word(1)], transaction: true }]);
    expect(toPortalQueries({ topics: [word(1)], addresses: [] })[0]?.logs).to.deep.equal([]);
  });

  it("selects all fields that a header's hash covers", () => {
    const block = toPortalQueries({ topics: [] })[0]?.fields.block ?? {};
    expect(block).to.include({ hash: true, number: true, nonce: true, requestsHash: true, logsBloom: true });
    expect(Object.keys(block)).to.have.length(22);
  });

  it("splits contracts so that every body fits", () => {
    const topics = Array.from({ length: 40 }, (_, i) => word(i));
    const addressed = { topics: [word(99)], addresses: contracts(2 * MAX_PORTAL_ADDRESSES + 1) };
    const queries = toPortalQueries({ topics, addressed });
    const asked = queries.flatMap(({ logs }) => logs.flatMap(({ address = [] }) => address));
    expect(asked).to.deep.equal(addressed.addresses);
    expect(queries).to.have.length(3);
    for (const query of queries) {
      const body = JSON.stringify({ ...query, fromBlock: 123_456_789, toBlock: 123_456_789 });
      expect(body.length).to.be.lessThan(MAX_BODY);
    }
    // The topics are asked for once.
    expect(queries.filter(({ logs }) => logs.some(({ address }) => address === undefined))).to.have.length(1);
  });
});
