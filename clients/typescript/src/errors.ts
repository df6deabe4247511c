import type { ErrorCode } from "./endpoints.ts";

/** What an answer says of an error. */
export interface ErrorAnswer {
  readonly status: number;
  /** Another text where the instance is newer than the client, `unknown` where something in between has answered. */
  readonly code: ErrorCode | (string & Record<never, never>);
  readonly message: string;
  /** Names the request in the logs of the instance. */
  readonly session: string | undefined;
  /** From Retry-After. */
  readonly retryAfterSeconds: number | undefined;
}

/** An answer that is no table. Of a 400 that is about a parameter it is a ParameterError. */
export class ApiError extends Error implements ErrorAnswer {
  override readonly name: string = "ApiError";
  readonly status: number;
  readonly code: ErrorCode | (string & Record<never, never>);
  readonly session: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, message, session, retryAfterSeconds }: ErrorAnswer) {
    super(message);
    this.status = status;
    this.code = code;
    this.session = session;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A 400: the parameter, the rule that it breaks and, where the rule is about a value, the value as the API shows it. */
export class ParameterError extends ApiError {
  override readonly name = "ParameterError";
  readonly parameter: string;
  readonly rule: string;
  readonly value: string | undefined;

  constructor(answer: ErrorAnswer, broken: BrokenRule) {
    super(answer);
    this.parameter = broken.parameter;
    this.rule = broken.rule;
    this.value = broken.value;
  }
}

/** No answer after all tries, or none within the time of one; the last reason is the cause. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** A payment that would cost more than allowed, or in another asset. Nothing was signed. */
export class SpendLimitError extends Error {
  override readonly name = "SpendLimitError";
}

interface BrokenRule {
  readonly parameter: string;
  readonly rule: string;
  readonly value: string | undefined;
}

/** `Cannot parse limit: 10001 is above 10000.`, the value in quotes where it is no plain number. */
const BROKEN_RULE = /^Cannot parse (.+?): (?:(-?\d+(?:\.\d+)?|"(?:[^"\\]|\\.)*") )?(.+)\.$/s;

/** The error that an answer stands for. */
export function toError(answer: ErrorAnswer): ApiError {
  const [, parameter, value, rule] = BROKEN_RULE.exec(answer.message) ?? [];
  if (answer.code !== "bad_request" || parameter === undefined || rule === undefined)
    return new ApiError(answer);
  return new ParameterError(answer, { parameter, rule, value: value && readValue(value) });
}

function readValue(shown: string): string {
  return shown.startsWith('"') ? String(JSON.parse(shown)) : shown;
}
