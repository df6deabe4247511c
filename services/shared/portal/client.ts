import { type Clock, systemClock } from "../rpc-client/endpoint/clock.ts";
import { createExchange, describeFailure, type Exchange, type PortalFetch } from "./exchange.ts";
import { type PortalBlockId, PortalFailure } from "./failures.ts";
import { createPace, type PaceOptions } from "./pace.ts";
import { readRefusal } from "./refusal.ts";
import { type PortalLine, readStream, type StreamRequest } from "./stream.ts";
import { createTries } from "./tries.ts";
import { isObject, type Passing, parseBlockId } from "./verdict.ts";
import { readSmallBody } from "./within.ts";

/** Without a pace the client has two requests a second of its own: what the public portal allows one address. */
export interface PortalOptions extends Partial<PaceOptions> {
  /** To the head of an answer; default 20,000. */
  readonly timeoutMs?: number;
  /** A stream that brings no whole line for so long is asked again; default 60,000. */
  readonly idleMs?: number;
  /** Injected by tests. */
  readonly clock?: Clock;
  readonly fetch?: PortalFetch;
}

export interface PortalMetadata {
  readonly dataset: string | undefined;
  /** The first block that it has. */
  readonly startBlock: number;
}

/**
 * A dataset of an SQD Portal: blocks, chosen by a query, as a stream. Knows no chain. Errors are PortalFailure, PortalFork,
 * or the signal's reason.
 */
export interface PortalClient {
  readonly host: string;
  /** The last final block that any answer named; null while the portal knows none. */
  finalizedHead(signal: AbortSignal): Promise<PortalBlockId | null>;
  metadata(signal: AbortSignal): Promise<PortalMetadata>;
  /**
   * The blocks of a range that the query selects, ascending, each once, with the first and the last of the range; in
   * pieces as they arrive. Goes on behind every cut until the range is whole.
   */
  stream(request: StreamRequest): AsyncGenerator<readonly PortalLine[]>;
}

/** `null` for a head: the portal has just started. */
const NULL_PAUSES_MS = [100, 500, 1_000, 2_000];

/** Does no I/O before the first request. Throws TypeError for a malformed URL. */
export function createPortalClient(url: string, options: PortalOptions = {}): PortalClient {
  const clock = options.clock ?? systemClock;
  const timeoutMs = options.timeoutMs ?? 20_000;
  const exchange: Exchange = createExchange({
    url,
    clock,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    timeoutMs,
  });
  const { host, redact } = exchange;
  const pace = createPace(clock, options.gapMs ?? 500, options.pace);
  let highest: PortalBlockId | undefined;

  /** An archive may answer with an older head than real time did before. */
  function keepHighest(block: PortalBlockId): void {
    if (highest === undefined || block.number > highest.number) highest = block;
  }

  async function getJson(path: string, signal: AbortSignal): Promise<unknown> {
    const tries = createTries({ clock, pace, host });
    for (;;) {
      await pace.next(signal);
      signal.throwIfAborted();
      try {
        const answer = await getOnce(path, signal);
        if ("json" in answer) return answer.json;
        await tries.passOver(answer, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof PortalFailure) throw error;
        await tries.breakOff(redact(describeFailure(error)), signal);
      }
    }
  }

  async function getOnce(path: string, signal: AbortSignal): Promise<{ json: unknown } | Passing> {
    const { response, cancel } = await exchange.send(path, { signal });
    const limit = { clock, ms: timeoutMs, signal };
    try {
      return response.status === 200
        ? { json: JSON.parse(await readSmallBody(response, limit)) }
        : await readRefusal(response, { exchange, ...limit });
    } finally {
      cancel();
    }
  }

  return {
    host,
    async finalizedHead(signal) {
      for (const pauseMs of [...NULL_PAUSES_MS, undefined]) {
        const head = await getJson("finalized-head", signal);
        const block = parseBlockId(head);
        if (block !== undefined) keepHighest(block);
        else if (head !== null) throw new PortalFailure("malformed", `${host} names no finalized head`);
        if (block !== undefined || highest !== undefined || pauseMs === undefined) break;
        await clock.sleep(pauseMs, signal);
      }
      return highest ?? null;
    },
    async metadata(signal) {
      const read = await getJson("metadata", signal);
      if (!isObject(read)) throw new PortalFailure("malformed", `${host} describes no dataset`);
      const { dataset, start_block: start } = read;
      return {
        dataset: typeof dataset === "string" ? dataset : undefined,
        startBlock: typeof start === "number" && Number.isSafeInteger(start) && start > 0 ? start : 0,
      };
    },
    stream: (request) =>
      readStream({ exchange, pace, clock, keepHighest, idleMs: options.idleMs ?? 60_000 }, request),
  };
}
