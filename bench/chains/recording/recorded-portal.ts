/**
 * A server before a portal that keeps its answers: what was asked for before is sent from files, without the portal.
 * Everything else is passed through, and what was an answer of blocks is recorded once it is whole.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request as requestOf, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { Answers, type RecordedAnswer } from "./answers.ts";
import { type Question, readQuestion } from "./question.ts";
import type { Headers } from "./recording-file.ts";

export interface RecordedPortal {
  /** Of the dataset. */
  readonly url: string;
  /** Requests so far. */
  requests(): number;
  /** Bytes of all answers so far, as they were sent. */
  bytes(): number;
  /** Answers of blocks so far: from files, and by the portal itself. */
  answers(): { readonly recorded: number; readonly made: number };
  close(): Promise<void>;
}

/** Of one connection or one request. */
const OWN_HEADERS = new Set(["connection", "keep-alive", "transfer-encoding", "date", "x-request-id"]);

/** Before the portal at `url`, with its answers in `folder`. `warn` is told of answers that could not be recorded. */
export async function startRecordedPortal(
  url: string,
  { folder, warn = console.error }: { folder: string; warn?: (message: string) => void },
): Promise<RecordedPortal> {
  const answers = await Answers.open(folder);
  const { origin, pathname } = new URL(url);
  const sentBefore = new WeakMap<object, number>();
  let [requests, bytes, recorded, made] = [0, 0, 0, 0];

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url: path = "/" } = request;
    const body = await buffer(request);
    const question = readQuestion({ method, url: path, body: textOf(request, body) });
    const known = question && answers.find(question);
    if (known !== undefined) {
      recorded += 1;
      response.setHeader("x-request-id", request.headers["x-request-id"] ?? randomUUID());
      return sendRecorded(response, known);
    }
    await passOn({ request, body, response, question });
  }

  async function passOn(asked: {
    request: IncomingMessage;
    body: Buffer;
    response: ServerResponse;
    question: Question | undefined;
  }): Promise<void> {
    const { request, body, response, question } = asked;
    const { host: _, connection: __, ...headers } = request.headers;
    const outgoing = requestOf(`${origin}${request.url}`, { method: request.method ?? "GET", headers });
    response.once("close", () => outgoing.destroy());
    // Reading its answer tells of what breaks there; Node 26 tells it here, too.
    outgoing.on("error", () => {}).end(body);
    const [answer] = (await once(outgoing, "response")) as [IncomingMessage];
    const status = answer.statusCode ?? 502;
    const isKept = question !== undefined && status === 200;
    if (isKept) made += 1;
    const own = headersOf(answer);
    response.writeHead(status, { ...own, "x-request-id": answer.headers["x-request-id"] ?? randomUUID() });
    const parts: Buffer[] = [];
    for await (const part of answer) {
      if (isKept) parts.push(part);
      if (!(await send(response, part))) return;
    }
    // What was cut off has thrown by now.
    response.end();
    if (!isKept) return;
    await answers.keep(question, own, Buffer.concat(parts)).catch((error: unknown) => {
      warn(`The answer from block ${question.from} is not recorded: ${error}`);
    });
  }

  const server = createServer((request, response) => {
    requests += 1;
    response.once("close", () => {
      const { socket } = request;
      bytes += Math.max(0, socket.bytesWritten - (sentBefore.get(socket) ?? 0));
      sentBefore.set(socket, socket.bytesWritten);
    });
    // What the portal cut off is cut off here.
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    requests: () => requests,
    bytes: () => bytes,
    answers: () => ({ recorded, made }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function sendRecorded(response: ServerResponse, { headers, chunks }: RecordedAnswer): Promise<void> {
  response.writeHead(200, headers);
  for (const chunk of chunks()) if (!(await send(response, chunk))) return;
  response.end();
}

/** Resolves when there is room for more, to false where the client has gone. */
async function send(response: ServerResponse, part: Buffer): Promise<boolean> {
  if (response.destroyed) return false;
  if (response.write(part)) return true;
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve(!response.destroyed);
    };
    response.once("drain", settle).once("close", settle);
  });
}

function headersOf({ headers }: IncomingMessage): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.has(name))) as Headers;
}

/** Empty for a body that cannot be unpacked: the portal says what is wrong with it. */
function textOf({ headers }: IncomingMessage, body: Buffer): string {
  try {
    return (headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString();
  } catch {
    return "";
  }
}
