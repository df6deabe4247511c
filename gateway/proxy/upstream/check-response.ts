import { FORMAT_MEDIA_TYPES } from "../../../services/shared/contract/format.ts";
import { type ErrorBody, HTTP_STATUS } from "../../../services/shared/errors.ts";
import { badResponse, ServiceErrorResponse, tokenRefused } from "../../request/errors.ts";
import type { UpstreamResponse } from "../transport/response-receiver.ts";
import type { UpstreamRequest } from "./express-proxy.ts";

/** Whether the query asks for one of them is the service's to judge. */
const FORMAT_TYPES: ReadonlySet<string> = new Set(Object.values(FORMAT_MEDIA_TYPES));

/**
 * Accepts what may be passed on: a table, or 304 where tags were sent. Throws ServiceErrorResponse for an error in the
 * documented form, and `unavailable` for anything else (a proxy's HTML page, a redirect, a wrong media type).
 */
export function checkResponse(
  { status, headers, body }: UpstreamResponse,
  { context, ifNoneMatch }: UpstreamRequest,
): void {
  const { endpoint, fields } = context;
  const type = headers["content-type"] ?? "";
  if (status === 200 && type === endpoint.mediaType) return;
  const mediaType = type.split(";", 1)[0]?.trim().toLowerCase();
  if (status === 200 && (mediaType === endpoint.mediaType || FORMAT_TYPES.has(type))) return;
  if (status === 304 && ifNoneMatch !== undefined) return;

  if (status === HTTP_STATUS.unauthorized) {
    if (!Buffer.isBuffer(body)) body.destroy();
    throw tokenRefused(endpoint.family, String(fields.upstream));
  }
  const invalid = (why: string) =>
    badResponse(endpoint.family, new Error(`${fields.upstream}: status ${status}, ${why}`));
  if (!Buffer.isBuffer(body)) {
    body.destroy();
    throw invalid("a long body");
  }
  if (status === 200) throw invalid(`media type ${mediaType} in place of ${endpoint.mediaType}`);
  if (status < 400 || mediaType !== "application/json") throw invalid(`media type ${mediaType}`);
  const error = parseErrorBody(body);
  if (!error || HTTP_STATUS[error.error] !== status) throw invalid("a body that is not a documented error");
  throw new ServiceErrorResponse(error.error, error.message, { headers, ...retryAfterOf(headers) });
}

function retryAfterOf(headers: UpstreamResponse["headers"]): { retryAfterSeconds?: number } {
  const seconds = headers["retry-after"];
  return seconds !== undefined && /^\d{1,6}$/.test(seconds) ? { retryAfterSeconds: Number(seconds) } : {};
}

function parseErrorBody(body: Buffer): ErrorBody | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (typeof value !== "object" || value === null) return undefined;
    const { error, message } = value as Partial<Record<keyof ErrorBody, unknown>>;
    return typeof error === "string" && Object.hasOwn(HTTP_STATUS, error) && typeof message === "string"
      ? (value as ErrorBody)
      : undefined;
  } catch {
    return undefined;
  }
}
