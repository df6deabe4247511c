import { bearer, TOKEN_HEADER } from "../../../services/shared/service/service-token.ts";

const TARGET = /^\/[\x21-\x7e]*$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

export interface RequestHead {
  /** Path and query. */
  readonly target: string;
  /** Lines that all requests to this replica share, made once by fixedLines. */
  readonly fixed: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The whole text of a GET. Throws on what would be another line or another request. */
export function renderRequest({ target, fixed, headers }: RequestHead): string {
  if (!TARGET.test(target)) throw new Error("Cannot ask a service: the target is not printable ASCII");
  return `GET ${target} HTTP/1.1\r\n${fixed}${renderLines(headers)}\r\n`;
}

/** The host and, where the service demands it, the token: rendered once, they cost a request nothing. */
export function fixedLines({
  host,
  serviceToken,
}: {
  readonly host: string;
  readonly serviceToken?: string | undefined;
}): string {
  return renderLines({
    host,
    ...(serviceToken !== undefined && { [TOKEN_HEADER]: bearer(serviceToken) }),
  });
}

function renderLines(headers: Readonly<Record<string, string>>): string {
  let text = "";
  for (const name in headers) {
    const value = headers[name] as string;
    if (!VALUE.test(value)) throw new Error(`Cannot ask a service: ${name} holds control characters`);
    text += `${name}: ${value}\r\n`;
  }
  return text;
}
