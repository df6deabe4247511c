import { type ErrorCode, ServiceError } from "../../services/shared/errors.ts";

const RETRY_AFTER_SECONDS = 2;

export function serviceUnavailable(family: string, cause?: unknown): ServiceError {
  return new ServiceError("unavailable", `The ${family} service cannot be reached at the moment.`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

export function badResponse(family: string, cause: unknown): ServiceError {
  return new ServiceError("unavailable", `The ${family} service gave an answer that cannot be passed on.`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
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

/** The deadline passed before the service had answered. */
export class DeadlineExceeded extends ServiceError {
  constructor(timeoutMs: number) {
    super("request_timeout", `No answer within ${timeoutMs} ms.`);
  }
}

/** An error that the service itself answered, to be passed on under the session of each client that asked. */
export class ServiceErrorResponse extends ServiceError {
  /** Headers of the answer that the client should see, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly headers: Readonly<Record<string, string>>; readonly retryAfterSeconds?: number },
  ) {
    const { retryAfterSeconds } = options;
    // Why it cannot answer is in the service's own log and in /readyz.
    const isExpected = code === "unavailable";
    super(code, message, { isExpected, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
    this.headers = options.headers;
  }
}

/** Nobody waits for the answer any more. */
export class RequestCancelled extends Error {
  override readonly name = "Abandoned";
}
