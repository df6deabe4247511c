import http from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

/** A request as the server got it. */
export interface Asked {
  readonly path: string;
  /** Parsed; undefined for GET. */
  readonly body: Record<string, unknown> | undefined;
  readonly headers: http.IncomingHttpHeaders;
}

/** Writes one answer, byte by byte as a test wants it. */
export type Script = (response: http.ServerResponse, asked: Asked) => void | Promise<void>;

export interface ScriptedPortal {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** Answers to the next requests, in order; the last one goes on for ever. */
  play(...scripts: readonly Script[]): void;
  close(): Promise<void>;
}

/** A server that answers exactly as told. */
export async function startScriptedPortal(): Promise<ScriptedPortal> {
  const asked: Asked[] = [];
  let scripts: Script[] = [];
  const server = http.createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const each = {
      path: request.url ?? "",
      body: text === "" ? undefined : JSON.parse(text),
      headers: request.headers,
    };
    asked.push(each);
    const script = scripts.length > 1 ? scripts.shift() : scripts[0];
    if (script === undefined) throw new Error(`no script for ${each.path}`);
    await script(response, each);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/datasets/some-chain`,
    asked,
    play(...given) {
      scripts = [...given];
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export const toLines = (lines: readonly unknown[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** A whole answer: these lines, zipped. */
export function sendLines(lines: readonly unknown[], headers: http.OutgoingHttpHeaders = {}): Script {
  return (response) => {
    response.writeHead(200, {
      "content-type": "application/jsonl",
      "content-encoding": "gzip",
      ...headers,
    });
    response.end(gzipSync(toLines(lines)));
  };
}

export function sendStatus(status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}): Script {
  return (response) => {
    response.writeHead(status, headers);
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}
