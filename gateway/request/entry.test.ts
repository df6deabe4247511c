import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { splitTarget } from "./entry.ts";

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

  it("never yields a path that was not there", () => {
    const path = fc.stringMatching(/^\/[^?#]*$/);
    fc.assert(fc.property(path, (sent) => splitTarget(sent).path === sent));
  });
});
