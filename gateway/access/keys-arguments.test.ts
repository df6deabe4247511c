import { expect } from "chai";
import { describe, it } from "mocha";
import { FAMILIES } from "./key-record.ts";
import { parseKeysCommand, UsageError } from "./keys-arguments.ts";

describe("arguments of the keys command", () => {
  it("create takes a label, scopes and an expiry", () => {
    expect(parseKeysCommand(["create", "--label", " a client "])).to.deep.equal({
      name: "create",
      label: "a client",
      scopes: FAMILIES,
    });
    expect(
      parseKeysCommand(["create", "--label=x", "--scopes", "solana, lending,solana", "--expires", "30d"]),
    ).to.deep.equal({
      name: "create",
      label: "x",
      scopes: ["solana", "lending"],
      expiresInSeconds: 30 * 86_400,
    });
    expect(parseKeysCommand(["create", "--label=x", "--expires=12h"])).to.include({
      expiresInSeconds: 43_200,
    });
  });

  it("list, revoke and help are what they say", () => {
    expect(parseKeysCommand(["list"])).to.deep.equal({ name: "list", asJson: false });
    expect(parseKeysCommand(["list", "--json"])).to.deep.equal({ name: "list", asJson: true });
    expect(parseKeysCommand(["revoke", "key_1"])).to.deep.equal({ name: "revoke", id: "key_1" });
    for (const word of ["help", "--help", "-h"]) expect(parseKeysCommand([word])).to.equal("help");
  });

  it("refuses every other call with words that name what is wrong", () => {
    const wrong: Record<string, readonly string[]> = {
      "A command is needed": [],
      '"bogus"': ["bogus"],
      "--label": ["create"],
      "one line": ["create", "--label", "a\nb"],
      "up to 100": ["create", "--label", "x".repeat(101)],
      '"all"': ["create", "--label", "x", "--scopes", "all"],
      '""': ["create", "--label", "x", "--scopes", "solana,"],
      '"1w"': ["create", "--label", "x", "--expires", "1w"],
      '"0d"': ["create", "--label", "x", "--expires", "0d"],
      "--lable": ["create", "--lable", "x"],
      '"extra"': ["list", "extra"],
      "needs the id": ["revoke"],
      '"key_2"': ["revoke", "key_1", "key_2"],
    };
    for (const [words, args] of Object.entries(wrong)) {
      expect(() => parseKeysCommand(args), args.join(" ")).to.throw(UsageError, words);
    }
  });
});
