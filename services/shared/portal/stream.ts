import type { Clock } from "../rpc-client/endpoint/clock.ts";
import { describeFailure, type Exchange } from "./exchange.ts";
import { type PortalBlockId, PortalFailure, PortalFork } from "./failures.ts";
import { readLines } from "./lines.ts";
import type { Pace } from "./pace.ts";
import { readRefusal } from "./refusal.ts";
import { createTries } from "./tries.ts";
import { isObject, type Passing, parseBlockId, parseJson } from "./verdict.ts";
import { within } from "./within.ts";

/** A block: its header, and lists of what the query selects of it. */
export interface PortalLine {
  readonly header: PortalBlockId & Readonly<Record<string, unknown>>;
  readonly [list: string]: unknown;
}

export interface StreamRequest {
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  /** The rest of the body: type, fields and lists of filters. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Only what is final, which has no forks; default true. */
  readonly isFinal?: boolean;
  /** Hash of the block before the first one: a portal with another one answers with PortalFork. */
  readonly parentHash?: string;
  readonly signal: AbortSignal;
}

export interface StreamContext {
  readonly exchange: Exchange;
  readonly pace: Pace;
  readonly clock: Clock;
  readonly idleMs: number;
  /** Told of the final blocks that answers name. */
  readonly keepHighest: (block: PortalBlockId) => void;
}

/** See PortalClient.stream. */
export async function* readStream(
  context: StreamContext,
  request: StreamRequest,
): AsyncGenerator<readonly PortalLine[]> {
  const { exchange, pace, clock } = context;
  const { toBlock, signal } = request;
  const { host, redact } = exchange;
  const tries = createTries({ clock, pace, host });
  let next = request.fromBlock;
  let parentHash = request.parentHash;
  while (next <= toBlock) {
    await pace.next(signal);
    signal.throwIfAborted();
    const before = next;
    try {
      for await (const lines of readAnswer(context, { ...request, fromBlock: next, parentHash })) {
        if ("kind" in lines) {
          await tries.passOver(lines, signal);
          break;
        }
        const last = lines.at(-1) as PortalLine;
        next = last.header.number + 1;
        parentHash = last.header.hash;
        tries.succeed();
        yield lines;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof PortalFailure || error instanceof PortalFork) throw error;
      if (next === before) await tries.breakOff(redact(describeFailure(error)), signal);
    }
  }
}

type AskedStream = Omit<StreamRequest, "parentHash"> & { readonly parentHash: string | undefined };

/** One answer: its lines, or what it says instead. */
async function* readAnswer(
  context: StreamContext,
  request: AskedStream,
): AsyncGenerator<readonly PortalLine[] | Passing> {
  const { exchange, keepHighest } = context;
  const { isFinal = true, signal } = request;
  const path = isFinal ? "finalized-stream" : "stream";
  const { response, cancel } = await exchange.send(path, { body: toBody(request), signal });
  try {
    const final = parseBlockId({
      number: Number(response.headers.get("x-sqd-finalized-head-number") ?? Number.NaN),
      hash: response.headers.get("x-sqd-finalized-head-hash"),
    });
    if (final !== undefined) keepHighest(final);
    if (response.status === 200) yield* readBody(context, request, response.body ?? nothing());
    else yield await readRefusal(response, { ...context, ms: context.idleMs, signal });
  } finally {
    cancel();
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function toBody({ query, fromBlock, toBlock, isFinal = true, parentHash }: AskedStream): string {
  // Checked where a fork can be.
  const parent = isFinal || parentHash === undefined ? {} : { parentBlockHash: parentHash };
  return JSON.stringify({ ...query, fromBlock, toBlock, ...parent });
}

/** The blocks of a body as they arrive. Throws where it breaks off, after what was whole before that. */
async function* readBody(
  { exchange, clock, idleMs: ms }: StreamContext,
  { fromBlock, toBlock, signal }: AskedStream,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly PortalLine[]> {
  let previous = fromBlock - 1;
  const parts = readLines(body);
  for (let isEnded = false; !isEnded; ) {
    // Bytes alone are no progress.
    const part = await within(parts.next(), "no block came", { clock, ms, signal });
    isEnded = part.done === true;
    // The end of a body that was not cut within a line may lack the line break.
    const texts = part.done ? [part.value].filter((rest) => parseJson(rest) !== undefined) : part.value;
    const { lines, broken } = parseLines(texts);
    for (const { header } of lines) {
      const wrong = findMisplaced(header.number, { previous, toBlock });
      if (wrong !== undefined) throw new PortalFailure("malformed", `${exchange.host} sent ${wrong}`);
      previous = header.number;
    }
    if (lines.length > 0) yield lines;
    if (broken) throw new Error("a line is no block");
  }
  if (previous < fromBlock) throw new Error("an answer without a block");
}

/** Up to the first that is no block: what follows in a broken body is lost. */
function parseLines(texts: readonly string[]): { lines: PortalLine[]; broken: boolean } {
  const lines: PortalLine[] = [];
  for (const text of texts) {
    const line = parseJson(text);
    if (!isObject(line) || parseBlockId(line.header) === undefined) return { lines, broken: true };
    lines.push(line as PortalLine);
  }
  return { lines, broken: false };
}

function findMisplaced(number: number, at: { previous: number; toBlock: number }): string | undefined {
  if (number <= at.previous) return `block ${number} after block ${at.previous}`;
  return number > at.toBlock ? `block ${number} beyond ${at.toBlock}` : undefined;
}
