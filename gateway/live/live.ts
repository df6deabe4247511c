import type { Response } from "express";
import { EVENT_STREAM } from "../../services/shared/contract/format.ts";
import { ServiceError } from "../../services/shared/errors.ts";
import { getExchange } from "../../services/shared/http/exchange.ts";
import type { AdmitKey } from "../auth/key-limits.ts";
import {
  authorize,
  type KeyAuthenticator,
  type KeyHolder,
  rejectSuspended,
} from "../auth/keys/key-authenticator.ts";
import { cacheKeyOf } from "../proxy/cache/cache-key.ts";
import type { RequestContext } from "../request/context.ts";
import { parseEventId, toEvent } from "./event.ts";
import type { LiveHub } from "./hub.ts";
import { fateOf } from "./lineage.ts";
import { Listener, type ListenerTimes } from "./listener.ts";
import { readLiveRequest } from "./live-request.ts";
import { type StreamLimits, StreamPlaces } from "./stream-limits.ts";
import type { Topic } from "./topic.ts";

export interface LiveOptions extends StreamLimits {
  readonly hub: LiveHub;
  readonly authenticateKey: KeyAuthenticator;
  readonly admitKey: AdmitKey;
  readonly isDraining: () => boolean;
  readonly times?: Partial<ListenerTimes>;
  readonly tickMs?: number;
}

/**
 * A stream is one request when it begins and one more for each of these six seconds: ten a minute. A client that asked
 * for every block of Base itself would send thirty, but a stream is answered by work that its table's listeners share.
 */
const CHARGE_MS = 6_000;
/** Common proxies cut a connection after 30 to 60 silent seconds. */
const HEARTBEAT_MS = 15_000;
const STALL_MS = 60_000;
const TICK_MS = 1_000;

interface OpenStream {
  readonly listener: Listener;
  readonly context: RequestContext;
}

