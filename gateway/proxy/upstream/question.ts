import type { Span } from "@opentelemetry/api";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import type { ReceiveOptions } from "../transport/response-receiver.ts";

/** What is asked of a service, for one client or for several that asked the same. */
export interface Question {
  readonly endpoint: Endpoint;
  /** The query without "?", as a client sent it; printable ASCII. */
  readonly query: string;
  /** Names the request in the service's log, and in the error that it may answer. */
  readonly session: string;
  /** Entity tags that make 304 a useful answer. */
  readonly ifNoneMatch: string | undefined;
  readonly reading: ReceiveOptions;
  /** Milliseconds left until the deadline. */
  readonly leftMs: number;
  /** Fields of the access log: which replica was asked, and how long it took. */
  readonly fields: Record<string, unknown>;
  /** Of the request that asks, or asks first. */
  readonly span?: Span | undefined;
  /** Headers that carry its trace on. */
  readonly trace?: Readonly<Record<string, string>> | undefined;
}
