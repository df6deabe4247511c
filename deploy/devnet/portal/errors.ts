import type { ServerResponse } from "node:http";
import type { Random } from "../random.ts";
import type { BlockId } from "./block.ts";
import type { PortalFault } from "./faults.ts";

/** How a portal words its errors: as JSON since July 2026, as plain text before; "mixed" = by chance. */
export type ErrorForm = "json" | "text" | "mixed";

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly retryAfterS?: number | undefined;
}

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  404: "invalid_request_error",
  409: "invalid_request_error",
  429: "rate_limit_error",
};

export function sendRefusal(
  response: ServerResponse,
  { status, code, message, retryAfterS }: Refusal,
  { form, random }: { form: ErrorForm; random: Random },
): void {
  if (retryAfterS !== undefined) response.setHeader("retry-after", String(retryAfterS));
  const isText = form === "text" || (form === "mixed" && random.next() < 0.5);
  if (isText) {
    response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
    response.end(message);
    return;
  }
  const error = {
    type: TYPES[status] ?? "api_error",
    code,
    message,
    request_id: response.getHeader("x-request-id"),
  };
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify({ error }));
}

/** How a fork is told. */
export interface ForkForm {
  /** The specification and the SDK say ascending, the served documentation newest first. */
  readonly order: "ascending" | "descending" | "mixed";
  /** Older portals and HotblocksDB leave out the error. */
  readonly error: boolean | "mixed";
}

/** 409: the blocks that are there instead, one of which is the parent of `fromBlock`. */
export function sendFork(
  response: ServerResponse,
  { blocks, message }: { blocks: readonly BlockId[]; message: string },
  { form, random }: { form: ForkForm; random: Random },
): void {
  const isDescending = form.order === "descending" || (form.order === "mixed" && random.next() < 0.5);
  const hasError = form.error === true || (form.error === "mixed" && random.next() < 0.5);
  const error = { type: TYPES[409], code: "base_block_mismatch", message };
  const body = { previousBlocks: isDescending ? [...blocks].reverse() : blocks, ...(hasError && { error }) };
  response.writeHead(409, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** The refusals among the faults; undefined for one that is none. */
export function refusalOf(
  fault: PortalFault,
  { hasRetryAfter }: { hasRetryAfter: boolean },
): Refusal | undefined {
  const retryAfterS = hasRetryAfter ? 1 : undefined;
  switch (fault) {
    case "limited":
      return { status: 429, code: "overloaded", message: "Too many requests", retryAfterS };
    case "overloaded":
      return { status: 529, code: "overloaded", message: "The portal is overloaded", retryAfterS };
    case "busy":
      return {
        status: 503,
        code: "no_workers",
        message: "No available workers to serve the request",
        retryAfterS,
      };
    case "workerFailure":
      return { status: 500, code: "worker_failure", message: "A worker failed to execute the query" };
    default:
      return undefined;
  }
}
