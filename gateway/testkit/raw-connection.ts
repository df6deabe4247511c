import { connect } from "node:net";

interface RawConnection {
  /** Everything received so far. */
  text(): string;
  readonly isClosed: () => boolean;
  write(text: string): void;
  /** Resolves with true when the other end has closed, with false after so many milliseconds. */
  closedWithin(timeoutMs: number): Promise<boolean>;
  destroy(): void;
}

/** A connection that stays open until the other end closes it. Texts are Latin-1. */
export async function openRaw(url: string): Promise<RawConnection> {
  const { hostname, port } = new URL(url);
  const chunks: Buffer[] = [];
  let isClosed = false;
  const socket = connect({ host: hostname, port: Number(port) });
  const closed = new Promise<void>((resolve) => {
    const end = () => {
      isClosed = true;
      resolve();
    };
    socket.once("end", end);
    socket.once("close", end);
  });
  socket.on("data", (chunk) => chunks.push(chunk));
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  // A server that closes while we write resets the connection.
  socket.on("error", () => {});
  return {
    text: () => Buffer.concat(chunks).toString("latin1"),
    isClosed: () => isClosed,
    write: (text) => void socket.write(text, "latin1"),
    async closedWithin(timeoutMs) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, timeoutMs);
      });
      await Promise.race([closed, late]);
      clearTimeout(timer);
      return isClosed;
    },
    destroy: () => void socket.destroy(),
  };
}
