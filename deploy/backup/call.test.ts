import { expect } from "chai";
import { describe, it } from "mocha";
import { parseCall, UsageError } from "./call.ts";

describe("the words behind npm run backup", () => {
  it("name a folder, or one with others and how many of them are kept", () => {
    expect(parseCall(["backup", "--to", "a"])).to.deep.equal({
      command: "backup",
      target: { to: "a" },
      json: false,
    });
    expect(parseCall(["backup", "--into", "a", "--keep", "7", "--json"])).to.deep.equal({
      command: "backup",
      target: { into: "a", keep: 7 },
      json: true,
    });
    expect(parseCall(["backup", "--into", "a"])).to.have.deep.property("target", {
      into: "a",
      keep: undefined,
    });
    expect(parseCall(["restore", "--from", "a"])).to.deep.equal({
      command: "restore",
      from: "a",
      json: false,
    });
    for (const words of [["--help"], ["-h"], ["check", "-h"]])
      expect(parseCall(words)).to.deep.equal({ command: "help" });
  });

  for (const [line, fault] of [
    ["backup", "--to is missing, or --into"],
    ["backup --to a --into a", "exclude each other"],
    ["backup --to a --keep 3", "--keep goes with --into"],
    ["backup --into a --keep 0", "--keep 0 is no number from 1 on"],
    ["backup --into a --keep 1.5", "--keep 1.5 is no number from 1 on"],
    ["restore", "--from is missing"],
    ["backup --too a", "Unknown option '--too'"],
    ["copy", "there is no command copy"],
    ["", "there is no command"],
  ] as const)
    it(`are refused: "${line}"`, () =>
      void expect(() => parseCall(line.split(" "))).to.throw(UsageError, fault));
});
