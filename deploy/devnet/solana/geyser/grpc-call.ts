/** One bidirectional stream of gRPC over HTTP/2, which compresses what it sends: the server of @grpc/grpc-js cannot. */
import { Buffer } from "node:buffer";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import { gunzipSync, gzipSync } from "node:zlib";
import type { status } from "@grpc/grpc-js";

/** A byte that says whether the message is compressed, and its length. */
const PREFIX_BYTES = 5;
/** What tonic, which Yellowstone is made with, uses. */
const GZIP_LEVEL = 6;

export interface GrpcCallOptions {
  readonly onMessage: (message: Buffer) => void;
  /** The client has sent all. */
  readonly onEnd: () => void;
  /** Nothing can be sent any more; called once. */
  readonly onClose: () => void;
}

export class GrpcCall {
  readonly #stream: ServerHttp2Stream;
  readonly #packs: boolean;
  readonly #waiting: (() => void)[] = [];
  #received: Buffer = Buffer.alloc(0);
  #isFull = false;
  #isOver = false;

  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, options: GrpcCallOptions) {
    this.#stream = stream;
    this.#packs = listEncodings(headers["grpc-accept-encoding"]).includes("gzip");
    stream.on("data", (chunk: Buffer) => this.#read(chunk, options.onMessage));
    stream.on("end", options.onEnd);
    stream.on("drain", () => {
      this.#isFull = false;
      for (const resume of this.#waiting.splice(0)) resume();
    });
    // A client that goes away resets the stream: that is its end, not a failure.
    stream.on("error", () => {});
    stream.on("close", () => {
      this.#isOver = true;
      options.onClose();
    });
  }

  /** The client does not take more for now: see whenWritable. */
  get isFull(): boolean {
    return this.#isFull;
  }

  whenWritable(resume: () => void): void {
    this.#waiting.push(resume);
  }

  write(message: Buffer): void {
    if (this.#isGone) return;
    this.#respond();
    const body = this.#packs ? gzipSync(message, { level: GZIP_LEVEL }) : message;
    const prefix = Buffer.alloc(PREFIX_BYTES);
    prefix.writeUInt8(this.#packs ? 1 : 0, 0);
    prefix.writeUInt32BE(body.length, 1);
    if (!this.#stream.write(Buffer.concat([prefix, body]))) this.#isFull = true;
  }

  end(code: status, details = ""): void {
    if (this.#isGone) return;
    this.#isOver = true;
    this.#respond();
    const trailers = { "grpc-status": String(code), "grpc-message": encodeURIComponent(details) };
    this.#stream.once("wantTrailers", () => {
      if (!this.#stream.destroyed) this.#stream.sendTrailers(trailers);
    });
    this.#stream.end();
  }

  /** The client may have reset it, which is told later. */
  get #isGone(): boolean {
    return this.#isOver || this.#stream.closed || this.#stream.destroyed;
  }

  #respond(): void {
    if (this.#stream.headersSent) return;
    this.#stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-accept-encoding": "gzip",
        ...(this.#packs && { "grpc-encoding": "gzip" }),
      },
      { waitForTrailers: true },
    );
  }

  #read(chunk: Buffer, onMessage: (message: Buffer) => void): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + this.#received.readUInt32BE(1);
      if (this.#received.length < end) return;
      const isPacked = this.#received[0] === 1;
      const body = this.#received.subarray(PREFIX_BYTES, end);
      this.#received = this.#received.subarray(end);
      if (!this.#isOver) onMessage(isPacked ? gunzipSync(body) : body);
    }
  }
}

function listEncodings(header: string | readonly string[] | undefined): string[] {
  return String(header ?? "")
    .split(",")
    .map((each) => each.trim());
}
