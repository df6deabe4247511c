import { expect } from "chai";
import { describe, it } from "mocha";
import { formatValue, parameterError, parameterValueError } from "./parameter-error.ts";

describe("formatValue", () => {
  it("shows plain numbers bare and everything else quoted", () => {
    expect(formatValue("10001")).to.equal("10001");
    expect(formatValue("-1.5")).to.equal("-1.5");
    expect(formatValue("1e3")).to.equal('"1e3"');
    expect(formatValue("")).to.equal('""');
  });

  it("escapes control characters, quotes and everything outside ASCII", () => {
    expect(formatValue('a"\n\u0007')).to.equal('"a\\"\\n\\u0007"');
    expect(formatValue("é\u202e\ud800")).to.equal('"\\u00e9\\u202e\\ud800"');
  });

  it("cuts long values", () => {
    expect(formatValue("x".repeat(5000))).to.equal(`"${"x".repeat(64)}…"`);
    expect(formatValue("9".repeat(500))).to.have.length(67);
  });
});

describe("refuse", () => {
  it("names parameter, value and rule", () => {
    expect(parameterValueError("limit", "10001", "is above 10000")).to.include({
      code: "bad_request",
      message: "Cannot parse limit: 10001 is above 10000.",
    });
    expect(parameterError("limit", "it was sent more than once").message).to.equal(
      "Cannot parse limit: it was sent more than once.",
    );
  });

  it("shows a name that a client made up as it shows values: escaped and cut", () => {
    expect(parameterError("a\r\nX-Injected: 1", "it is broken").message).to.equal(
      'Cannot parse "a\\r\\nX-Injected: 1": it is broken.',
    );
    expect(parameterError("é", "it is broken").message).to.equal('Cannot parse "\\u00e9": it is broken.');
    expect(parameterError("x".repeat(5_000), "it is broken").message).to.have.length.below(120);
  });
});
