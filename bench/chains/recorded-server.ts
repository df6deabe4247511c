/**
 * The process of recorded-node.ts. Argument: the URL of the node behind it. Prints its own URL; GET answers how many
 * requests it had to pass on since the last GET. Ends with its standard input.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface RpcRequest {
  readonly id: number | string;
  readonly method: string;
  readonly params?: unknown;
}

const [nodeUrl = ""] = process.argv.slice(2);

/** The text of a result, by method and parameters. Errors are passed on and not stored. */
const known = new Map<string, Buffer>();
let passed = 0;

async function resultOf({ method, params = [] }: RpcRequest): Promise<Buffer> {
  const key = `${method} ${JSON.stringify(params)}`;
  const cached = known.get(key);
  if (cached !== undefined) return cached;
  passed += 1;
  const response = await fetch(nodeUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  const member = "result" in answer ? "result" : "error";
  const made = Buffer.from(`"${member}":${JSON.stringify(answer[member])}}`);
  if (member === "result") known.set(key, made);
  return made;
}

async function answerTo(body: string): Promise<Buffer> {
  const parsed = JSON.parse(body) as RpcRequest | readonly RpcRequest[];
  const requests = Array.isArray(parsed) ? (parsed as readonly RpcRequest[]) : [parsed as RpcRequest];
  const results = await Promise.all(requests.map((question) => resultOf(question)));
  const parts: Buffer[] = [];
  for (const [i, { id }] of requests.entries()) {
    parts.push(Buffer.from(`${i === 0 ? "" : ","}{"jsonrpc":"2.0","id":${JSON.stringify(id)},`));
    parts.push(results[i] as Buffer);
  }
  return Array.isArray(parsed)
    ? Buffer.concat([Buffer.from("["), ...parts, Buffer.from("]")])
    : Buffer.concat(parts);
}

const server = createServer(async (request, response) => {
  if (request.method === "GET") {
    response.end(String(passed));
    passed = 0;
    return;
  }
  const answer = await answerTo(await text(request)).catch((error: unknown) => {
    response.statusCode = 502;
    return Buffer.from(String(error));
  });
  response.setHeader("Content-Type", "application/json");
  response.end(answer);
});
server.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.stdin.resume().once("end", () => process.exit(0));
