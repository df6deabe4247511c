import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Everything received: more than one answer would show here. */
  readonly text: string;
}

const RESETS = new Set(["ECONNRESET", "EPIPE"]);

/** Sends bytes as they are and reads until the server closes: what fetch would tidy up goes out untouched. */
export function sendRaw(url: string, text: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(text, "latin1"));
    socket.on("data", (chunk) => chunks.push(chunk));
    // A server that closes while we still write resets the connection, and its answer may be lost with it.
    socket.on("error", (error: NodeJS.ErrnoException) =>
      RESETS.has(error.code ?? "") ? finish() : reject(error),
    );
    socket.on("close", finish);
    function finish(): void {
      resolve(readAnswer(Buffer.concat(chunks).toString("latin1")));
    }
  });
}

/** The first answer in a text; what follows it is taken for its body. */
export function readAnswer(text: string): RawAnswer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(":")).toLowerCase(),
      line.slice(line.indexOf(":") + 1).trim(),
    ]),
  );
  return { status: Number(statusLine.split(" ")[1]), headers, body: rest.join("\r\n\r\n"), text };
}

/** A GET over one connection with `Connection: close`. */
export function rawGet(
  url: string,
  target: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  const lines = Object.entries({ Host: "localhost", Connection: "close", ...headers });
  return sendRaw(
    url,
    `GET ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`,
  );
}
