import { expect } from "chai";
import { describe, it } from "mocha";
import { parseKeysCommand } from "./keys-arguments.ts";
import { UsageError } from "./keys-values.ts";

const asJson = false;

describe("arguments of the keys command", () => {
  it("create takes a label and settings, and omits those not named", () => {
    expect(parseKeysCommand(["create", "--label", " a client "])).to.deep.equal({
      name: "create",
      asJson,
      input: { label: "a client" },
    });
    const words =
      "--label=x --owner acme --note= --scopes solana,lending,solana --expires 30d --rate 0.5 --burst 5 --daily-quota 100";
    expect(parseKeysCommand(["create", ...words.split(" "), "--json"])).to.deep.equal({
      name: "create",
      asJson: true,
      input: {
        label: "x",
        owner: "acme",
        note: null,
        scopes: ["solana", "lending"],
        expiresInSeconds: 30 * 86_400,
        limits: { ratePerSecond: 0.5, burst: 5, dailyQuota: 100 },
      },
    });
  });

  it("set changes what is named, back to the default too", () => {
    const words = "set key_1 --rate default --burst default --daily-quota default --expires never --owner=";
    expect(parseKeysCommand(words.split(" "))).to.deep.equal({
      name: "set",
      asJson,
      id: "key_1",
      input: {
        owner: null,
        expiresInSeconds: null,
        limits: { ratePerSecond: null, burst: null, dailyQuota: null },
      },
    });
    expect(parseKeysCommand(["set", "key_1", "--daily-quota", "none"])).to.deep.include({
      input: { limits: { dailyQuota: 0 } },
    });
  });

  it("rotate takes an overlap, of a day by default", () => {
    expect(parseKeysCommand(["rotate", "key_1"])).to.deep.equal({
      name: "rotate",
      asJson,
      id: "key_1",
      overlapSeconds: 86_400,
    });
    expect(parseKeysCommand(["rotate", "key_1", "--overlap", "0h", "--expires", "12h"])).to.include({
      overlapSeconds: 0,
      expiresInSeconds: 43_200,
    });
  });

  it("list, suspend, resume, revoke, usage and help are read as such", () => {
    expect(parseKeysCommand(["list"])).to.deep.equal({ name: "list", asJson });
    expect(parseKeysCommand(["list", "--json", "--owner", "acme"])).to.deep.equal({
      name: "list",
      asJson: true,
      owner: "acme",
    });
    for (const name of ["suspend", "resume", "revoke"])
      expect(parseKeysCommand([name, "key_1"])).to.deep.equal({ name, asJson, id: "key_1" });
    expect(parseKeysCommand(["usage"])).to.deep.equal({ name: "usage", asJson, days: 7 });
    expect(parseKeysCommand(["usage", "key_1", "--days=30", "--json"])).to.deep.equal({
      name: "usage",
      asJson: true,
      id: "key_1",
      days: 30,
    });
    for (const word of ["help", "--help", "-h"]) expect(parseKeysCommand([word])).to.equal("help");
    for (const name of ["create", "list", "set", "rotate", "suspend", "resume", "revoke", "usage"])
      expect(parseKeysCommand([name, "--help"]), name).to.equal("help");
  });

  it("refuses every other call with words that name what is wrong", () => {
    const wrong: [string, readonly string[]][] = [
      ["A command is needed", []],
      ['"bogus"', ["bogus"]],
      ["--label", ["create"]],
      ["one line", ["create", "--label", "a\nb"]],
      ["1 to 100", ["create", "--label", "x".repeat(101)]],
      ["1 to 100", ["create", "--label", " "]],
      ["--note takes 0 to 100", ["create", "--label", "x", "--note", "a\tb"]],
      ['"all"', ["create", "--label", "x", "--scopes", "all"]],
      ['""', ["create", "--label", "x", "--scopes", "solana,"]],
      ['"1w"', ["create", "--label", "x", "--expires", "1w"]],
      ['"0d"', ["create", "--label", "x", "--expires", "0d"]],
      ["--lable", ["create", "--lable", "x"]],
      ['--rate "0"', ["create", "--label", "x", "--rate", "0"]],
      ["three decimals", ["create", "--label", "x", "--rate", "1.0005"]],
      ['"1e3"', ["create", "--label", "x", "--rate", "1e3"]],
      ['--burst "1.5"', ["create", "--label", "x", "--burst", "1.5"]],
      ['--burst "none"', ["create", "--label", "x", "--burst", "none"]],
      ['--daily-quota "0"', ["create", "--label", "x", "--daily-quota", "0"]],
      ["something to set", ["set", "key_1"]],
      ["set needs the id", ["set", "--note", "x"]],
      ['"never"', ["rotate", "key_1", "--overlap", "never"]],
      ["rotate needs the id", ["rotate"]],
      ['"extra"', ["list", "extra"]],
      ["needs the id", ["revoke"]],
      ['"key_2"', ["revoke", "key_1", "key_2"]],
      ["1 to 400", ["usage", "--days", "401"]],
    ];
    for (const [words, args] of wrong) {
      expect(() => parseKeysCommand(args), args.join(" ")).to.throw(UsageError, words);
    }
  });
});
