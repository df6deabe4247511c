import type { Transform } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";

/** Content codings that answers are sent in, the preferred one first. */
export const ENCODINGS = ["br", "gzip"] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** Below this a packet holds the body anyway, and headers weigh more than what compression saves. */
export const MIN_COMPRESSED_BYTES = 1_024;

/** Clients send few different headers; what they send is read once each. */
const MAX_KNOWN = 200;
const known = new Map<string, Encoding | undefined>();

/**
 * The best coding that an Accept-Encoding header allows (RFC 9110 §12.5.3): highest weight, then our preference;
 * undefined for the body as it is. A client that refuses even that gets it all the same, as the RFC lets us.
 */
export function negotiateEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === "") return undefined;
  if (known.has(acceptEncoding)) return known.get(acceptEncoding);
  const weights = readWeights(acceptEncoding);
  const any = weights.get("*") ?? 0;
  const plain = weights.get("identity") ?? 0;
  let best: Encoding | undefined;
  let bestWeight = 0;
  for (const encoding of ENCODINGS) {
    const weight = weights.get(encoding) ?? any;
    if (weight > bestWeight && weight >= plain) {
      best = encoding;
      bestWeight = weight;
    }
  }
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(acceptEncoding, best);
  return best;
}

function readWeights(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(",")) {
    const [coding = "", ...params] = item.split(";").map((part) => part.trim());
    const weight = params.find((param) => param.startsWith("q="))?.slice(2);
    if (weight !== undefined && !/^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(weight)) continue;
    if (coding !== "") weights.set(coding === "x-gzip" ? "gzip" : coding, Number(weight ?? 1));
  }
  return weights;
}

const GZIP = { level: 5 };
const BROTLI_QUALITY = 4;

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) };

/** A whole body compressed, off the main thread. */
export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === "gzip") return compressors.gzip(body, GZIP);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
    [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
  };
  return compressors.br(body, { params });
}

/** Compresses a body on its way. */
export function createCompressor(encoding: Encoding): Transform {
  return encoding === "gzip"
    ? createGzip(GZIP)
    : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}
