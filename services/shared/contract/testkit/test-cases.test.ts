import { expect } from "chai";
import { describe, it } from "mocha";
import { sampleItem, sampleList } from "./sample-endpoints.ts";
import { deriveCases } from "./test-cases.ts";

function queriesOf(cases: ReturnType<typeof deriveCases>, status: 200 | 400): string[] {
  return cases.filter((one) => one.expect === status).map((one) => one.query);
}

describe("deriveCases", () => {
  const list = deriveCases(sampleList);
  const item = deriveCases(sampleItem);
  const required = "token_address=So11111111111111111111111111111111111111112";

  it("tries each bound and one beyond", () => {
    expect(queriesOf(list, 200)).to.include.members([
      "limit=1",
      "limit=10000",
      "offset=0",
      "offset=100000000",
    ]);
    expect(queriesOf(list, 400)).to.include.members([
      "limit=0",
      "limit=10001",
      "offset=-1",
      "offset=100000001",
    ]);
  });

  it("tries the spellings a lax number parser takes", () => {
    expect(queriesOf(list, 400)).to.include.members([
      "limit=1e3",
      "limit=0x10",
      "limit=%205",
      "limit=%2B5",
      "limit=05",
      "min_usd=1e3",
    ]);
  });

  it("tries every value of an enumeration, and others", () => {
    expect(queriesOf(list, 200)).to.include.members(["side=buy", "side=sell", "chain_id=1", "chain_id=8453"]);
    expect(queriesOf(list, 400)).to.include.members(["side=BUY", "chain_id=10", "borrowable=TRUE"]);
  });

  it("repeats, empties and breaks the encoding of each parameter", () => {
    expect(queriesOf(list, 400)).to.include.members(["side=buy&side=buy", "side=", "side", "side=%ff"]);
  });

  it("omits each required parameter", () => {
    const missing = item.filter((one) => one.name.endsWith("is missing"));
    expect(missing.map((one) => one.parameter)).to.deep.equal(["token_address", "after_time", "before_time"]);
    expect(missing[2]?.query).to.equal(`${required}&after_time=100`);
  });

  it("takes an alias alone and refuses it beside its parameter", () => {
    const alias = "program_id=So11111111111111111111111111111111111111112";
    expect(queriesOf(item, 200)).to.include(`after_time=100&before_time=200&${alias}`);
    expect(queriesOf(item, 400)).to.include(`after_time=100&before_time=200&${required}&${alias}`);
  });

  it("turns a bound that breaks a rule between parameters into a refusal", () => {
    const beyond = item.find((one) => one.query === `${required}&before_time=200&after_time=4000000000`);
    expect(beyond).to.include({ expect: 400, parameter: "after_time" });
  });

  it("orders by every column in both directions, and twice by none", () => {
    for (const name of ["poolAddress", "tvlUsd", "createdAt"]) {
      expect(queriesOf(list, 200)).to.include.members([`order_asc=${name}`, `order_desc=${name}`]);
    }
    expect(queriesOf(list, 400)).to.include.members([
      "order_asc=poolAddress%2CpoolAddress",
      "order_asc=noSuchColumn",
    ]);
  });
});
