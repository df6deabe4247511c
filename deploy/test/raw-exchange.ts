import { connect } from "node:net";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

/** What came back for one request, byte by byte, on a connection of its own. */
export interface RawAnswer {
  /** 0 where the connection ended without an answer. */
  readonly status: number;
  /** As they came, names in lower case; one sent twice is there twice. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Decoded from its framing and coding. */
  readonly body: string;
  /** Bytes after the response, without a request. */
  readonly behind: string;
  readonly tookMs: number;
}

/**
 * Sends the bytes of a request (Latin-1) and reads until the server closes. Rejects where it has not closed within
 * `timeoutMs`: requests of these tests have `Connection: close`, and are complete or too wrong to wait for the rest.
 */
export function exchangeRaw(port: number, text: string, timeoutMs: number): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const chunks: Buffer[] = [];
    const received = () => Buffer.concat(chunks).toString("latin1");
    const socket = connect(port, "127.0.0.1", () => socket.write(text, "latin1"));
    const timer = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(`Not answered and closed within ${timeoutMs} ms; received ${JSON.stringify(received())}`),
      );
    }, timeoutMs);
    socket.on("data", (chunk) => chunks.push(chunk));
    // A server that closes before it has read everything resets the connection, its answer before that.
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      try {
        resolve({ ...parse(received(), text.startsWith("HEAD ")), tookMs: performance.now() - startedMs });
      } catch (error) {
        reject(error);
      }
    });
  });
}

function parse(text: string, isHead: boolean): Omit<RawAnswer, "tookMs"> {
  if (text === "") return { status: 0, headers: [], body: "", behind: "" };
  const end = text.indexOf("\r\n\r\n");
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (end === -1 || Number.isNaN(status)) throw new Error(`No HTTP: ${JSON.stringify(text.slice(0, 200))}`);
  const rest = text.slice(end + 4);
  if (status === 100) return parse(rest, isHead);
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error(`No header: ${JSON.stringify(line)}`);
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const named = new Map(headers);
  if (isHead || status === 204 || status === 304) return { status, headers, body: "", behind: rest };
  const { bytes, behind } = unframe(rest, named);
  return { status, headers, body: decode(bytes, named.get("content-encoding")), behind };
}

function unframe(rest: string, named: ReadonlyMap<string, string>): { bytes: Buffer; behind: string } {
  const toBytes = (text: string) => Buffer.from(text, "latin1");
  const length = named.get("content-length");
  if (length !== undefined) {
    if (rest.length < Number(length))
      throw new Error(`The answer ends after ${rest.length} of ${length} bytes`);
    return { bytes: toBytes(rest.slice(0, Number(length))), behind: rest.slice(Number(length)) };
  }
  if (named.get("transfer-encoding") !== "chunked") return { bytes: toBytes(rest), behind: "" };
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    const end = rest.indexOf("\r\n", at);
    const size = Number.parseInt(rest.slice(at, end), 16);
    if (end === -1 || Number.isNaN(size)) throw new Error("The answer's chunks break off");
    pieces.push(rest.slice(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
    if (size === 0) return { bytes: toBytes(pieces.join("")), behind: rest.slice(at) };
  }
}

function decode(bytes: Buffer, coding: string | undefined): string {
  const plain = coding === "br" ? brotliDecompressSync(bytes) : coding === "gzip" ? gunzipSync(bytes) : bytes;
  return plain.toString("utf8");
}
