import * as legacyUrl from "node:url";
import proxy from "express-http-proxy";
import type { RequestContext } from "../../request/context.ts";
import type { Pool } from "../transport/pool.ts";
import {
  type ReceiveOptions,
  type ResponseListener,
  ResponseReceiver,
  type UpstreamResponse,
} from "../transport/response-receiver.ts";
import { headersForUpstream, isForwardedHeader, type VariableHeaders } from "./headers.ts";

/** What is requested of a service, for one client or for several that wait for the same response. */
export interface UpstreamRequest extends VariableHeaders {
  /** Of the client, or of the first of several. */
  readonly context: RequestContext;
}

/** One request to one replica. */
export interface UpstreamAttempt {
  /** Closes the connection; the listener is not called any more. */
  abort(): void;
}

/** Sends one request to one replica. Errors are those of the transport (transport/errors.ts). */
export type SendToReplica = (request: UpstreamRequest, listener: ResponseListener) => UpstreamAttempt;

export interface ReplicaOptions {
  readonly url: string;
  readonly pool: Pool;
  /** How long the service may send nothing within a streamed body. */
  readonly maxSilenceMs: number;
}

/** Longer bodies are streamed. */
const MAX_BUFFERED_BYTES = 1_048_576;
/** The longest body that is buffered for `beforeSend`. */
const MAX_COMPLETE_BYTES = 64 * 1_048_576;

/**
 * Sends requests to one replica through express-http-proxy, under these conditions, each the cure of a trap in its
 * version 2.1.2:
 * - It gets neither the client's request nor its response, but shims. So no header of a client travels on that is not
 *   put there, several clients can wait for one response, and a broken response has touched no client yet.
 * - Its transport is ours (its option `sendProxyRequest`; transport/), at a third of the cost of node:http's client.
 *   Its own closes every connection (`connection: close`), hangs when a service dies in the middle of a body, returns
 *   some failures itself as text/plain 504, and piles up listeners on kept connections with `timeout`.
 * - It streams: no userResDecorator, so that long bodies are not buffered whole.
 * - Never its option `headers` (one object for all requests); `parseReqBody` off; an error handler; the path resolved
 *   here, since its own resolver rewrites characters of a target with a fragment.
 */
export function createReplicaSender({ url, pool, maxSilenceMs }: ReplicaOptions): SendToReplica {
  const streaming: ReceiveOptions = {
    maxBufferedBytes: MAX_BUFFERED_BYTES,
    overflow: "stream",
    maxSilenceMs,
  };
  const complete: ReceiveOptions = { maxBufferedBytes: MAX_COMPLETE_BYTES, overflow: "reject", maxSilenceMs };
  const parsed = parsedHost(url);
  const options = {
    parseReqBody: false,
    proxyReqPathResolver: ({ request }: ProxyRequestShim) => {
      const { endpoint, query } = request.context;
      return query === "" ? endpoint.path : `${endpoint.path}?${query}`;
    },
    proxyReqOptDecorator: (_defaults: unknown, { request }: ProxyRequestShim) => ({
      method: "GET",
      headers: headersForUpstream(request.context.session, request),
    }),
    sendProxyRequest: (container: Container) =>
      new Promise<Container>((resolve, reject) => {
        const { req } = container.user;
        if (req.isAborted) throw new Error("The request was aborted before it was sent");
        const { path, headers } = container.proxy.reqBuilder;
        const onResponse = ({ status, headers, body }: UpstreamResponse) => {
          const pipe = (res: ProxyResponseShim) => res.accept(body);
          container.proxy.res = { statusCode: status, headers, pipe };
          resolve(container);
        };
        const options = req.request.context.beforeSend === undefined ? streaming : complete;
        const listener = { onResponse, onError: reject };
        const receiver = new ResponseReceiver(pool, { target: path, headers, options }, listener);
        req.receiver = receiver;
        pool.send(receiver);
      }),
    proxyErrorHandler: (error: unknown, _res: unknown, next: (error: unknown) => void) => next(error),
  };
  const handle = proxy(() => parsed as never, options as never) as unknown as ProxyHandler;

  return (request, listener) => {
    const req = new ProxyRequestShim(request);
    handle(req, new ProxyResponseShim(listener), (error) =>
      listener.onError((error as Error | undefined) ?? new Error("express-http-proxy skipped the request")),
    );
    return req;
  };
}

/**
 * The host as express-http-proxy parses it, which it else does for each request. By the class itself: Node 24 and later
 * print a warning for url.parse outside of packages. @types/node does not declare it.
 */
function parsedHost(url: string): object {
  const { Url } = legacyUrl as unknown as { readonly Url: new () => object };
  const { protocol, hostname, port } = new URL(url);
  return Object.assign(new Url(), { protocol, hostname, port, toString: () => url });
}

type ProxyHandler = (req: ProxyRequestShim, res: ProxyResponseShim, next: (error?: unknown) => void) => void;

/** What express-http-proxy passes from step to step, as far as it is used here. */
interface Container {
  readonly user: { readonly req: ProxyRequestShim };
  readonly proxy: {
    readonly reqBuilder: { readonly path: string; readonly headers: Readonly<Record<string, string>> };
    res?: unknown;
  };
}

const EMPTY = Object.freeze({});

/** Stands for the client's request. */
class ProxyRequestShim implements UpstreamAttempt {
  readonly method = "GET";
  readonly headers = EMPTY;
  readonly params = EMPTY;
  readonly path: string;
  readonly request: UpstreamRequest;
  /** Written by express-http-proxy. */
  body: unknown = undefined;
  receiver: ResponseReceiver | undefined;
  isAborted = false;

  constructor(request: UpstreamRequest) {
    this.request = request;
    this.path = request.context.endpoint.path;
  }

  abort(): void {
    this.isAborted = true;
    this.receiver?.abort();
  }
}

/** Stands for the client's response: takes status and headers, and then the body. */
class ProxyResponseShim {
  readonly headersSent = false;
  readonly #headers: Record<string, string> = {};
  readonly #listener: ResponseListener;
  #status = 0;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }
  status(code: number): void {
    this.#status = code;
  }
  set(name: string, value: string): void {
    if (isForwardedHeader(name)) this.#headers[name] = value;
  }
  getHeaders(): Readonly<Record<string, string>> {
    return this.#headers;
  }
  accept(body: UpstreamResponse["body"]): void {
    this.#listener.onResponse({ status: this.#status, headers: this.#headers, body });
  }
}
