import type { RequestContext, RequestForwarder } from "../../request/context.ts";
import { DeadlineExceeded } from "../../request/errors.ts";
import { EncodableResponse } from "../delivery/encodable-response.ts";
import { type ForwarderOptions, fetchForClient, sendResponse } from "../delivery/forwarder.ts";
import type { HeadEpochs } from "../heads/head-epochs.ts";
import type { UpstreamResponse } from "../transport/response-receiver.ts";
import { clientTags, wantedMediaType } from "../upstream/client.ts";
import { cacheKeyOf } from "./cache-key.ts";
import { FixedHashMap } from "./fixed-hash-map.ts";
import { freshnessOf, isFresh, isLater, momentOf, type RequestMoment } from "./freshness.ts";
import { InFlightRequest } from "./in-flight.ts";
import type { CacheEntry, ResponseCache } from "./response-cache.ts";

/**
 * Where a response came from, as X-Cache and the metrics say: the cache (hit), the cache after a 304 of the service
 * (revalidated), another client's request (coalesced), or the service (miss).
 */
export const CACHE_RESULTS = ["hit", "revalidated", "coalesced", "miss"] as const;
export type CacheResult = (typeof CACHE_RESULTS)[number];

export interface CachingForwarderOptions extends ForwarderOptions {
  readonly cache: ResponseCache;
  /** What ends the freshness of responses before their time. */
  readonly heads: Pick<HeadEpochs, "current">;
  /** How many responses came from where; counted here. */
  readonly counts?: Record<CacheResult, number>;
}

/** The end of a request: a table for all that wait, or a response that can be sent once (a streamed body, a 304). */
type Outcome =
  | { readonly table: EncodableResponse; readonly result: "miss" | "revalidated" }
  | { readonly single: UpstreamResponse; isTaken: boolean };

/** A client's request with its place in the cache. */
interface CacheableRequest {
  readonly context: RequestContext;
  readonly key: string;
  /** What the cache has under the key, no longer fresh. */
  readonly stale: CacheEntry | undefined;
  readonly moment: RequestMoment;
}

/**
 * Sends tables from the cache while they are fresh: for the time that the service declares, at most until it tells
 * another head. Sends one request to the service for all clients that want the same under the same head. Stale tables are requested by their tag, so that an unchanged one is not sent again. Errors are
 * never cached, nor are streamed bodies. Contexts that come here have passed every gate.
 */
