/**
 * A node that costs next to nothing: it answers JSON-RPC as the node behind it did, from memory, and asks it only what
 * nobody asked before. For benches of a finished chain: a real node works on its own machine, while anvil on the two
 * cores that are measured takes a fifth of them, which says nothing of the ingest.
 *
 * Alone as a process (a thread would share the bench's memory and its name): argument the URL of the node behind it;
 * prints its own URL. GET answers how many questions it had to pass on since the last GET.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

interface Question {
  readonly id: number | string;
  readonly method: string;
  readonly params?: unknown;
}

export interface RecordedNode {
  readonly url: string;
  /** Questions that the node behind had to answer since this was last asked. */
  passedOn(): Promise<number>;
  stop(): Promise<void>;
}

export async function startRecordedNode(nodeUrl: string): Promise<RecordedNode> {
  const file = fileURLToPath(import.meta.url);
  const child: ChildProcess = spawn(process.execPath, ["--import", "tsx", file, nodeUrl], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const [url] = (await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`The recorded node ended with ${code}.`);
    }),
  ])) as [string];
  return {
    url,
    passedOn: async () => Number(await (await fetch(url)).text()),
    stop: async () => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** The text of a result, by method and parameters. Errors are passed on, not kept. */
const known = new Map<string, Buffer>();
let passed = 0;

async function resultOf(nodeUrl: string, { method, params = [] }: Question): Promise<Buffer> {
  const key = `${method} ${JSON.stringify(params)}`;
  const kept = known.get(key);
  if (kept !== undefined) return kept;
  passed += 1;
  const response = await fetch(nodeUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await response.text();
  const answer = JSON.parse(text) as Record<string, unknown>;
  const member = "result" in answer ? "result" : "error";
  const made = Buffer.from(`"${member}":${JSON.stringify(answer[member])}}`);
  if (member === "result") known.set(key, made);
  return made;
}

async function answerTo(nodeUrl: string, body: string): Promise<Buffer> {
  const asked = JSON.parse(body) as Question | readonly Question[];
  const questions = Array.isArray(asked) ? (asked as readonly Question[]) : [asked as Question];
  const results = await Promise.all(questions.map((question) => resultOf(nodeUrl, question)));
  const parts: Buffer[] = [];
  for (const [i, { id }] of questions.entries()) {
    parts.push(Buffer.from(`${i === 0 ? "" : ","}{"jsonrpc":"2.0","id":${JSON.stringify(id)},`));
    parts.push(results[i] as Buffer);
  }
  return Array.isArray(asked)
    ? Buffer.concat([Buffer.from("["), ...parts, Buffer.from("]")])
    : Buffer.concat(parts);
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function serve(nodeUrl: string): void {
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      response.end(String(passed));
      passed = 0;
      return;
    }
    const answer = await answerTo(nodeUrl, await bodyOf(request)).catch((error: unknown) => {
      response.statusCode = 502;
      return Buffer.from(String(error));
    });
    response.setHeader("Content-Type", "application/json");
    response.end(answer);
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  // Ends with the bench, however that ends.
  process.stdin.resume().once("end", () => process.exit(0));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) serve(process.argv[2] as string);