/** Serves streams of events to requests that have passed the gates. */
export class Live {
  readonly #options: LiveOptions;
  readonly #times: ListenerTimes;
  readonly #places: StreamPlaces;
  readonly #streams = new Set<OpenStream>();
  readonly #timer: NodeJS.Timeout;
  #slow = 0;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#times = { heartbeatMs: HEARTBEAT_MS, stallMs: STALL_MS, chargeMs: CHARGE_MS, ...options.times };
    this.#places = new StreamPlaces(options);
    this.#timer = setInterval(() => this.#tick(), options.tickMs ?? TICK_MS).unref();
  }

  /** Streams that are open. */
  get streams(): number {
    return this.#streams.size;
  }

  /** Tables that are followed. */
  get topics(): number {
    return this.#options.hub.size;
  }

  /** How often a client that does not read has missed events. */
  get slow(): number {
    return this.#slow;
  }

  /** Answers a request with a stream; rejects with a ServiceError before the first byte. */
  async open(context: RequestContext): Promise<void> {
    const { hub, isDraining } = this.#options;
    const { req, res, endpoint, query } = context;
    if (isDraining()) {
      throw new ServiceError("unavailable", "This gateway is about to stop.", { isExpected: true });
    }
    const { table, ignored } = readLiveRequest(endpoint, query);
    if (ignored.length > 0) res.setHeader("X-Ignored-Parameters", ignored.join(", "));
    const holder = await this.#holderOf(context);
    const giveBack = this.#places.take(holder.subject);
    const name = cacheKeyOf(endpoint.path, query) ?? `${endpoint.path}?${query}`;
    const topic = hub.join(name, table);
    const end = (): void => {
      giveBack();
      hub.leave(name, topic);
    };
    try {
      await topic.ready;
    } catch (error) {
      end();
      throw error;
    }
    if (res.destroyed || isDraining()) {
      end();
      if (res.destroyed) return;
      throw new ServiceError("unavailable", "This gateway is about to stop.", { isExpected: true });
    }
    writeHead(context);
    if (req.method === "HEAD") {
      end();
      res.end();
      return;
    }
    this.#start({ context, topic, end });
  }

  /** Ends all streams in a way that their clients understand: they come back, to another gateway. */
  shutDown(): void {
    for (const { listener } of this.#streams) listener.shutDown();
  }

  close(): void {
    clearInterval(this.#timer);
    this.#options.hub.close();
  }

  #start({
    context,
    topic,
    end,
  }: {
    readonly context: RequestContext;
    readonly topic: Topic;
    readonly end: () => void;
  }): void {
    const { req, res, session } = context;
    const onSlow = () => {
      this.#slow += 1;
    };
    const listener = new Listener({ res, topic, session, times: this.#times, onSlow }, performance.now());
    const stream = { listener, context };
    this.#streams.add(stream);
    const exchange = getExchange(res);
    exchange.fields.live = true;
    // From here on its time is the client's own.
    exchange.answeredMs = performance.now();
    exchange.onClose = () => {
      listener.close();
      topic.remove(listener);
      this.#streams.delete(stream);
      end();
    };
    listener.begin(this.#firstEvents(topic, req.headers["last-event-id"]));
    if (topic.failure !== undefined) listener.fail(topic.failure);
    topic.add(listener);
  }

  /** What a client needs to be where the table is now. */
  #firstEvents(topic: Topic, lastId: string | string[] | undefined): readonly Buffer[] {
    if (typeof lastId !== "string") return [topic.snapshot("begin")];
    const missed = topic.eventsAfter(lastId);
    if (missed !== undefined) return missed.length > 0 ? missed : [topic.headEvent()];
    const known = parseEventId(lastId);
    const head = this.#options.hub.latest(topic.family, topic.chain);
    if (known === undefined || head === undefined || known.chain !== topic.chain)
      return [topic.snapshot("gap")];
    if (fateOf(known, head) !== "taken_back") return [topic.snapshot("gap")];
    const { chain, block, hash } = known;
    const { chainId: _chain, recent: _recent, version: _version, ...at } = head;
    const reorg = { chain, ...at, takenBack: [{ block, hash }], rows: [], removed: [] };
    // Without an id: only with the snapshot does the client have it all.
    return [toEvent("reorg", reorg), topic.snapshot("reorg")];
  }

  #tick(): void {
    const nowMs = performance.now();
    for (const stream of this.#streams) if (stream.listener.tick(nowMs)) void this.#charge(stream);
  }

  /** Counts the time of a stream against its key, which may have been revoked meanwhile. */
  async #charge({ listener, context }: OpenStream): Promise<void> {
    try {
      const holder = await this.#holderOf(context);
      rejectSuspended(holder);
      authorize(holder, context.endpoint.family);
      await this.#options.admitKey(holder, { endpoint: context.endpoint, res: NO_HEADERS });
    } catch (error) {
      // Keys that cannot be looked up for now are believed, as requests with a known key are.
      if (error instanceof ServiceError && error.code === "unavailable") return;
      listener.reject(error);
    }
  }

  async #holderOf({ req }: RequestContext): Promise<KeyHolder> {
    const { authenticateKey } = this.#options;
    const sent = req.headers["x-api-key"] as string | undefined;
    return (sent === undefined ? undefined : authenticateKey.cached(sent)) ?? authenticateKey(sent);
  }
}

/** The head of the response has long been sent. */
const NO_HEADERS = { setHeader: () => {} };

function writeHead({ res, headers, session }: RequestContext): void {
  // No proxy may keep it, change it, or hold it back until there is more (nginx).
  const own = [
    "Content-Type",
    EVENT_STREAM,
    "Cache-Control",
    "no-store, no-transform",
    "X-Accel-Buffering",
    "no",
  ];
  const list = headers === undefined ? own : headers.after(own);
  list.push("X-Session-Id", session, ...headersOf(res));
  res.writeHead(200, list);
  res.flushHeaders();
}

/** Those that were set one by one: writeHead of a list would drop them. */
function headersOf(res: Response): string[] {
  const list = Object.entries(res.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  return list;
}
