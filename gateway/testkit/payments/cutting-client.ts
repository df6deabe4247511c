import { connect } from "node:net";

export interface Cut {
  /** Bytes read from the kernel before that, head included; a number above the response's size reads all of it. */
  readonly afterBytes: number;
  /**
   * - `reset`      the connection is reset
   * - `close`      it is closed, which is a reset where something is unread
   * - `half-close` the client ends its side, and reads on
   * - `pause`      nothing is read for a while, then the rest
   * - `stall`      nothing is read for a while, then the connection is reset
   */
  readonly how: "reset" | "close" | "half-close" | "pause" | "stall";
  readonly pauseMs?: number;
}

interface PartialRead {
  readonly status: number | undefined;
  /** Whether every byte of the answer was read. */
  readonly isWhole: boolean;
  readonly bytes: number;
}

const CHUNK = 65_536;

/** One GET by a client that reads no byte more than it should, since a kernel with unread bytes resets. Never rejects. */
export function readPartially(
  url: string,
  { headers, cut }: { readonly headers: Readonly<Record<string, string>>; readonly cut: Cut },
): Promise<PartialRead> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  let head = "";
  let total = Number.POSITIVE_INFINITY;
  let bytes = 0;
  let limit = cut.afterBytes;
  const piece = Buffer.alloc(CHUNK);

  return new Promise((resolve) => {
    const finish = (): void => {
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]) || undefined;
      resolve({ status, isWhole: bytes === total, bytes });
    };
    const readHead = (text: string): void => {
      if (total < Number.POSITIVE_INFINITY || head.includes("\r\n\r\n")) return;
      head += text;
      const end = head.indexOf("\r\n\r\n");
      if (end !== -1) total = end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN);
    };
    const readOn = (): void => {
      limit = Number.POSITIVE_INFINITY;
      if (bytes >= total) socket.destroy();
      else socket.resume();
    };
    const act = (): void => {
      if (cut.how === "reset") socket.resetAndDestroy();
      else if (cut.how === "close") socket.destroy();
      else if (cut.how === "pause") setTimeout(readOn, cut.pauseMs);
      else if (cut.how === "stall") setTimeout(() => socket.resetAndDestroy(), cut.pauseMs);
      else {
        socket.end();
        readOn();
      }
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      allowHalfOpen: true,
      onread: {
        buffer: () => piece.subarray(0, Math.max(1, Math.min(CHUNK, Math.min(limit, total) - bytes))),
        callback(some, chunk) {
          readHead(Buffer.from(chunk.subarray(0, some)).toString("latin1"));
          bytes += some;
          if (bytes >= total) {
            // All of it: ended in order whatever was meant to come later.
            if (limit === Number.POSITIVE_INFINITY && cut.how !== "reset") socket.destroy();
            else act();
            return false;
          }
          if (bytes < limit) return true;
          act();
          return false;
        },
      },
    });
    socket.on("error", () => {});
    socket.once("connect", () => socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`));
    socket.once("end", () => socket.destroy());
    socket.once("close", finish);
  });
}
