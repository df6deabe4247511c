import { describeParameters, type ParameterDoc } from "../../services/shared/contract/derive/parameters.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { FORMAT_PARAM } from "../../services/shared/contract/format.ts";

/** The parameters of a client's call. A client has one form of tables, so `format` is none of them. */
export function clientParameters(endpoint: Endpoint): ParameterDoc[] {
  return describeParameters(endpoint).filter(({ name }) => name !== FORMAT_PARAM);
}

/** What the declaration says of a parameter, with its bounds, in one line. */
export function describeParameter({ description, schema }: ParameterDoc): string {
  const { minimum, maximum, maxItems } = schema;
  const bounds = [
    minimum === undefined ? "" : `at least ${minimum}`,
    maximum === undefined ? "" : `at most ${maximum}`,
    maxItems === undefined ? "" : `at most ${maxItems} items`,
  ];
  const standard = schema.default === undefined ? "" : ` Default: ${schema.default}.`;
  const rule = bounds.filter((text) => text !== "").join(", ");
  return `${description}${rule === "" ? "" : ` Bounds: ${rule}.`}${standard}`;
}

/** The largest page of an endpoint with pages; undefined for the others. */
export function maxLimitOf(endpoint: Endpoint): number | undefined {
  return clientParameters(endpoint).find(({ name }) => name === "limit")?.schema.maximum;
}
