import { expect } from "chai";
import { describe, it } from "mocha";
import { describeParameters } from "../services/shared/contract/derive/parameters.ts";
import type { Endpoint } from "../services/shared/contract/endpoint.ts";
import { parseQuery } from "../services/shared/contract/parse.ts";
import { deriveCases } from "../services/shared/contract/testkit/test-cases.ts";
import { ServiceError } from "../services/shared/errors.ts";
import { catalogue } from "./catalogue.ts";

/** The message of the refusal, or undefined where the query is accepted. */
function refusalOf(endpoint: Endpoint, query: string): string | undefined {
  try {
    parseQuery(endpoint, query);
    return undefined;
  } catch (error) {
    expect(error).to.be.instanceOf(ServiceError);
    expect((error as ServiceError).code).to.equal("bad_request");
    return (error as ServiceError).message;
  }
}

describe("catalogue", () => {
  it("names the 32 endpoints of the specification and 5 additions, each path once", () => {
    expect(new Set(catalogue.map((endpoint) => endpoint.path)).size).to.equal(37);
    expect(catalogue).to.have.length(37);
  });

  for (const endpoint of catalogue) {
    it(`declares ${endpoint.path} in the file its URL names`, async () => {
      const file = `../services/${endpoint.family}/endpoints${endpoint.path}.endpoint.ts`;
      // A runtime may load the module a second time for import(): compare what it says, not which object it is.
      const declared = (await import(file)) as { endpoint: Endpoint };
      expect(declared.endpoint.path).to.equal(endpoint.path);
      expect(declared.endpoint.columns).to.deep.equal(endpoint.columns);
    });

    it(`parses ${endpoint.path} as it is declared`, () => {
      for (const { name, query, expect: status, parameter } of deriveCases(endpoint)) {
        const refusal = refusalOf(endpoint, query);
        if (status === 200) expect(refusal, name).to.equal(undefined);
        else expect(refusal, name).to.match(new RegExp(`^Cannot parse ${parameter}: .`));
      }
    });

    it(`tests every parameter of ${endpoint.path}`, () => {
      const cases = deriveCases(endpoint);
      expect(new Set(cases.map((one) => one.name)).size, "names of cases").to.equal(cases.length);
      for (const doc of describeParameters(endpoint)) {
        const refusals = cases.filter((one) => one.parameter === doc.name);
        const accepted = cases.filter(
          (one) => one.expect === 200 && new RegExp(`(^|&)${doc.name}=`).test(one.query),
        );
        expect(refusals, `refusals of ${doc.name}`).to.have.length.above(4);
        expect(accepted, `accepted values of ${doc.name}`).to.not.be.empty;
      }
    });
  }
});
