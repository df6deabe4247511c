import { expect } from "chai";
import { describe, it } from "mocha";
import { judgeRedocly, judgeSpectral } from "./openapi.ts";

describe("the rules of OpenAPI documents", () => {
  const totals = (errors: number, warnings: number) => ({ errors, warnings, ignored: 0 });

  it("are kept where both linters report nothing", () => {
    expect(judgeRedocly(JSON.stringify({ totals: totals(0, 0), problems: [] }))).to.deep.equal([]);
    expect(judgeSpectral("[]")).to.deep.equal([]);
  });

  it("are broken by a warning", () => {
    const problems = [{ ruleId: "info-license", message: "Info object should contain `license` field." }];
    expect(judgeRedocly(JSON.stringify({ totals: totals(0, 1), problems }))).to.deep.equal([
      "Redocly, info-license: Info object should contain `license` field.",
    ]);
    expect(judgeRedocly(JSON.stringify({ totals: totals(2, 0) }))).to.deep.equal([
      "Redocly: 2 errors, 0 warnings",
    ]);
    const finding = {
      code: "operation-tags",
      message: "tags missing",
      path: ["paths", "/a", "get"],
      severity: 1,
    };
    expect(judgeSpectral(JSON.stringify([finding]))).to.deep.equal([
      "Spectral, operation-tags at paths./a.get: tags missing",
    ]);
  });

  it("are not shown to be kept by a linter that has not run", () => {
    for (const text of ["", "Error: cannot find module", "{}"]) {
      expect(judgeRedocly(text), text).to.have.length(1);
      expect(judgeSpectral(text), text).to.have.length(1);
    }
  });
});
