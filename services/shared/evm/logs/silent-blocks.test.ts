import { expect } from "chai";
import { describe, it } from "mocha";
import type { Hex } from "../port.ts";
import { FULL_BLOOM, fakeHeader, NO_BLOOM, TOPIC } from "../testkit/fake-chain.ts";
import { listTellingBlocks } from "./silent-blocks.ts";

describe("listTellingBlocks", () => {
  const filter = { topics: [TOPIC] };
  const numbersOf = (logsBloom: Hex) =>
    listTellingBlocks(
      Array.from({ length: 160 }, (_, number) => fakeHeader(number, { logsBloom })),
      filter,
    ).map(({ number }) => number);

  it("checks every block whose bloom tells something", () => {
    expect(numbersOf(NO_BLOOM)).to.have.length(160);
  });

  it("checks one in 16 of the others", () => {
    expect(numbersOf(FULL_BLOOM)).to.deep.equal(Array.from({ length: 10 }, (_, i) => 16 * i));
  });
});
