import { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import type { Response } from "express";
import { keepAliveHeader } from "../../services/shared/http/server.ts";
import type { Log } from "../../services/shared/logging/log.ts";

/** Header lines from names and values in turn. No value may contain a line break. */
export function toLines(headers: readonly string[]): string {
  let lines = "";
  for (let at = 0; at < headers.length; at += 2) lines += `${headers[at]}: ${headers[at + 1]}\r\n`;
  return lines;
}

/** Headers that all responses of a host share: names and values in turn, and as lines. */
export interface FixedHeaders {
  readonly raw: readonly string[];
  readonly lines: string;
}

export function fixHeaders(raw: readonly string[]): FixedHeaders {
  // Flattened, since it is copied into every response.
  return { raw, lines: Buffer.from(toLines(raw), "latin1").toString("latin1") };
}

/** Headers of one response that are written at once. */
export class HeaderList {
  readonly #fixed: FixedHeaders;
  readonly #own: string[] = [];

  constructor(fixed: FixedHeaders) {
    this.#fixed = fixed;
  }

  setHeader(name: string, value: string): void {
    this.#own.push(name, value);
  }

  /** `first` and then these headers: names and values in turn, as writeHead takes them. */
  after(first: readonly string[]): string[] {
    return first.concat(this.#fixed.raw, this.#own);
  }

  /** All of them as lines. */
  lines(): string {
    return this.#fixed.lines + toLines(this.#own);
  }

  /** Sets them on a response whose headers are set one by one. */
  setOn(res: Response): void {
    for (const list of [this.#fixed.raw, this.#own]) {
      for (let at = 0; at < list.length; at += 2) res.setHeader(list[at] as string, list[at + 1] as string);
    }
  }
}

/** The private field in which node:http keeps a response's head from when it is rendered until it is sent. */
interface WithHeader {
  _header: string | null;
}

const END_OF_HEAD = `${toLines(["Connection", "keep-alive", ...keepAliveHeader])}\r\n`;

/**
 * Writes the head of a 200 to a GET on a connection that stays open, from header lines that include Content-Length.
 * `res.writeHead` renders the same text header by header and checks every letter again: a tenth of the CPU of a short
 * response. Here the lines have been checked: a service's when they were parsed (proxy/transport/http1.ts), the others
 * are the gateway's own.
 */
export function writeRawHead(res: ServerResponse, lines: string): void {
  (res as unknown as WithHeader)._header = `HTTP/1.1 200 OK\r\n${lines}Date: ${httpDate()}\r\n${END_OF_HEAD}`;
}

/** Returns whether node:http still sends what is in `_header` as the head; tried on a response that has no client. */
export function supportsRawHeads(
  createResponse: (req: IncomingMessage) => ServerResponse = (req) => new ServerResponse(req),
): boolean {
  let sent = "";
  const connection = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      sent += chunk.toString("latin1");
      done();
    },
  });
  const req = Object.assign(new IncomingMessage(connection as Socket), { method: "GET" });
  const res = createResponse(req);
  res.assignSocket(connection as Socket);
  if ((res as unknown as WithHeader)._header !== null) return false;
  writeRawHead(res, "Content-Length: 2\r\n");
  const { headersSent } = res;
  res.end("ok");
  return (
    headersSent &&
    /^HTTP\/1\.1 200 OK\r\nContent-Length: 2\r\nDate: [^\r]+\r\n(?:[^\r]+\r\n)+\r\nok$/.test(sent)
  );
}

/** The same, with a warning where this Node has changed: heads are then rendered by `writeHead`. */
export function checkRawHeads(log: Pick<Log, "warn">, isSupported = supportsRawHeads()): boolean {
  if (!isSupported) {
    log.warn(
      { node: process.version },
      "this version of Node has no usable _header: heads are rendered by writeHead, at some 12 % more CPU",
    );
  }
  return isSupported;
}

let lastSecond = 0;
let lastDate = "";

function httpDate(): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (second !== lastSecond) {
    lastSecond = second;
    lastDate = new Date(nowMs).toUTCString();
  }
  return lastDate;
}

/** Services use few header names; more than these would be a fault, not a reason to grow. */
const MAX_NAMES = 100;
const MAX_NAME_LENGTH = 50;

/** `convert`, called once for each name that occurs again and again. */
export function memoizeHeaderName(convert: (name: string) => string): (name: string) => string {
  const converted = new Map<string, string>();
  return (name) => {
    const known = converted.get(name);
    if (known !== undefined) return known;
    const fresh = convert(name);
    if (converted.size < MAX_NAMES && name.length <= MAX_NAME_LENGTH) converted.set(name, fresh);
    return fresh;
  };
}
