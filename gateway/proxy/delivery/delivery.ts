import { pipeline } from "node:stream";
import type { Response } from "express";
import { matchesTag } from "../../../services/shared/http/conditional.ts";
import { getExchange } from "../../../services/shared/http/exchange.ts";
import { HTTP_TIMEOUTS, keepAliveHeader } from "../../../services/shared/http/server.ts";
import { TurnBatch } from "../../../services/shared/http/turn-batch.ts";
import type { RequestContext } from "../../request/context.ts";
import { createCompressor, negotiateEncoding } from "../../request/encoding.ts";
import { badResponse } from "../../request/errors.ts";
import { toLines, writeRawHead } from "../../request/response-head.ts";
import type { UpstreamResponse } from "../transport/response-receiver.ts";
import type { StreamedBody } from "../transport/streamed-body.ts";
import { type EncodableResponse, isCompressed, toRawHeaders } from "./encodable-response.ts";

export type StreamedResponse = UpstreamResponse & { readonly body: StreamedBody };

/** Sends good responses to clients. Where a client has disconnected, nothing happens. */
export interface Delivery {
  /**
   * Sends a complete table, or 304 where the client knows it; `extraHeaders` come after its own. With
   * `context.beforeSend`, resolves when the table has been passed to the response; rejects where that rejects.
   */
  sendComplete(
    context: RequestContext,
    table: EncodableResponse,
    extraHeaders: readonly string[],
  ): void | Promise<void>;
  /** Sends a table while it arrives. One that breaks off cuts the client's connection, so that it cannot look complete. */
  sendStreamed(context: RequestContext, response: StreamedResponse, extraHeaders: readonly string[]): void;
  /** Sends the service's own 304. */
  sendNotModified(
    context: RequestContext,
    headers: UpstreamResponse["headers"],
    extraHeaders: readonly string[],
  ): void;
}

export interface DeliveryOptions {
  readonly isDraining: () => boolean;
  /** For how long a client may take nothing of a streamed table. */
  readonly stallMs?: number | undefined;
  /** Whether Node lets heads be written as text (checkRawHeads); else `res.writeHead` renders them. */
  readonly usesRawHeads?: boolean;
}

export function createDelivery(options: DeliveryOptions): Delivery {
  const { isDraining, stallMs = HTTP_TIMEOUTS.stallMs, usesRawHeads = true } = options;
  // Head and body of a small table as one text are 7 to 10 % slower than two buffers.
  const bodies = new TurnBatch(({ res, bytes }: { readonly res: Response; readonly bytes: Buffer }) => {
    if (!res.destroyed) res.end(bytes);
  });

  const writeHead = (context: RequestContext, status: number, own: readonly string[]): void => {
    const { res, headers, session } = context;
    // The connection closes after this response: the client should not send another request on it.
    if (isDraining()) res.shouldKeepAlive = false;
    const raw = headers === undefined ? (own as string[]) : headers.after(own);
    raw.push("X-Session-Id", session);
    if (res.shouldKeepAlive) raw.push(...keepAliveHeader);
    res.writeHead(status, raw);
  };

  const sendTable: Delivery["sendComplete"] = (context, table, extraHeaders) => {
    const { req, res, headers, session } = context;
    if (res.destroyed) return;
    if (table.etag !== undefined && matchesTag(req.headers["if-none-match"], table.etag)) {
      writeHead(context, 304, table.notModifiedHeaders().concat(extraHeaders));
      res.end();
      return;
    }
    const encoding = table.isCompressible
      ? negotiateEncoding(req.headers["accept-encoding"] as string | undefined)
      : undefined;
    const send = (bytes: Buffer): void => {
      if (res.destroyed) return;
      context.fields.bytes = bytes.length;
      // Headers that are set on the response one by one would be missing among these lines.
      const isPlain = res.shouldKeepAlive && req.method === "GET" && !isDraining();
      if (usesRawHeads && headers !== undefined && isPlain) {
        const lines = table.headerLines(encoding, bytes.length) + toLines(extraHeaders) + headers.lines();
        writeRawHead(res, `${lines}X-Session-Id: ${session}\r\n`);
      } else writeHead(context, 200, table.rawHeaders(encoding, bytes.length).concat(extraHeaders));
      if (req.method === "HEAD") res.end();
      else bodies.add({ res, bytes });
    };
    const encoded = table.encode(encoding);
    return Buffer.isBuffer(encoded) ? send(encoded) : encoded.then(send);
  };

  return {
    sendComplete(context, table, extraHeaders) {
      const { beforeSend, res } = context;
      if (beforeSend === undefined) return sendTable(context, table, extraHeaders);
      if (res.destroyed) return;
      return beforeSend(table).then(async () => {
        if (!res.destroyed) await sendTable(context, table, extraHeaders);
      });
    },

    sendStreamed(context, { headers, body }, extraHeaders) {
      const { req, res, endpoint } = context;
      if (res.destroyed) {
        body.destroy();
        return;
      }
      const isCompressible = !isCompressed(headers);
      const encoding = isCompressible
        ? negotiateEncoding(req.headers["accept-encoding"] as string | undefined)
        : undefined;
      const own = toRawHeaders(headers, { isCompressible }).concat(extraHeaders);
      if (encoding !== undefined) own.push("Content-Encoding", encoding);
      else if (body.byteLength !== undefined) own.push("Content-Length", String(body.byteLength));
      context.fields.bytes = body.byteLength;
      writeHead(context, 200, own);
      if (req.method === "HEAD") {
        body.destroy();
        res.end();
        return;
      }
      // Before the client's connection is cut: the log should say that the response was incomplete.
      body.once("error", () => {
        if (body.failure) getExchange(res).failure = badResponse(endpoint.family, body.failure);
      });
      cutStalledClient(res, stallMs);
      // The listener above has the service's error; a client that disconnects knows so itself.
      pipeline(encoding === undefined ? [body, res] : [body, createCompressor(encoding), res], () => {});
    },

    sendNotModified(context, headers, extraHeaders) {
      const { res } = context;
      if (res.destroyed) return;
      const { "content-type": _type, ...own } = headers;
      writeHead(context, 304, toRawHeaders(own, { isCompressible: true }).concat(extraHeaders));
      res.end();
    },
  };
}

/**
 * Cuts a client that does not read what is buffered for it, some tens of kilobytes, within `stallMs`: a streamed table
 * holds a connection to its service, of which there are few. This also cuts a client that reads byte by byte, which the
 * server's own limit of silence would let pass.
 */
function cutStalledClient(res: RequestContext["res"], stallMs: number): void {
  const check = () => {
    if (res.writableLength > 0) res.destroy();
    else if (!res.writableFinished && !res.destroyed) timer.refresh();
  };
  const timer = setTimeout(check, stallMs);
  res.on("drain", () => timer.refresh());
  res.once("close", () => clearTimeout(timer));
}
