/** Errors that a request for a table can end with, and how they are sent. */

import type { Response } from "express";
import { type ErrorCode, ServiceError } from "../../services/shared/errors.ts";
import { sendErrorBody } from "../../services/shared/http/exchange.ts";

const RETRY_AFTER_SECONDS = 2;

export function serviceUnavailable(family: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `The ${family} service cannot be reached at the moment.`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

export function badResponse(family: string, cause: unknown): ServiceError {
  return new ServiceError(
    "unavailable",
    `The ${family} service returned a response that cannot be passed on.`,
    {
      cause,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}

/**
 * The service refuses this gateway. Clients get 503: a 401 would wrongly blame their own key. The log has the cause.
 */
export function tokenRefused(family: string, upstream: string): ServiceError {
  return serviceUnavailable(family, new TokenRefused(upstream));
}

export class TokenRefused extends Error {
  override readonly name = "TokenRefused";
  constructor(upstream: string) {
    super(
      `${upstream} refuses this gateway's SERVICE_TOKEN: it is missing here, or not in the service's list`,
    );
  }
}

/** The deadline passed before the service had responded. */
export class DeadlineExceeded extends ServiceError {
  constructor(timeoutMs: number) {
    super("request_timeout", `No answer within ${timeoutMs} ms.`);
  }
}

/** The client has gone, or every client that waited. */
export class RequestCancelled extends Error {
  override readonly name = "RequestCancelled";
}

/** An error that the service itself returned, passed on under the session of each client that waits for it. */
export class ServiceErrorResponse extends ServiceError {
  /** Headers of the response that the client should see, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly headers: Readonly<Record<string, string>>; readonly retryAfterSeconds?: number },
  ) {
    const { retryAfterSeconds } = options;
    // Why the service cannot answer is in its own log and in /readyz.
    const isExpected = code === "unavailable";
    super(code, message, { isExpected, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
    this.headers = options.headers;
  }
}

/** Headers of a service's error that describe the request; the gateway makes the others itself. */
const FORWARDED_ERROR_HEADERS = ["x-ignored-parameters"];

/** Ends a request with an error. */
export function sendError(res: Response, error: unknown): void {
  if (!res.headersSent) {
    if (error instanceof ServiceErrorResponse) {
      for (const name of FORWARDED_ERROR_HEADERS) {
        const value = error.headers[name];
        if (value !== undefined) res.setHeader(name, value);
      }
    }
    if (error instanceof ServiceError && error.code === "unauthorized") {
      res.setHeader("WWW-Authenticate", 'ApiKey header="X-API-KEY"');
    }
  }
  sendErrorBody(res, error);
}
