import type { IncomingMessage } from "node:http";
import { type ErrorBody, STATUS_OF } from "../../services/shared/errors.ts";
import type { Passage } from "../passage.ts";
import { answerIsBad } from "./failure.ts";

/**
 * The body to pass on for a service's answer. A table passes as it is; an error passes if it has the documented form.
 * Anything else (a proxy's HTML page, a redirect, a wrong media type) throws `unavailable`.
 */
export function acceptAnswer(
  answer: IncomingMessage,
  body: Buffer,
  { endpoint, session, fields }: Passage,
): Buffer {
  const status = answer.statusCode ?? 0;
  const mediaType = (answer.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  const refuse = (why: string) =>
    answerIsBad(endpoint.family, new Error(`${fields.upstream}: status ${status}, ${why}`));

  if (status === 200) {
    if (mediaType !== endpoint.mediaType)
      throw refuse(`media type ${mediaType} in place of ${endpoint.mediaType}`);
    return body;
  }
  if (status < 400 || mediaType !== "application/json") throw refuse(`media type ${mediaType}`);
  const error = parseErrorBody(body);
  if (!error || STATUS_OF[error.error] !== status) throw refuse("a body that is not an error of ours");
  // The service was told the session; should it have lost it, the client still gets the one that finds its log lines.
  return error.session === session ? body : Buffer.from(JSON.stringify({ ...error, session }));
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
