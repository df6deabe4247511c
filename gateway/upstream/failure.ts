import { ServiceError } from "../../services/shared/errors.ts";

const RETRY_AFTER_SECONDS = 2;
/** The connection was never made: the replica is gone, and nothing of the request reached it. */
const NOT_REACHED = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ETIMEDOUT",
  "EADDRNOTAVAIL",
]);
/** The connection broke while in use, as an idle one does when the replica closes it just then. */
const BROKEN = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

export type ConnectionFailure = "not_reached" | "broken";

/** Which kind of connection failure an error is; undefined for anything else. */
export function connectionFailureOf(error: unknown): ConnectionFailure | undefined {
  const code = codeOf(error);
  if (code === undefined) return undefined;
  if (NOT_REACHED.has(code)) return "not_reached";
  return BROKEN.has(code) ? "broken" : undefined;
}

/** Whether an error means that what came back was no HTTP: the parser's and the decompressor's complaints. */
export function isBadHttp(error: unknown): boolean {
  return /^(HPE_|Z_|ERR_)/.test(codeOf(error) ?? "");
}

export function serviceIsDown(family: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `The ${family} service cannot be reached at the moment.`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

export function answerIsBad(family: string, cause: unknown): ServiceError {
  return new ServiceError("unavailable", `The ${family} service gave an answer that cannot be passed on.`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

export function deadlineHasPassed(timeoutMs: number): ServiceError {
  return new ServiceError("request_timeout", `No answer within ${timeoutMs} ms.`);
}

/** Node gives a refused connection to several addresses as one error that holds the others. */
function codeOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  if ("code" in error && typeof error.code === "string") return error.code;
  return error instanceof AggregateError ? codeOf(error.errors[0]) : undefined;
}
