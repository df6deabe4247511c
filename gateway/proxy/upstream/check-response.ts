import { type ErrorBody, STATUS_OF } from "../../../services/shared/errors.ts";
import { badResponse, ServiceErrorResponse, tokenRefused } from "../../request/errors.ts";
import type { LiveBody } from "../transport/streamed-body.ts";
import type { Question } from "./question.ts";

/** What a replica answered: the headers that may reach a client, names in lower case. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | LiveBody;
}

/**
 * Lets pass what may be passed on: a table, or 304 where tags were sent. Throws ServiceRefusal for an error in
 * the documented form, and `unavailable` for anything else (a proxy's HTML page, a redirect, a wrong media type).
 */
export function acceptAnswer(answer: Answer, { endpoint, ifNoneMatch, fields }: Question): void {
  const { status, headers, body } = answer;
  const type = headers["content-type"] ?? "";
  if (status === 200 && type === endpoint.mediaType) return;
  const mediaType = type.split(";", 1)[0]?.trim().toLowerCase();
  if (status === 200 && mediaType === endpoint.mediaType) return;
  if (status === 304 && ifNoneMatch !== undefined) return;

  if (status === STATUS_OF.unauthorized) {
    if (!Buffer.isBuffer(body)) body.destroy();
    throw tokenRefused(endpoint.family, String(fields.upstream));
  }
  const refuse = (why: string) =>
    badResponse(endpoint.family, new Error(`${fields.upstream}: status ${status}, ${why}`));
  if (!Buffer.isBuffer(body)) {
    body.destroy();
    throw refuse("a long body");
  }
  if (status === 200) throw refuse(`media type ${mediaType} in place of ${endpoint.mediaType}`);
  if (status < 400 || mediaType !== "application/json") throw refuse(`media type ${mediaType}`);
  const error = parseErrorBody(body);
  if (!error || STATUS_OF[error.error] !== status) throw refuse("a body that is not an error of ours");
  throw new ServiceErrorResponse(error.error, error.message, { headers, ...retryAfterOf(headers) });
}

function retryAfterOf(headers: Answer["headers"]): { retryAfterSeconds?: number } {
  const seconds = headers["retry-after"];
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? { retryAfterSeconds: Number(seconds) } : {};
}

function parseErrorBody(body: Buffer): ErrorBody | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value !== "object" || value === null) return undefined;
    const { error, message } = value as Partial<Record<keyof ErrorBody, unknown>>;
    return typeof error === "string" && Object.hasOwn(STATUS_OF, error) && typeof message === "string"
      ? (value as ErrorBody)
      : undefined;
  } catch {
    return undefined;
  }
}
