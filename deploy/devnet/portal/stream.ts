import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { BlockId } from "./block.ts";
import { coverBlocks } from "./cover.ts";
import type { PortalDialect } from "./dialect.ts";
import { type ForkForm, sendFork } from "./errors.ts";
import type { PortalFaults } from "./faults.ts";
import type { HeadPair, Heads } from "./heads.ts";
import type { ToldLie } from "./lies.ts";
import { BadQuery, type QueryRange } from "./query-members.ts";
import type { PortalRequest } from "./request.ts";
import { sendLines } from "./send.ts";

/** See PortalOptions. */
export interface StreamSettings {
  readonly dialect: PortalDialect;
  readonly startBlock: number;
  readonly gap: number;
  readonly waitMs: number;
  readonly forks: ForkForm;
  readonly chunkBlocks: number;
  readonly chunkWeight: number;
  readonly maxChunks: number;
  readonly strayHeaders: number;
  readonly nullFields: boolean;
}

interface Context {
  readonly settings: StreamSettings;
  readonly heads: Heads;
  readonly faults: PortalFaults;
  readonly lies: readonly ToldLie[];
}

/** Canonical blocks that a 409 names. */
const PREVIOUS_BLOCKS = 5;
/** How far back the headers name a finalized head with `finalizedBack`. */
const BACK_BLOCKS = 10;

/** POST /stream and /finalized-stream. Throws BadQuery. */
export async function answerStream(
  response: ServerResponse,
  request: PortalRequest & { readonly kind: "stream" | "finalized-stream" },
  { settings, heads, faults, lies }: Context,
): Promise<void> {
  const { body, kind, random, search } = request;
  readCount(search, "buffer_size");
  const maxChunks = readCount(search, "max_chunks") ?? settings.maxChunks;
  const query = settings.dialect.readQuery(body, settings);
  const pair = await heads.read();
  const fault = faults.draw("stream", random);
  if (kind === "stream") {
    const fork = await findFork(heads, query);
    if (fork !== undefined) return sendFork(response, fork, { form: settings.forks, random });
  }
  const part = fault === "noData" ? undefined : servedPart(query, { kind, pair, gap: settings.gap });
  if (part === undefined) await sleep(settings.waitMs);
  if (!faults.happens("noHeadHeaders", random))
    setHeadHeaders(response, pair, faults.happens("finalizedBack", random) ? BACK_BLOCKS : 0);
  if (part === undefined) return void response.writeHead(204).end();
  response.writeHead(200, {
    "content-type": "application/jsonl",
    "content-encoding": "gzip",
    "x-sqd-data-source": part.source,
  });
  const lines = coverBlocks(heads.blocks.read(query.fromBlock, part.to), {
    ...settings,
    ...{ query, maxChunks, lies, random },
  });
  await sendLines(response, { lines, fault, random });
}

/** What one source has of the range: an answer is never of both. Undefined where there is nothing. */
function servedPart(
  { fromBlock, toBlock = Number.POSITIVE_INFINITY }: QueryRange,
  { kind, pair, gap }: { kind: "stream" | "finalized-stream"; pair: HeadPair; gap: number },
): { to: number; source: "network" | "real_time" } | undefined {
  const { finalized = { number: -1 }, head = finalized } = pair;
  if (fromBlock <= finalized.number) return { to: Math.min(toBlock, finalized.number), source: "network" };
  const isHere = kind === "stream" && fromBlock > finalized.number + gap && fromBlock <= head.number;
  return isHere ? { to: Math.min(toBlock, head.number), source: "real_time" } : undefined;
}

/** Where the block before the range is another one than the client has: the blocks that are there. */
async function findFork(
  { blocks }: Heads,
  { fromBlock, parentBlockHash }: QueryRange,
): Promise<{ blocks: BlockId[]; message: string } | undefined> {
  if (parentBlockHash === undefined || fromBlock === 0) return undefined;
  const found: BlockId[] = [];
  for await (const { header } of blocks.read(Math.max(0, fromBlock - PREVIOUS_BLOCKS), fromBlock - 1))
    found.push({ number: header.number, hash: header.hash });
  const parent = found.at(-1);
  // Beyond the head nothing can be compared.
  if (parent?.number !== fromBlock - 1 || parent.hash === parentBlockHash) return undefined;
  const message = `block ${parent.number} is ${parent.hash}, not ${parentBlockHash}`;
  return { blocks: found, message };
}

function setHeadHeaders(response: ServerResponse, { head, finalized }: HeadPair, back: number): void {
  if (head !== undefined) response.setHeader("x-sqd-head-number", String(head.number));
  if (finalized === undefined) return;
  response.setHeader("x-sqd-finalized-head-number", String(Math.max(0, finalized.number - back)));
  if (back === 0) response.setHeader("x-sqd-finalized-head-hash", finalized.hash);
}

/** A number of the query string, from 1; undefined where it is absent. */
function readCount(search: URLSearchParams, name: string): number | undefined {
  const text = search.get(name);
  if (text === null) return undefined;
  if (!/^[1-9]\d*$/.test(text)) throw new BadQuery(`${name}: expected an integer from 1, got ${text}`);
  return Number(text);
}
