import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** The server's side of a WebSocket (RFC 6455): text messages, which is all that subscriptions are. */
export interface TextSocket {
  send(text: string): void;
  close(): void;
}

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;
/** A client has nothing longer to say. */
const LONGEST = 65_536;

/** Answers the upgrade; whole messages come to `onText`. Undefined where the request is no such upgrade. */
export function acceptSocket(
  request: IncomingMessage,
  stream: Duplex,
  on: { text(message: string): void; end(): void },
): TextSocket | undefined {
  const nonce = request.headers["sec-websocket-key"];
  if (typeof nonce !== "string") {
    stream.end("HTTP/1.1 400 Bad Request\r\n\r\n");
    return undefined;
  }
  const accept = createHash("sha1")
    .update(nonce + GUID)
    .digest("base64");
  stream.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let pending = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (let frame = readFrame(pending); frame !== undefined; frame = readFrame(pending)) {
      pending = pending.subarray(frame.length);
      if (frame.opcode === TEXT) on.text(frame.payload.toString("utf8"));
      else if (frame.opcode === PING) stream.write(writeFrame(PONG, frame.payload));
      else if (frame.opcode === CLOSE) stream.end(writeFrame(CLOSE, frame.payload));
    }
    if (pending.length > LONGEST) stream.destroy();
  });
  stream.on("close", on.end);
  // A client may leave without a close frame.
  stream.on("error", () => stream.destroy());
  return {
    send: (text) => stream.write(writeFrame(TEXT, Buffer.from(text))),
    close: () => stream.end(writeFrame(CLOSE, Buffer.alloc(0))),
  };
}

/** The first whole frame; clients mask theirs. */
function readFrame(bytes: Buffer): { opcode: number; payload: Buffer; length: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] as number) & 0x7f;
  const start = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < start + 4) return undefined;
  const size =
    short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  const isMasked = ((bytes[1] as number) & 0x80) !== 0;
  const from = start + (isMasked ? 4 : 0);
  if (bytes.length < from + size) return undefined;
  const payload = Buffer.from(bytes.subarray(from, from + size));
  if (isMasked)
    for (let i = 0; i < size; i++) payload[i] = (payload[i] as number) ^ (bytes[start + (i % 4)] as number);
  return { opcode: (bytes[0] as number) & 0x0f, payload, length: from + size };
}

function writeFrame(opcode: number, payload: Buffer): Buffer {
  const long = payload.length > 125;
  const head = Buffer.alloc(long ? 4 : 2);
  head[0] = 0x80 | opcode;
  head[1] = long ? 126 : payload.length;
  if (long) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
