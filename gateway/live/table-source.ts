import { randomUUID } from "node:crypto";
import type { Request, Response } from "express";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { ServiceError } from "../../services/shared/errors.ts";
import type { UpstreamResponse } from "../proxy/transport/response-receiver.ts";
import type { UpstreamClient } from "../proxy/upstream/client.ts";
import type { Clock } from "../request/clock.ts";
import { badResponse, serviceUnavailable } from "../request/errors.ts";
import type { TableHead } from "./event.ts";
import { type Row, readRows } from "./table-rows.ts";

/** A table of one block. */
export interface Table {
  readonly head: TableHead;
  readonly etag: string;
  readonly rows: readonly Row[];
  /** The query of the next page, where the service says that there is one. */
  readonly nextQuery: string | undefined;
}

export interface TableQuery {
  readonly endpoint: Endpoint;
  readonly query: string;
  readonly chain: number;
}

/** Asks a service for a table. Rejects with a ServiceError. */
export type FetchTable = (query: TableQuery) => Promise<Table>;

export interface TableSourceOptions {
  readonly client: Pick<UpstreamClient, "send">;
  readonly clock: Clock;
  /** Requests at once; more wait. A block is news for all streams at the same moment. */
  readonly maxRequests?: number;
}

const MAX_REQUESTS = 32;

/** Asks as the gateway asks for its clients, on behalf of none of them: once for all streams of a table. */
export function createTableSource({
  client,
  clock,
  maxRequests = MAX_REQUESTS,
}: TableSourceOptions): FetchTable {
  const waiting: (() => void)[] = [];
  let running = 0;

  const send = ({ endpoint, query }: TableQuery): Promise<UpstreamResponse> =>
    new Promise((onResponse, onError) => {
      const context = {
        // No header of a client travels on, and nothing is sent to one from here.
        ...{ req: { headers: {} } as Request, res: {} as Response },
        ...{ endpoint, query, session: randomUUID(), arrivedMs: clock.monotonicMs(), fields: {} },
      };
      client.send({ context, ifNoneMatch: undefined }, { onResponse, onError });
    });

  return async (query) => {
    if (running >= maxRequests) await new Promise<void>((resolve) => waiting.push(resolve));
    running += 1;
    try {
      return toTable(await send(query), query);
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };
}

function toTable({ headers, body }: UpstreamResponse, { endpoint, chain }: TableQuery): Table {
  if (!Buffer.isBuffer(body)) {
    body.destroy();
    throw new ServiceError(
      "bad_request",
      "The table is too long to be live: at most 1 MiB. Ask for fewer rows by limit, or for some of them by a filter.",
    );
  }
  const block = headers["x-data-block"];
  const etag = headers.etag;
  // A table of no block: nothing is indexed yet.
  if (block === undefined || etag === undefined) throw serviceUnavailable(endpoint.family);
  const hash = headers["x-data-block-hash"];
  if (hash === undefined) {
    throw badResponse(endpoint.family, new Error("the service names no hash: it is of an older version"));
  }
  const time = Date.parse(headers["x-data-as-of"] ?? "") / 1000;
  const next = /^<[^>?]*\?([^>]*)>; rel="next"/.exec(headers.link ?? "");
  try {
    const rows = readRows(endpoint, body);
    return { head: { chain, block: Number(block), hash, time }, etag, rows, nextQuery: next?.[1] };
  } catch (error) {
    throw badResponse(endpoint.family, error);
  }
}
