import type { Clock } from "../rpc-client/endpoint/clock.ts";
import { createRedactor } from "../rpc-client/endpoint/redact.ts";

/** The part of fetch that a portal needs; tests inject their own. */
export type PortalFetch = (url: string, init: RequestInit) => Promise<Response>;

export interface ExchangeOptions {
  /** The dataset's base URL. */
  readonly url: string;
  readonly fetch: PortalFetch;
  readonly clock: Clock;
  /** To the head of the answer. */
  readonly timeoutMs: number;
}

/** An answer whose body may still come; `cancel` gives it up. */
export interface Answer {
  readonly response: Response;
  cancel(): void;
}

export interface Exchange {
  /** Host and port only: the rest of the URL may hold a key. */
  readonly host: string;
  readonly redact: (text: string) => string;
  /** Rejects as fetch does, and when the head of the answer takes too long. The answer ends with the signal. */
  send(path: string, options: { body?: string; signal: AbortSignal }): Promise<Answer>;
}

export function createExchange({ url: base, fetch, clock, timeoutMs }: ExchangeOptions): Exchange {
  const url = new URL(base);
  const redact = createRedactor(url);
  // Node would ask for any encoding; brotli costs more than it saves at this rate.
  const headers: Record<string, string> = { "accept-encoding": "gzip" };
  if (url.username !== "" || url.password !== "") {
    // fetch rejects URLs with credentials: they go into the header.
    headers.authorization = `Basic ${btoa(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`)}`;
    url.username = "";
    url.password = "";
  }
  const root = url.href.replace(/\/+$/, "");

  return {
    host: url.host,
    redact,
    async send(path, { body, signal }) {
      const ended = new AbortController();
      const cancel = () => ended.abort();
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
      const arrived = new AbortController();
      void clock.sleep(timeoutMs, arrived.signal).then(() => {
        if (!arrived.signal.aborted) ended.abort(new Error(`no answer within ${timeoutMs} ms`));
      });
      try {
        const response = await fetch(`${root}/${path}`, {
          method: body === undefined ? "GET" : "POST",
          headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
          signal: ended.signal,
          ...(body !== undefined && { body }),
        });
        return {
          response,
          cancel() {
            signal.removeEventListener("abort", cancel);
            ended.abort();
          },
        };
      } catch (error) {
        signal.removeEventListener("abort", cancel);
        throw ended.signal.aborted && !signal.aborted ? ended.signal.reason : error;
      } finally {
        arrived.abort();
      }
    },
  };
}

/** undici hides the reason ("fetch failed", "terminated") in the cause. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
