import type { Span } from "@opentelemetry/api";
import type { Request, Response } from "express";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import type { HeaderList } from "./header-list.ts";

/** A service's table, whole and found good, before its first byte goes to the client. */
export interface CompleteResponse {
  readonly body: Buffer;
  /** Those that reach the client, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A request for an endpoint of the catalogue, on its way through the gateway. */
export interface RequestContext {
  readonly req: Request;
  readonly res: Response;
  readonly endpoint: Endpoint;
  /** The query without "?", exactly as the client sent it. */
  readonly query: string;
  readonly session: string;
  /** Monotonic milliseconds of its arrival: the deadline counts from here. */
  readonly arrivedMs: number;
  /** What the access log will say besides route and status: words of our own, never what a client made up. */
  readonly fields: Record<string, unknown>;
  /** Its span, where requests are traced. */
  readonly span?: Span | undefined;
  /**
   * Headers of whatever answer comes of it: those of the host and those of gates. On the hottest path they are written
   * all at once, for which nothing may be set on `res` before. Absent where they are set there.
   */
  readonly headers?: HeaderList;
  /**
   * Told of a good answer, and only of that, by whoever has it (the service, a cache) and waits for it before sending.
   * Where it rejects, with a ServiceError, that goes to the client instead. A payment is settled here.
   */
  readonly beforeSend?: (answer: CompleteResponse) => Promise<void>;
}

/** A step before the service is asked: it throws a ServiceError to refuse. Key check and limits are gates. */
export type Gate = (passage: RequestContext) => void | Promise<void>;

/**
 * The last step: answers the request, or throws. With `beforeAnswer`, resolves when the answer has been handed to the
 * response; what becomes of it there is for who watches the delivery.
 */
export type RequestForwarder = (passage: RequestContext) => void | Promise<void>;

/** The pay-per-request host behind the port of the other one. */
export interface PayHost {
  /** Whether the request names it as its host. */
  matches(req: Request): boolean;
  /** Never rejects. */
  handle(req: Request, res: Response): Promise<void>;
}
