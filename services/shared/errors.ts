/** The stable codes of the `error` field, each with its one HTTP status. */
export const HTTP_STATUS = {
  bad_request: 400,
  unauthorized: 401,
  payment_required: 402,
  forbidden: 403,
  not_found: 404,
  request_timeout: 408,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
  http_version_not_supported: 505,
} as const;

/** Whether a status reports an error of the server; 505 is the one above 500 that the client causes. */
export function isServerError(status: number): boolean {
  return status >= 500 && status !== HTTP_STATUS.http_version_not_supported;
}

export type ErrorCode = keyof typeof HTTP_STATUS;

/** The JSON body of every error: `session` is the request id, also sent as X-Session-Id. */
export interface ErrorBody {
  readonly error: ErrorCode;
  readonly message: string;
  readonly session: string;
}

/**
 * A failure with a text for the client (`message`) and, apart from it, the cause for the log.
 * Any other thrown value becomes `internal` with a fixed text: internals never reach a client.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ErrorCode;
  readonly retryAfterSeconds: number | undefined;
  /** More fields of the body, after those that every error has. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** A state that other messages already report, such as a first read in progress: no error in the access log. */
  readonly isExpected: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      cause?: unknown;
      retryAfterSeconds?: number;
      details?: Readonly<Record<string, unknown>>;
      isExpected?: boolean;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.details = options.details;
    this.isExpected = options.isExpected ?? false;
  }

  get status(): number {
    return HTTP_STATUS[this.code];
  }
}

/** The error body of a thrown value: that of a ServiceError, `internal` for everything else. */
export function toErrorBody(
  error: unknown,
  session: string,
): { status: number; body: ErrorBody; retryAfterSeconds?: number } {
  if (error instanceof ServiceError) {
    const body = { error: error.code, message: error.message, session, ...error.details };
    return error.retryAfterSeconds === undefined
      ? { status: error.status, body }
      : { status: error.status, body, retryAfterSeconds: error.retryAfterSeconds };
  }
  const body = {
    error: "internal",
    message: "The service failed to answer; the session id names this request in its log.",
    session,
  } as const;
  return { status: HTTP_STATUS.internal, body };
}
