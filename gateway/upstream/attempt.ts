import type { Agent } from "node:http";
import proxy from "express-http-proxy";
import type { Clock } from "../clock.ts";
import type { Passage } from "../passage.ts";
import { acceptAnswer } from "./answer.ts";
import { headersForUpstream, keepAnswerHeaders } from "./headers.ts";
import type { Upstream } from "./upstream.ts";

export interface AttemptOptions {
  readonly upstream: Upstream;
  readonly agent: Agent;
  readonly clock: Clock;
  /** Aborted when the deadline passes. */
  readonly signal: AbortSignal;
  readonly isDraining: () => boolean;
}

/**
 * Asks one replica and answers the client; resolves when the client's connection has the whole answer or is gone.
 * Rejects with what went wrong while nothing has been sent to the client yet.
 *
 * express-http-proxy does the work under these conditions, each the cure of a trap in its version 2.1.2:
 * - an agent of ours and no `connection` header, else it closes every connection;
 * - never its option `headers` (one object for all requests) nor its `timeout` (listeners pile up on kept connections);
 * - an error handler, else it answers some failures itself as text/plain 504;
 * - a userResDecorator, else it streams, and a service that dies in the middle hangs the client;
 * - parseReqBody off; requests with a body must be refused before, since it would write the body onto the kept
 *   connection unframed, where it reads as the next request;
 * - the path is resolved here, since its own resolver rewrites characters of a target with a fragment;
 * - HEAD goes upstream as GET, since it would answer HEAD with the length of the empty body.
 */
export function attempt(passage: Passage, options: AttemptOptions): Promise<void> {
  const { req, res, endpoint, session, fields } = passage;
  const { upstream, agent, clock, signal, isDraining } = options;
  const startedMs = clock.monotonicMs();
  const target = passage.query === "" ? endpoint.path : `${endpoint.path}?${passage.query}`;
  let isOpen = true;
  const settle = () => {
    if (!isOpen) return;
    isOpen = false;
    upstream.inFlight -= 1;
    fields.upstreamMs = Math.round((clock.monotonicMs() - startedMs) * 1000) / 1000;
  };
  upstream.inFlight += 1;
  fields.upstream = upstream.name;

  const handle = proxy(upstream.url, {
    parseReqBody: false,
    proxyReqPathResolver: () => target,
    proxyReqOptDecorator: (asked) => ({
      ...asked,
      method: "GET",
      headers: headersForUpstream(req.headers, { session, clientAddress: req.socket.remoteAddress }),
      agent,
      signal,
    }),
    // Called before headers are copied to the client, for every status: the one place where all of them can be cut.
    skipToNextHandlerFilter: (answer) => {
      settle();
      keepAnswerHeaders(answer.headers);
      // The connection is closed after this answer: the client should not send another request into it.
      if (isDraining()) res.shouldKeepAlive = false;
      return false;
    },
    userResDecorator: (answer, body: Buffer) => {
      const accepted = acceptAnswer(answer, body, passage);
      // Express would add a charset; the service's media type stands as it was sent.
      res.setHeader("Content-Type", answer.headers["content-type"] ?? endpoint.mediaType);
      return accepted;
    },
    proxyErrorHandler: (error: unknown, _res, next) => next(error),
  });

  return new Promise((resolve, reject) => {
    res.once("close", resolve);
    void handle(req, res, (error?: unknown) => {
      settle();
      res.off("close", resolve);
      reject(error ?? new Error("The proxy passed the request on"));
    });
  });
}
