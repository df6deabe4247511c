import { FORMATS, type Format } from "../contract/format.ts";

/** Ranges of Accept that name a format, without their parameters. */
const NAMED: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["application/json", "json"],
  ["text/csv", "csv"],
  ["application/x-ndjson", "ndjson"],
  ["application/ndjson", "ndjson"],
  ["application/jsonl", "ndjson"],
  ["application/vnd.apache.arrow.stream", "arrow"],
  ["application/vnd.apache.parquet", "parquet"],
]);
const TABLE = /^application\/vnd\.service\.table\.v[0-9.]+\+json$/;
const ROWS_PARAMETER = /^rows="?objects"?$/;
const WEIGHT = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/;

/** Clients send few different headers; what they send is read once each. */
const MAX_KNOWN = 200;
const known = new Map<string, Format>();

/**
 * The format that an Accept header asks for (RFC 9110 §12.5.1): of those it names, the one with the highest weight, the
 * first of equals. Wildcards and types that we do not have leave the specified JSON, as before there was a choice.
 */
export function negotiateFormat(accept: string | undefined): Format {
  if (accept === undefined || accept === "" || accept === "*/*") return "json";
  const before = known.get(accept);
  if (before !== undefined) return before;
  const format = readAccept(accept);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(accept, format);
  return format;
}

function readAccept(accept: string): Format {
  let best: Format = FORMATS[0];
  let bestWeight = 0;
  for (const item of accept.toLowerCase().split(",")) {
    const [range = "", ...parameters] = item.split(";").map((part) => part.trim());
    const format = formatOf(range, parameters);
    if (format === undefined) continue;
    const sent = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2);
    const weight = sent === undefined ? 1 : WEIGHT.test(sent) ? Number(sent) : 0;
    if (weight > bestWeight) [best, bestWeight] = [format, weight];
  }
  return best;
}

function formatOf(range: string, parameters: readonly string[]): Format | undefined {
  if (TABLE.test(range)) return "json";
  const format = NAMED.get(range);
  return format === "json" && parameters.some((parameter) => ROWS_PARAMETER.test(parameter))
    ? "objects"
    : format;
}
