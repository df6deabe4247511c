import { oneOf } from "./param.ts";

/** Forms in which every table can be requested, by `format` or by Accept. The first is the specified one. */
export const FORMATS = ["json", "objects", "csv", "ndjson", "arrow", "parquet"] as const;
export type Format = (typeof FORMATS)[number];

/** The Content-Type of each; that of `json` is the endpoint's own. */
export const FORMAT_MEDIA_TYPES: Readonly<Record<Exclude<Format, "json">, string>> = {
  objects: "application/json; rows=objects",
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson",
  arrow: "application/vnd.apache.arrow.stream",
  parquet: "application/vnd.apache.parquet",
};

/** The Content-Type of a live stream, which the gateway makes. */
export const EVENT_STREAM = "text/event-stream";

/** A parameter of every endpoint. Not part of the handlers' parameters: rows do not depend on it. */
export const FORMAT_PARAM = "format";

export const formatSchema = oneOf(FORMATS, {
  description:
    "The form of the table, whatever Accept says; without it Accept decides, and else it is json. An addition to the specification.",
}).optional();

/** Content-Type of a table of this endpoint. */
export function mediaTypeOf(endpoint: { readonly mediaType: string }, format: Format): string {
  return format === "json" ? endpoint.mediaType : FORMAT_MEDIA_TYPES[format];
}
