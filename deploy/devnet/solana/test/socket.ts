import { request } from "node:http";
import type { Socket } from "node:net";

/** As much of a WebSocket as a subscription needs: Node 20 has none. */
export class PlainSocket {
  onopen: (() => void) | undefined;
  onmessage: ((event: { data: unknown }) => void) | undefined;
  onerror: (() => void) | undefined;
  onclose: (() => void) | undefined;
  #stream: Socket | undefined;
  #pending = Buffer.alloc(0);

  constructor(url: string) {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "sec-websocket-version": "13",
    };
    const opening = request(url.replace(/^ws/, "http"), { headers });
    opening.on("upgrade", (_, stream) => {
      this.#stream = stream as Socket;
      stream.on("data", (chunk: Buffer) => this.#read(chunk));
      stream.on("close", () => this.onclose?.());
      stream.on("error", () => this.onerror?.());
      this.onopen?.();
    });
    opening.on("error", () => this.onerror?.());
    opening.end();
  }

  /** At most 125 bytes. */
  send(text: string): void {
    const mask = Buffer.from([1, 2, 3, 4]);
    const masked = Buffer.from(Buffer.from(text).map((byte, i) => byte ^ (mask[i % 4] as number)));
    this.#stream?.write(Buffer.concat([Buffer.from([0x81, 0x80 | masked.length]), mask, masked]));
  }

  close(): void {
    this.#stream?.destroy();
  }

  #read(chunk: Buffer): void {
    this.#pending = Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= 2) {
      const isLong = this.#pending[1] === 126;
      const from = isLong ? 4 : 2;
      const size = isLong ? this.#pending.readUInt16BE(2) : (this.#pending[1] as number);
      if (this.#pending.length < from + size) return;
      const data = this.#pending.subarray(from, from + size).toString();
      this.#pending = this.#pending.subarray(from + size);
      this.onmessage?.({ data });
    }
  }
}
