import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import {
  MANY_EVM_ADDRESSES,
  MANY_SOLANA_ADDRESSES,
} from "../../services/shared/contract/testkit/many-addresses.ts";
import { MAX_TARGET_LENGTH, splitTarget } from "./entry.ts";

describe("request target", () => {
  it("is cut into path and query and nothing else is done to it", () => {
    expect(splitTarget("/evm/chains")).to.deep.equal({ path: "/evm/chains", query: "" });
    expect(splitTarget("/evm/chains?")).to.deep.equal({ path: "/evm/chains", query: "" });
    expect(splitTarget("/a?b=%2F&c=?d")).to.deep.equal({ path: "/a", query: "b=%2F&c=?d" });
    expect(splitTarget("/a%2Fb/../c//d")).to.deep.equal({ path: "/a%2Fb/../c//d", query: "" });
    expect(splitTarget("/a?b#c?d")).to.deep.equal({ path: "/a", query: "b" });
    expect(splitTarget("/a#b?c")).to.deep.equal({ path: "/a", query: "" });
  });

  it("loses the origin of its absolute form, so that only the path decides", () => {
    expect(splitTarget("HTTP://user@host:1/a?b")).to.deep.equal({ path: "/a", query: "b" });
    expect(splitTarget("http://host?b").path).to.equal("");
    expect(splitTarget("//host/a").path).to.equal("//host/a");
    expect(splitTarget("ftp://host/a").path).to.equal("ftp://host/a");
  });

  it("has room for the longest lists, also where their commas are percent-encoded", () => {
    for (const [path, list] of [
      ["/evm/prices?chain_id=8453&at_block=9007199254740991&format=parquet", MANY_EVM_ADDRESSES],
      ["/api/v1/solana/prices?format=parquet", MANY_SOLANA_ADDRESSES],
    ] as const) {
      const target = `${path}&tokens=${encodeURIComponent(list.join(","))}`;
      expect(target.length).to.be.within(20_000, MAX_TARGET_LENGTH);
    }
  });

  it("never yields a path that was not there", () => {
    const path = fc.stringMatching(/^\/[^?#]*$/);
    fc.assert(fc.property(path, (sent) => splitTarget(sent).path === sent));
  });
});
