import { TableCache } from "./cache.ts";
import { type Endpoints, type LIVE_KEYS, MAX_LIMITS } from "./endpoints.ts";
import { type ErrorAnswer, toError, UnreachableError } from "./errors.ts";
import { type LiveEvent, LiveReader } from "./live.ts";
import { type PaymentOptions, Wallet } from "./payment.ts";
import { type RetryOptions, readRetryAfter, retry, waitByTimer } from "./retry.ts";
import { readTable, type Table } from "./table.ts";

export type Path = keyof Endpoints;
export type PagedPath = keyof typeof MAX_LIMITS;
/** Tables that can be followed. */
export type LivePath = keyof typeof LIVE_KEYS;
export type ParamsOf<P extends Path> = Endpoints[P]["params"];
export type RowOf<P extends Path> = Endpoints[P]["row"];

export interface ClientOptions {
  /** Where the instance answers, such as `http://127.0.0.1:8080`; with `payment`, its pay-per-request host. */
  readonly url: string;
  readonly apiKey?: string | undefined;
  /** Pays for requests in place of a key. */
  readonly payment?: PaymentOptions | undefined;
  readonly retry?: RetryOptions | undefined;
  /** Rows of tables that are kept, to ask only whether they have changed; 50,000 by default, 0 keeps none, as `payment` does. */
  readonly cacheRows?: number | undefined;
  /** The longest that one try may take; 60,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** In place of the platform's. */
  readonly fetch?: typeof fetch | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Parameters may be left out where none is required. */
type Call<P extends Path> =
  Partial<ParamsOf<P>> extends ParamsOf<P>
    ? [params?: ParamsOf<P>, options?: CallOptions]
    : [params: ParamsOf<P>, options?: CallOptions];

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Asks one instance of chaintables. */
export class Client {
  readonly #options: ClientOptions;
  readonly #cache: TableCache<Table<unknown>>;
  readonly #wallet: Wallet | undefined;

  constructor(options: ClientOptions) {
    if (options.apiKey !== undefined && options.payment !== undefined)
      throw new TypeError("A client has an apiKey or a payment: the pay-per-request host takes no key.");
    this.#options = options;
    this.#cache = new TableCache(options.payment === undefined ? (options.cacheRows ?? 50_000) : 0);
    this.#wallet = options.payment && new Wallet(options.payment);
  }

  /** What this client has signed payments for, in base units of the asset. */
  get signed(): bigint {
    return this.#wallet?.signed ?? 0n;
  }

