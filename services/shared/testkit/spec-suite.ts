import { expect } from "chai";
import { describe, it } from "mocha";
import type { Endpoint } from "../contract/endpoint.ts";

/** What the interface specification says of a parameter. */
export interface ParameterRule {
  readonly required?: true;
  readonly default?: unknown;
  /** Texts that must be accepted, and texts that must be refused. */
  readonly good: readonly string[];
  readonly bad: readonly string[];
}

/** What the interface specification says of an endpoint, typed out: nothing of it may come from the declarations. */
export interface SpecRow {
  readonly mediaType: string;
  readonly body: Endpoint["body"];
  readonly params: Readonly<Record<string, ParameterRule>>;
  /** `name Type`, in order. */
  readonly columns: readonly string[];
  /** Columns that `order` accepts, in order. */
  readonly sortable: readonly string[];
  readonly whenAbsent: Endpoint["whenAbsent"];
  /** Absent = it is not sold. */
  readonly priceUsd?: number;
}

interface Spec {
  readonly service: Endpoint["family"];
  readonly endpoints: readonly Endpoint[];
  /** By path. */
  readonly table: Readonly<Record<string, SpecRow>>;
}

/** Compares the declarations of a service with the specification's table. */
export function describeSpec({ service, endpoints, table }: Spec): void {
  describe(`${service} against the specification`, () => {
    it("has exactly its endpoints", () => {
      expect(endpoints.map((endpoint) => endpoint.path)).to.have.members(Object.keys(table));
    });

    for (const [path, row] of Object.entries(table)) {
      describe(path, () => {
        const endpoint = endpoints.find((one) => one.path === path);
        if (endpoint === undefined) throw new Error(`${path} is not declared.`);

        it("has the specified media type, body, price and response for an unknown address", () => {
          const { mediaType, body, whenAbsent, priceUsd } = row;
          expect(endpoint).to.include({ mediaType, body, whenAbsent, family: service });
          expect(endpoint.priceUsd).to.equal(priceUsd);
        });

        it("has the specified parameters and rules", () => {
          expect(Object.keys(endpoint.params)).to.have.members(Object.keys(row.params));
          for (const [name, rule] of Object.entries(row.params)) {
            const schema = endpoint.params[name];
            const absent = schema?.safeParse(undefined);
            expect(absent?.success, `${name} may be absent`).to.equal(rule.required !== true);
            expect(absent?.data, `default of ${name}`).to.equal(rule.default);
            for (const text of rule.good)
              expect(schema?.safeParse(text).success, `${name}=${text}`).to.equal(true);
            for (const text of rule.bad)
              expect(schema?.safeParse(text).success, `${name}=${text}`).to.equal(false);
          }
        });

        it("has its columns in order, each of its type", () => {
          expect(endpoint.columns.map((column) => `${column.name} ${column.type}`)).to.deep.equal(
            row.columns,
          );
        });

        it("orders by the specified columns", () => {
          const sortable = endpoint.columns.filter((column) => column.sortable === true);
          expect(sortable.map((column) => column.name)).to.deep.equal(row.sortable);
        });
      });
    }
  });
}
