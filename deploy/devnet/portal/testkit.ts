import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createGunzip, gunzipSync } from "node:zlib";
import { createRandom } from "../random.ts";
import type { PortalBlock, PortalItem } from "./block.ts";
import { generatedBlocks } from "./block.ts";
import { type Portal, type PortalOptions, startPortal } from "./portal.ts";

/** A word of hex that a seed makes. */
export function hexOf(bytes: number, seed: number): string {
  const random = createRandom(seed);
  let text = "0x";
  for (let i = 0; i < bytes; i++) text += random.below(256).toString(16).padStart(2, "0");
  return text;
}

export const TOPIC_A = hexOf(32, 1);
export const TOPIC_B = hexOf(32, 2);
export const CONTRACT = hexOf(20, 3);
export const OTHER = hexOf(20, 4);

/** Branches differ from this block on. */
export const FORK = 90;

/** Block 3, 6, 9 … has a log of TOPIC_A by CONTRACT and one of TOPIC_B by OTHER, of one transaction; and all have another. */
export function plainBlock(number: number, branch = 0): PortalBlock {
  const hash = (n: number) => hexOf(32, 1_000 + n + (n < FORK ? 0 : branch) * 1e6);
  const transaction = (transactionIndex: number): PortalItem => ({
    transactionIndex,
    hash: hexOf(32, 2e6 + number * 10 + transactionIndex),
    from: hexOf(20, 3e6 + number * 10 + transactionIndex),
    nonce: number,
  });
  const log = (logIndex: number, address: string, topics: readonly string[]): PortalItem => ({
    logIndex,
    transactionIndex: 1,
    transactionHash: transaction(1).hash,
    address,
    topics,
    data: hexOf(64, 4e6 + number * 10 + logIndex),
  });
  return {
    header: {
      number,
      hash: hash(number),
      parentHash: hash(number - 1),
      timestamp: 1_700_000_000 + 2 * number,
      logsBloom: `0x${"00".repeat(256)}`,
    },
    transactions: [transaction(0), transaction(1)],
    logs: number % 3 === 0 ? [log(0, CONTRACT, [TOPIC_A, TOPIC_B]), log(1, OTHER, [TOPIC_B])] : [],
  };
}

export const plainBlocks = (last: number, branch = 0) =>
  generatedBlocks({ first: 0, last, make: (number) => plainBlock(number, branch) });

/** A portal of 101 plain blocks, 0 to 100, without chance and without a limit unless the options say so. */
export function startPlain(options: Partial<PortalOptions> = {}): Promise<Portal> {
  return startPortal({ blocks: plainBlocks(100), rateLimit: null, strayHeaders: 0, ...options });
}

export interface PortalAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** Unpacked where it could be, as far as it could be. */
  readonly text: string;
  /** Whether the connection ended in order. */
  readonly isWhole: boolean;
}

/** Sends a request as it is and returns the answer as it is: what fetch would unpack or refuse is the matter here. */
export async function send(
  url: string,
  options: { body?: string | Buffer; headers?: Record<string, string>; idleMs?: number } = {},
): Promise<PortalAnswer> {
  const { body, headers = {}, idleMs = 500 } = options;
  const sent = request(url, { method: body === undefined ? "GET" : "POST", headers, agent: false });
  // Node 26 tells a connection that breaks in the body here, too.
  sent.on("error", () => {}).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  response.setTimeout(idleMs, () => response.destroy());
  await new Promise<void>((resolve) => {
    response
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("error", () => {})
      .on("close", resolve);
  });
  const bytes = Buffer.concat(chunks);
  const isGzip = response.headers["content-encoding"] === "gzip";
  const text = isGzip ? await unpack(bytes) : bytes.toString("utf8");
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    bytes,
    text,
    isWhole: response.complete,
  };
}

/** As much as there is of a body that may lack its end. */
async function unpack(bytes: Buffer): Promise<string> {
  try {
    return gunzipSync(bytes).toString("utf8");
  } catch {
    const parts: Buffer[] = [];
    const gunzip = createGunzip().on("data", (part: Buffer) => parts.push(part));
    const ended = new Promise((resolve) => gunzip.on("error", resolve).on("end", resolve));
    gunzip.end(bytes);
    await ended;
    return Buffer.concat(parts).toString("utf8");
  }
}

export const ALL_FIELDS = {
  block: { number: true, hash: true, parentHash: true, timestamp: true },
  transaction: { transactionIndex: true, hash: true, from: true },
  log: { logIndex: true, transactionIndex: true, address: true, topics: true, data: true },
};

/** A query for the logs of TOPIC_A with their transactions. */
export function queryFor(query: Record<string, unknown>): string {
  return JSON.stringify({
    type: "evm",
    fields: ALL_FIELDS,
    logs: [{ topic0: [TOPIC_A], transaction: true }],
    ...query,
  });
}

export interface PortalLine {
  readonly header: Record<string, unknown>;
  readonly logs?: readonly Record<string, unknown>[];
  readonly transactions?: readonly Record<string, unknown>[];
}

/** The whole lines of a text; without one that lacks its end. */
export function linesOf(text: string): PortalLine[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as PortalLine);
}

export const numbersOf = (text: string) => linesOf(text).map(({ header }) => header.number);
