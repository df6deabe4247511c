import { pipeline } from "node:stream";
import type { Response } from "express";
import { TurnEnd } from "../../../services/shared/http/batch-writes.ts";
import { matchesTag } from "../../../services/shared/http/conditional.ts";
import { exchangeOf } from "../../../services/shared/http/exchange.ts";
import { HTTP_TIMEOUTS, keepAliveHeader } from "../../../services/shared/http/server.ts";
import type { RequestContext } from "../../request/context.ts";
import { createCompressor, negotiateEncoding } from "../../request/encoding.ts";
import { badResponse } from "../../request/errors.ts";
import { toLines } from "../../request/header-list.ts";
import type { LiveBody } from "../transport/streamed-body.ts";
import type { Answer } from "../upstream/check-response.ts";
import { type EncodableResponse, layOut } from "./encodable-response.ts";
import { takesReadyHead, writeReadyHead } from "./ready-head.ts";

export type LiveAnswer = Answer & { readonly body: LiveBody };

/** Sends good answers to clients. Where a client has gone, nothing happens. */
export interface Delivery {
  /**
   * Sends a table that is here as a whole, or 304 where the client knows it; `more` are headers besides its own. With
   * `passage.beforeAnswer`, resolves when the answer has been handed to the response; rejects where that rejects.
   */
  sendWhole(
    passage: RequestContext,
    answer: EncodableResponse,
    more: readonly string[],
  ): void | Promise<void>;
  /** Sends a table while it comes. One that breaks off cuts the client's connection: what it has is no whole answer. */
  sendStreamed(passage: RequestContext, answer: LiveAnswer, more: readonly string[]): void;
  /** Sends the service's own 304. */
  sendNotModified(passage: RequestContext, headers: Answer["headers"], more: readonly string[]): void;
}

export function createDelivery(of: {
  readonly isDraining: () => boolean;
  /** For how long a client may leave lie what it is sent of a long answer. */
  readonly stallMs?: number | undefined;
}): Delivery {
  const { isDraining, stallMs = HTTP_TIMEOUTS.stallMs } = of;
  const ending = new TurnEnd(({ res, bytes }: { readonly res: Response; readonly bytes: Buffer }) => {
    if (!res.destroyed) res.end(bytes);
  });
  const writeHead = (passage: RequestContext, status: number, own: readonly string[]): void => {
    const { res, headers, session } = passage;
    // The connection is closed after this answer: the client should not send another request into it.
    if (isDraining()) res.shouldKeepAlive = false;
    const raw = headers === undefined ? (own as string[]) : headers.after(own);
    raw.push("X-Session-Id", session);
    if (res.shouldKeepAlive) raw.push(...keepAliveHeader);
    res.writeHead(status, raw);
  };

  const sendEncoded = (
    passage: RequestContext,
    answer: EncodableResponse,
    more: readonly string[],
  ): void | Promise<void> => {
    const encoding = answer.isCompressible
      ? negotiateEncoding(passage.req.headers["accept-encoding"] as string | undefined)
      : undefined;
    const write = (bytes: Buffer): void => {
      const { req, res } = passage;
      if (res.destroyed) return;
      passage.fields.bytes = bytes.length;
      const { headers, session } = passage;
      // What is set on a response header by header is not among these lines.
      if (headers !== undefined && !isDraining() && takesReadyHead(res)) {
        const own = answer.headerLines(encoding, bytes.length) + toLines(more) + headers.lines();
        writeReadyHead(res, `${own}X-Session-Id: ${session}\r\n`);
      } else writeHead(passage, 200, answer.rawHeaders(encoding, bytes.length).concat(more));
      if (req.method === "HEAD") res.end();
      else ending.add({ res, bytes });
    };
    const encoded = answer.encode(encoding);
    return Buffer.isBuffer(encoded) ? write(encoded) : encoded.then(write);
  };

  const sendWhole: Delivery["sendWhole"] = (passage, answer, more) => {
    const { req, res } = passage;
    if (res.destroyed) return;
    if (answer.etag !== undefined && matchesTag(req.headers["if-none-match"], answer.etag)) {
      writeHead(passage, 304, answer.notModifiedHeaders().concat(more));
      res.end();
      return;
    }
    return sendEncoded(passage, answer, more);
  };

  return {
    sendWhole(passage, answer, more) {
      const { beforeSend, res } = passage;
      if (beforeSend === undefined) return sendWhole(passage, answer, more);
      if (res.destroyed) return;
      return beforeSend(answer).then(async () => {
        if (!res.destroyed) await sendWhole(passage, answer, more);
      });
    },

    sendStreamed(passage, { headers, body }, more) {
      const { req, res, endpoint } = passage;
      if (res.destroyed) {
        body.destroy();
        return;
      }
      const encoding = negotiateEncoding(req.headers["accept-encoding"] as string | undefined);
      const own = layOut(headers, { isCompressible: true }).concat(more);
      if (encoding !== undefined) own.push("Content-Encoding", encoding);
      else if (body.byteLength !== undefined) own.push("Content-Length", String(body.byteLength));
      passage.fields.bytes = body.byteLength;
      writeHead(passage, 200, own);
      if (req.method === "HEAD") {
        body.destroy();
        res.end();
        return;
      }
      // Heard before the client's connection is cut: the log should say that this was no whole answer.
      body.once("error", () => {
        if (body.failure) exchangeOf(res).failure = badResponse(endpoint.family, body.failure);
      });
      expectReading(res, stallMs);
      // What the connection's end means was said above, or the client went away, which it finds out by itself.
      pipeline(encoding === undefined ? [body, res] : [body, createCompressor(encoding), res], () => {});
    },

    sendNotModified(passage, headers, more) {
      const { res } = passage;
      if (res.destroyed) return;
      const { "content-type": _type, ...known } = headers;
      writeHead(passage, 304, layOut(known, { isCompressible: true }).concat(more));
      res.end();
    },
  };
}

/**
 * Cuts a client that does not take in so long what lies here for it, some tens of kilobytes: a long answer holds a
 * connection to its service, of which there are only so many. A client that reads byte by byte is cut too, whom the
 * server's own limit of silence would let pass.
 */
function expectReading(res: RequestContext["res"], stallMs: number): void {
  const isStalled = () => {
    if (res.writableLength > 0) res.destroy();
    else if (!res.writableFinished && !res.destroyed) timer.refresh();
  };
  const timer = setTimeout(isStalled, stallMs);
  res.on("drain", () => timer.refresh());
  res.once("close", () => clearTimeout(timer));
}
