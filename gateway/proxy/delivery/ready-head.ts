import type { Response } from "express";
import { keepAliveHeader } from "../../../services/shared/http/server.ts";
import { toLines } from "../../request/header-list.ts";

const KEPT = toLines(["Connection", "keep-alive", ...keepAliveHeader]);

/** What node:http keeps the head of an answer in, from when it is put together until it is sent. */
interface Inside {
  _header: string | null;
}

/** Whether an answer's head may be written by `writeReadyHead`: 200 on a connection that is kept. */
export function takesReadyHead(res: Response): boolean {
  return res.shouldKeepAlive && res.req.method === "GET";
}

/**
 * Writes the head of a 200 whose header lines are there as text; one of them is Content-Length. `res.writeHead` makes
 * the same text, header by header, and judges the letters of each name and value anew, which is a tenth of what a short
 * answer costs. Here whoever made the lines vouches for them: those of services were judged when they were read
 * (upstream/transport/head.ts), the others are ours.
 */
export function writeReadyHead(res: Response, lines: string): void {
  (res as unknown as Inside)._header = `HTTP/1.1 200 OK\r\n${lines}Date: ${httpDate()}\r\n${KEPT}\r\n`;
}

let lastSecond = 0;
let lastText = "";

function httpDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastText = new Date(nowMs).toUTCString();
  }
  return lastText;
}
