import type { Cell } from "../../services/shared/contract/column.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { describeError } from "../../services/shared/logging/log-text.ts";

/** An endpoint's table with what its headers say of it. */
export interface Answer {
  readonly endpoint: Endpoint;
  readonly rows: readonly (readonly Cell[])[];
  /** Rows of all pages, where that is known. */
  readonly total: number | undefined;
  /** The block (slot on Solana) that it was made from; undefined where the table has none. */
  readonly block: number | undefined;
  /** Time of that block, ISO 8601. */
  readonly asOf: string | undefined;
  /** Which part is older than it should be. */
  readonly stale: string | undefined;
  /** From this block on all LP positions of a wallet are known. */
  readonly positionsFromBlock: number | undefined;
}

/** Asks an endpoint of the gateway. Throws AskError for whatever is not a table. */
export type Ask = (
  endpoint: Endpoint,
  query: Readonly<Record<string, string>>,
  signal?: AbortSignal,
) => Promise<Answer>;

/** Who asks for one call of a tool. */
export interface Asker {
  readonly ask: Ask;
  /** What the result tells programs beside its text (`_meta` of the protocol), once the call is over. */
  meta?(): Readonly<Record<string, unknown>> | undefined;
}

/** A refusal of the API, or no answer at all; the message is the sentence for the tool's caller. */
export class AskError extends Error {
  override readonly name = "AskError";
  /** The stable code of the API's error, `unreachable` where there was no answer. */
  readonly code: string;
  /** What programs read in place of the sentence. */
  readonly structured: Readonly<Record<string, unknown>> | undefined;

  constructor(code: string, message: string, structured?: Readonly<Record<string, unknown>>) {
    super(message);
    this.code = code;
    this.structured = structured;
  }
}

/**
 * Asks over HTTP with a key. Both servers do, the one behind /mcp too: so a tool call passes the same gates as any client, and
 * costs what its endpoint costs.
 */
export function createAsk({ baseUrl, key }: { readonly baseUrl: string; readonly key: string }): Ask {
  const headers = { "X-API-KEY": key };
  return async (endpoint, query, signal) => {
    const { response, body } = await requestTable(baseUrl, { endpoint, query, headers, signal });
    if (response.status !== 200) throw toAskError(response, body);
    return toAnswer(endpoint, response.headers, body);
  };
}

/** One GET of an endpoint, whatever the answer. Throws AskError where there is none that can be read. */
export async function requestTable(
  baseUrl: string,
  {
    endpoint,
    query,
    headers,
    signal,
  }: {
    readonly endpoint: Endpoint;
    readonly query: Readonly<Record<string, string>>;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal | undefined;
  },
): Promise<{ readonly response: Response; readonly body: unknown }> {
  const search = new URLSearchParams(query).toString();
  const url = `${baseUrl}${endpoint.path}${search === "" ? "" : `?${search}`}`;
  const init = { headers: { ...headers, Accept: "application/json" }, signal: signal ?? null };
  const response = await fetch(url, { ...init, redirect: "error" }).catch((error) => {
    throw new AskError("unreachable", `No answer from ${baseUrl}: ${reasonOf(error)}.`);
  });
  const body: unknown = await response.json().catch((error) => {
    throw new AskError("unreachable", `The answer of ${baseUrl} cannot be read: ${reasonOf(error)}.`);
  });
  return { response, body };
}

/** fetch tells nothing but "fetch failed"; why is in its cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return describeError(cause).replace(/\.$/, "");
}

export function toAskError({ status, headers }: Response, body: unknown): AskError {
  const { error, message, session } = (body ?? {}) as Record<string, unknown>;
  const retryAfter = headers.get("retry-after");
  const sentence = typeof message === "string" ? message : `The gateway answered with status ${status}.`;
  const wait = retryAfter === null ? "" : ` Try again in ${retryAfter} s.`;
  const trace = status >= 500 && typeof session === "string" ? ` (session ${session})` : "";
  return new AskError(typeof error === "string" ? error : `http_${status}`, `${sentence}${wait}${trace}`);
}

/** Throws AskError where the body is no table of this endpoint. */
export function toAnswer(endpoint: Endpoint, headers: Headers, body: unknown): Answer {
  const table = (Array.isArray(body) ? body[0] : body) as { columns?: { name: string }[]; data?: Cell[][] };
  const sent = table?.columns?.map(({ name }) => name).join();
  const rows = table?.data;
  if (rows === undefined || sent !== endpoint.columns.map(({ name }) => name).join()) {
    throw new AskError(
      "version",
      `The answer of ${endpoint.path} has other columns than this version knows: gateway and MCP server are of different versions.`,
    );
  }
  const numberOf = (name: string) => {
    const text = headers.get(name);
    return text === null ? undefined : Number(text);
  };
  return {
    endpoint,
    rows,
    total: numberOf("x-total-count"),
    block: numberOf("x-data-block"),
    asOf: headers.get("x-data-as-of") ?? undefined,
    stale: headers.get("x-data-stale") ?? undefined,
    positionsFromBlock: numberOf("x-data-positions-from-block"),
  };
}

/** A row by the names of its columns. */
export type NamedRow = Readonly<Record<string, Cell>>;

export function namedRows({ endpoint, rows }: Answer): NamedRow[] {
  return rows.map((row) =>
    Object.fromEntries(endpoint.columns.map(({ name }, at) => [name, row[at] as Cell])),
  );
}