export function createCachingForwarder(options: CachingForwarderOptions): RequestForwarder {
  const { cache, client, clock, delivery, deadlineMs, counts, heads } = options;
  const inFlight = new FixedHashMap<InFlightRequest<Outcome>>();

  /** Counts a result, and returns its header. */
  const note = (context: RequestContext, result: CacheResult): string[] => {
    context.fields.cache = result;
    if (counts !== undefined) counts[result] += 1;
    return ["X-Cache", result];
  };

  const sendSingle = (context: RequestContext, response: UpstreamResponse) =>
    sendResponse(context, response, { delivery, extraHeaders: note(context, "miss") });

  const sendCached = (context: RequestContext, { response, freshness }: CacheEntry) => {
    const ageSeconds = Math.floor((clock.monotonicMs() - freshness.requestedAtMs) / 1000);
    return delivery.sendComplete(context, response, [...note(context, "hit"), "Age", String(ageSeconds)]);
  };

  const momentNow = ({ endpoint, query }: RequestContext) =>
    momentOf(clock.monotonicMs(), heads.current(endpoint, query));

  const toTable = (
    { headers, body }: UpstreamResponse,
    entry: { readonly key: string; readonly moment: RequestMoment; readonly isAwaited: boolean },
  ): EncodableResponse => {
    const response = new EncodableResponse({ headers, body: body as Buffer });
    const { key, moment, isAwaited } = entry;
    const before = cache.get(key)?.freshness;
    const freshness = freshnessOf(headers, moment, before);
    // One that was sent under an earlier head may come after one that was sent under this.
    const isOutrun = before !== undefined && isLater(before, moment);
    if (freshness !== undefined && !isOutrun) cache.put({ key, response, freshness }, isAwaited);
    return response;
  };

  /** The service returned 304: the body stays, with the new headers. */
  const revalidate = (entry: CacheEntry, moment: RequestMoment, { headers }: UpstreamResponse) => {
    const { "content-type": _none, ...newHeaders } = headers;
    const { response } = entry;
    const merged = { headers: { ...response.headers, ...newHeaders }, body: response.body };
    const renewed = new EncodableResponse(merged, response);
    const freshness = freshnessOf(renewed.headers, moment, entry.freshness);
    const current = cache.get(entry.key);
    const isOutrun = current !== undefined && isLater(current.freshness, moment);
    if (freshness === undefined || isOutrun) return renewed;
    entry.response = renewed;
    entry.freshness = freshness;
    cache.put(entry);
    return renewed;
  };

  /** Sends the request for all that join. */
  const start = (
    name: string,
    { context, key, stale, moment }: CacheableRequest,
  ): InFlightRequest<Outcome> => {
    const staleTag = stale?.response.etag;
    const onResponse = (response: UpstreamResponse): void => {
      inFlight.remove(name, request);
      try {
        const isAwaited = request.size > 1;
        if (response.status === 200 && Buffer.isBuffer(response.body)) {
          request.settle({ table: toTable(response, { key, moment, isAwaited }), result: "miss" });
        } else if (response.status === 304 && stale !== undefined && staleTag !== undefined) {
          request.settle({ table: revalidate(stale, moment, response), result: "revalidated" });
        } else request.settle({ single: response, isTaken: false });
      } catch (error) {
        // Nothing else would end the clients that wait.
        request.fail(error);
      }
    };
    const onError = (error: unknown): void => {
      // A cancelled request may have been replaced by another of its name: only this one is removed.
      inFlight.remove(name, request);
      request.fail(error);
    };
    const ifNoneMatch = staleTag ?? clientTags(context);
    const accept = wantedMediaType(context);
    const handle = client.send({ context, ifNoneMatch, accept }, { onResponse, onError });
    const request = new InFlightRequest<Outcome>(() => {
      inFlight.remove(name, request);
      handle.cancel();
    });
    inFlight.add(name, request);
    return request;
  };

  /** Sends a request for this client alone; caches what may be cached. */
  const fetchAlone = async (context: RequestContext, key: string | undefined): Promise<void> => {
    const moment = momentNow(context);
    const response = await fetchForClient(context, options);
    if (response === undefined) return;
    if (key === undefined || response.status !== 200 || !Buffer.isBuffer(response.body)) {
      return sendSingle(context, response);
    }
    const table = toTable(response, { key, moment, isAwaited: false });
    await delivery.sendComplete(context, table, note(context, "miss"));
  };

  const sendOutcome = (
    context: RequestContext,
    outcome: Outcome,
    { isFirst }: { readonly isFirst: boolean },
  ): void | Promise<void> => {
    if ("table" in outcome) {
      const { table, result } = outcome;
      return delivery.sendComplete(context, table, note(context, isFirst ? result : "coalesced"));
    }
    const { single, isTaken } = outcome;
    if (isTaken && !Buffer.isBuffer(single.body)) return fetchAlone(context, undefined);
    outcome.isTaken = true;
    return sendSingle(context, single);
  };

  /** Joins the in-flight request for the same table, or starts one. */
  const fetchShared = (cacheable: CacheableRequest): Promise<void> =>
    new Promise((resolve, reject) => {
      const { context } = cacheable;
      const name = inFlightName(cacheable);
      let isFirst = false;
      let ownDeadline: DeadlineExceeded | undefined;
      const onOutcome = (outcome: Outcome | undefined): void => {
        try {
          resolve(outcome && sendOutcome(context, outcome, { isFirst }));
        } catch (error) {
          reject(error);
        }
      };
      const onError = (error: unknown): void => {
        // The deadline of the first client is over, this client's is not.
        if (!isFirst && error !== ownDeadline && error instanceof DeadlineExceeded) joinOrStart();
        else reject(error);
      };
      const joinOrStart = (): void => {
        const request = inFlight.get(name);
        isFirst = request === undefined;
        if (request === undefined) {
          start(name, cacheable).join({ context, onOutcome, onError });
          return;
        }
        ownDeadline = new DeadlineExceeded(deadlineMs);
        const remainingMs = deadlineMs - (clock.monotonicMs() - context.arrivedMs);
        request.join({ context, onOutcome, onError, deadline: { remainingMs, error: ownDeadline } });
      };
      joinOrStart();
    });

  return (context) => {
    // The client disconnected while its key or its limits were looked up: no event would report it again.
    if (context.res.destroyed) return;
    const key = cacheKeyOf(context.endpoint.path, context.query, wantedMediaType(context));
    const entry = key === undefined ? undefined : cache.get(key);
    if (entry !== undefined && isFresh(entry.freshness, clock.monotonicMs()))
      return sendCached(context, entry);
    // A paid response must be complete before it is sent, however long it is.
    if (key === undefined || context.beforeSend !== undefined) return fetchAlone(context, key);
    return fetchShared({ context, key, stale: entry, moment: momentNow(context) });
  };
}

/**
 * Requests with one name are coalesced. A client's tags decide what comes back, unless the stale tag is sent instead; a
 * request that was sent under an earlier head may bring the table of that one.
 */
function inFlightName({ context, key, stale, moment }: CacheableRequest): string {
  const tags = stale?.response.etag === undefined ? clientTags(context) : undefined;
  const name = tags === undefined ? key : `${key}\n${tags}`;
  return moment.epoch === undefined ? name : `${name}\n\n${moment.epochCount}`;
}
