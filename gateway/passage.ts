import type { Request, Response } from "express";
import type { Endpoint } from "../services/shared/contract/endpoint.ts";

/** A request for an endpoint of the catalogue, on its way through the gateway. */
export interface Passage {
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
}

/** A step before the service is asked: it throws a ServiceError to refuse. Key check, limits and payment are gates. */
export type Gate = (passage: Passage) => void | Promise<void>;

/** The last step: answers the request, or throws. A response cache wraps one. */
export type Forward = (passage: Passage) => Promise<void>;
