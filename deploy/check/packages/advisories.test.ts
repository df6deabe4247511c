import { expect } from "chai";
import { describe, it } from "mocha";
import { judgeAudit } from "./advisories.ts";

const ID = "GHSA-aaaa-bbbb-cccc";
const grave = { title: "Anyone may enter", url: `https://advisories.example/${ID}`, severity: "high" };
const today = "2026-08-05";

function reportOf(via: readonly unknown[]): string {
  return JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities: { door: { via }, floor: { via: ["door"] } },
  });
}

describe("advisories", () => {
  const none = { accepted: [], today, isRequired: false };

  it("pass where no production dependency has a high or critical one", () => {
    expect(judgeAudit(reportOf([]), none).faults).to.deep.equal([]);
    expect(judgeAudit(reportOf([{ ...grave, severity: "moderate" }]), none).faults).to.deep.equal([]);
    expect(judgeAudit('{"auditReportVersion":2,"vulnerabilities":{}}', none).seen).to.contain("0 packages");
  });

  it("fail for a high or critical one, once each, and name it", () => {
    for (const severity of ["high", "critical"])
      expect(judgeAudit(reportOf([{ ...grave, severity }]), none).faults).to.deep.equal([
        `door: ${severity}, Anyone may enter (${ID})`,
      ]);
  });

  it("pass one that is accepted until its day, and not after, and refuse an acceptance that nothing needs", () => {
    const accept = (until: string) => ({ ...none, accepted: [{ id: ID, reason: "no door here", until }] });
    expect(judgeAudit(reportOf([grave]), accept("2026-08-06")).faults).to.deep.equal([]);
    expect(judgeAudit(reportOf([grave]), accept(today)).faults).to.have.length(1);
    expect(judgeAudit(reportOf([]), accept("2026-08-06")).faults).to.deep.equal([
      `${ID} is accepted, and nothing has it any more`,
    ]);
  });

  it("report UNKNOWN where the registry has no answer, and fail for it only where it is required", () => {
    const answers = ['{"message":"405 Method Not Allowed","statusCode":405}', "", "npm error network", "{}"];
    for (const answer of answers) {
      const lenient = judgeAudit(answer, none);
      expect(lenient.faults).to.deep.equal([]);
      expect(lenient.seen).to.match(/^UNKNOWN/);
      expect(judgeAudit(answer, { ...none, isRequired: true }).faults).to.have.length(1);
    }
    expect(judgeAudit(answers[0] ?? "", none).seen).to.contain("405 Method Not Allowed");
  });
});
