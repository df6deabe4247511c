import { readFileSync } from "node:fs";
import { expect } from "chai";
import { describe, it } from "mocha";
import { VERSION } from "./version.ts";

describe("process/version", () => {
  it("is the version of package.json", () => {
    const file = new URL("../../../package.json", import.meta.url);
    expect(VERSION).to.equal(JSON.parse(readFileSync(file, "utf8")).version);
  });
});
