import type { Span } from "@opentelemetry/api";
import type { Request, Response } from "express";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import type { HeaderList } from "./response-head.ts";

/** A service's table, complete and valid, before its first byte goes to the client. */
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
  /** Fields of the access log besides route and status: the gateway's own words, never what a client sent. */
  readonly fields: Record<string, unknown>;
  /** Where requests are traced. */
  readonly span?: Span | undefined;
  /**
   * Headers of the response, whatever it is: those of the host and of the gates. On the hot path they are written at
   * once, for which none may be set on `res` before. Absent where they are set there.
   */
  readonly headers?: HeaderList;
  /**
   * Called with a good response, and only with that, before its first byte is sent; sending waits for it. Where it
   * rejects, with a ServiceError, that error is sent instead. A payment is settled here.
   */
  readonly beforeSend?: (response: CompleteResponse) => Promise<void>;
}

/** A check before the request goes to the service: throws a ServiceError to refuse. Key check and limits are gates. */
export type Gate = (context: RequestContext) => void | Promise<void>;

/**
 * The last step: ends the request with a response, or throws. With `beforeSend`, resolves when the table has been passed
 * to the response; whether it arrives is for those who watch the delivery.
 */
export type RequestForwarder = (context: RequestContext) => void | Promise<void>;

/** The pay-per-request host behind the port of the other one. */
export interface PayHost {
  /** Whether the request names it as its host. */
  matches(req: Request): boolean;
  /** Never rejects. */
  handle(req: Request, res: Response): Promise<void>;
}