  /** One table. A table that has not changed is the same object as before: treat it as read-only. */
  async get<P extends Path>(path: P, ...[params, options]: Call<P>): Promise<Table<RowOf<P>>> {
    const url = this.#urlOf(path, params ?? {});
    const known = this.#cache.get(url);
    const headers: Record<string, string> = { Accept: "application/json" };
    if (this.#options.apiKey !== undefined) headers["X-API-KEY"] = this.#options.apiKey;
    if (known !== undefined) headers["If-None-Match"] = known.etag;
    let answer = await this.#ask(url, headers, options?.signal);
    if (answer.status === 402 && this.#wallet !== undefined) {
      headers["PAYMENT-SIGNATURE"] = await this.#wallet.pay(answer.body);
      // Whatever fails from here on, the same payment is sent again: it is charged once.
      answer = await this.#ask(url, headers, options?.signal);
    }
    if (answer.status === 304 && known !== undefined) return known.table as Table<RowOf<P>>;
    const table = answer.status === 200 ? readTable<RowOf<P>>(answer.body, answer.headers) : undefined;
    if (table === undefined) throw toError(describeError(answer));
    const etag = answer.headers.get("etag");
    if (etag !== null) this.#cache.set(url, { etag, table });
    return table;
  }

  /**
   * The pages of a list, from `offset` on; `limit` is the rows of a page, as many as the endpoint allows by default. Each page
   * is whole, and the next may be of a later block.
   */
  async *pages<P extends PagedPath>(path: P, ...[params, options]: Call<P>): AsyncGenerator<Table<RowOf<P>>> {
    const limit = params?.limit ?? MAX_LIMITS[path];
    let offset: number | undefined = params?.offset ?? 0;
    const first = offset;
    while (offset !== undefined) {
      const call = [{ ...params, limit, offset }, options] as unknown as Call<P>;
      const page: Table<RowOf<P>> = await this.get(path, ...call);
      // Where the number of rows is not known, an empty page may follow the last one.
      if (page.rows.length > 0 || offset === first) yield page;
      offset = page.nextOffset !== undefined && page.nextOffset > offset ? page.nextOffset : undefined;
    }
  }

  /** The rows of all pages. */
  async *rows<P extends PagedPath>(path: P, ...call: Call<P>): AsyncGenerator<RowOf<P>> {
    for await (const page of this.pages(path, ...call)) yield* page.rows;
  }

  /**
   * The table, then what each block changes in it and what a reorg takes back, until `signal` aborts or you stop reading. A stream
   * that breaks off is resumed behind its last event. Throws an ApiError where the instance refuses, at the beginning or later
   * (limits, the key).
   */
  async *live<P extends LivePath>(
    path: P,
    ...[params, options]: Call<P>
  ): AsyncGenerator<LiveEvent<RowOf<P>>> {
    if (this.#wallet !== undefined)
      throw new TypeError("Streams are not sold by the request: use an apiKey.");
    const url = this.#urlOf(path, params ?? {});
    const reader = new LiveReader<RowOf<P>>();
    for (;;) {
      const open = () => this.#openStream(url, reader.lastId, options?.signal);
      const body = await retry(open, this.#options.retry ?? {}, options?.signal);
      try {
        yield* reader.read(body);
      } catch (error) {
        options?.signal?.throwIfAborted();
        if (!(error instanceof UnreachableError)) throw error;
      }
      options?.signal?.throwIfAborted();
      await (this.#options.retry?.wait ?? waitByTimer)(reader.retryMs, options?.signal);
    }
  }

  async #openStream(url: string, lastId: string | undefined, signal: AbortSignal | undefined) {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (this.#options.apiKey !== undefined) headers["X-API-KEY"] = this.#options.apiKey;
    if (lastId !== undefined) headers["Last-Event-ID"] = lastId;
    const ask = this.#options.fetch ?? fetch;
    const response = await ask(url, { headers, redirect: "error", signal: signal ?? null }).catch((cause) => {
      signal?.throwIfAborted();
      throw new UnreachableError(`No answer from ${new URL(url).origin}.`, { cause });
    });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (isStream && response.body !== null) return response.body;
    const { status, headers: sent } = response;
    throw toError(describeError({ status, headers: sent, body: parse(await response.text()) }));
  }

  #urlOf(path: string, params: object): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(params))
      if (value !== undefined) query.set(name, Array.isArray(value) ? value.join(",") : String(value));
    const text = query.toString();
    return `${this.#options.url.replace(/\/+$/, "")}${path}${text === "" ? "" : `?${text}`}`;
  }

  /** Asks until there is an answer that asking again would not change. */
  #ask(url: string, headers: Record<string, string>, signal: AbortSignal | undefined): Promise<Answer> {
    const ask = async () => {
      const answer = await this.#askOnce(url, headers, signal);
      if (answer.status === 429 || answer.status === 503) throw toError(describeError(answer));
      return answer;
    };
    return retry(ask, this.#options.retry ?? {}, signal);
  }

  async #askOnce(url: string, headers: Record<string, string>, signal?: AbortSignal): Promise<Answer> {
    const timeout = AbortSignal.timeout(this.#options.timeoutMs ?? 60_000);
    const ask = this.#options.fetch ?? fetch;
    try {
      const response = await ask(url, {
        headers,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        // Another host would get the key.
        redirect: "error",
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: parse(text) };
    } catch (error) {
      signal?.throwIfAborted();
      throw new UnreachableError(`No answer from ${new URL(url).origin}.`, { cause: error });
    }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describeError({ status, headers, body }: Answer): ErrorAnswer {
  const { error, message, session } = (body ?? {}) as Record<string, unknown>;
  return {
    status,
    code: typeof error === "string" ? error : "unknown",
    message:
      typeof message === "string"
        ? message
        : `The answer of status ${status} is no table and no error of chaintables.`,
    session: typeof session === "string" ? session : undefined,
    retryAfterSeconds: readRetryAfter(headers.get("retry-after")),
  };
}
