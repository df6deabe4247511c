import http from "node:http";
import https from "node:https";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

/** What of fetch a transport needs: the global fetch is one, and so are the fakes of tests. */
export type Post = (url: URL, init: PostInit) => Promise<PostAnswer>;

export interface PostInit {
  readonly method: "POST";
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface PostAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** fetch where it is native; on Node the http module, which reads the same answers in half the CPU time. */
export const post: Post = "Deno" in globalThis ? (url, init) => fetch(url, init) : postByHttp;

const unzip = promisify(gunzip);
/** Idle connections do not keep the process alive. */
const agents = {
  "http:": new http.Agent({ keepAlive: true }),
  "https:": new https.Agent({ keepAlive: true }),
};

/** Rejects as fetch does: with the reason, or once the signal aborts. */
export async function postByHttp(url: URL, init: PostInit): Promise<PostAnswer> {
  const { incoming, parts } = await exchange(url, init, "first");
  const status = incoming.statusCode ?? 0;
  // Hardly an endpoint moves: fetch knows the rules.
  if (status >= 300 && status < 400 && incoming.headers.location !== undefined) return fetch(url, init);
  const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
  const plain = incoming.headers["content-encoding"] === "gzip" ? await unzip(body) : body;
  return {
    status,
    headers: { get: (name) => incoming.headers[name.toLowerCase()]?.toString() ?? null },
    text: async () => plain.toString("utf8"),
  };
}

interface Exchange {
  readonly incoming: http.IncomingMessage;
  readonly parts: Buffer[];
}

function exchange(url: URL, init: PostInit, attempt: "first" | "second"): Promise<Exchange> {
  const { method, body, signal } = init;
  const isSecure = url.protocol === "https:";
  const headers = {
    ...init.headers,
    "accept-encoding": "gzip",
    "content-length": Buffer.byteLength(body),
  };
  const agent = agents[isSecure ? "https:" : "http:"];
  return new Promise((resolve, reject) => {
    const request = (isSecure ? https : http).request(url, { method, headers, agent, signal }, (incoming) => {
      const parts: Buffer[] = [];
      incoming.on("data", (part: Buffer) => parts.push(part));
      incoming.on("end", () => resolve({ incoming, parts }));
      incoming.on("error", reject);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      // The other side may close an idle connection in the moment we take it up again.
      const isStale = request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
      if (isStale && attempt === "first") resolve(exchange(url, init, "second"));
      else reject(error);
    });
    request.end(body);
  });
}
