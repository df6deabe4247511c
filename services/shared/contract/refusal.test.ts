import { expect } from "chai";
import { describe, it } from "mocha";
import { refuse, refuseValue, showValue } from "./refusal.ts";

describe("showValue", () => {
  it("shows plain numbers bare and everything else quoted", () => {
    expect(showValue("10001")).to.equal("10001");
    expect(showValue("-1.5")).to.equal("-1.5");
    expect(showValue("1e3")).to.equal('"1e3"');
    expect(showValue("")).to.equal('""');
  });

  it("escapes control characters, quotes and everything outside ASCII", () => {
    expect(showValue('a"\n\u0007')).to.equal('"a\\"\\n\\u0007"');
    expect(showValue("é\u202e\ud800")).to.equal('"\\u00e9\\u202e\\ud800"');
  });

  it("cuts long values", () => {
    expect(showValue("x".repeat(5000))).to.equal(`"${"x".repeat(64)}…"`);
    expect(showValue("9".repeat(500))).to.have.length(67);
  });
});

describe("refuse", () => {
  it("names parameter, value and rule", () => {
    expect(refuseValue("limit", "10001", "is above 10000")).to.include({
      code: "bad_request",
      message: "Cannot parse limit: 10001 is above 10000.",
    });
    expect(refuse("limit", "it was sent more than once").message).to.equal(
      "Cannot parse limit: it was sent more than once.",
    );
  });

  it("shows a name that a client made up as it shows values: escaped and cut", () => {
    expect(refuse("a\r\nX-Injected: 1", "it is broken").message).to.equal(
      'Cannot parse "a\\r\\nX-Injected: 1": it is broken.',
    );
    expect(refuse("é", "it is broken").message).to.equal('Cannot parse "\\u00e9": it is broken.');
    expect(refuse("x".repeat(5_000), "it is broken").message).to.have.length.below(120);
  });
});
