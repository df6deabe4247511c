/**
 * The process that a synthetic day comes from: its portal and its node, over a folder of recorded blocks. Arguments: the
 * folder, the number of pools. Prints the URLs of both; GET of the node answers how many requests both had so far. Ends with
 * its standard input. It runs on the cores of what is measured: what it costs is kept small, and its portal's answers are
 * kept in the folder.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { startPortal } from "../../deploy/devnet/portal/portal.ts";
import { CHAIN_ID, dayChain } from "../synthetic/day/folder.ts";
import { makeMarket } from "../synthetic/day/market.ts";
import { openDayBlocks } from "./day-blocks.ts";
import { createDayCalls } from "./day-calls.ts";
import { createDayNode, RawJson, type RpcCall } from "./day-node.ts";
import { startRecordedPortal } from "./recording/recorded-portal.ts";

const [folder = "", pools = "20000"] = process.argv.slice(2);
const blocks = openDayBlocks(folder);
const fake = await startPortal({ blocks, rateLimit: null, strayHeaders: 0 });
const portal = await startRecordedPortal(fake.url, { folder: join(folder, "answers") });
const market = makeMarket(dayChain(), { pools: Number(pools) });
const answer = createDayNode(blocks, { chainId: CHAIN_ID, call: createDayCalls(market) });
const asked: Record<string, number> = {};

function replyTo(request: RpcCall): string {
  asked[request.method] = (asked[request.method] ?? 0) + 1;
  const start = `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},`;
  const reply = answer(request);
  if ("error" in reply) return `${start}"error":${JSON.stringify(reply.error)}}`;
  return `${start}"result":${reply.result instanceof RawJson ? reply.result.text : JSON.stringify(reply.result)}}`;
}

const server = createServer(async (request, response) => {
  response.setHeader("content-type", "application/json");
  if (request.method === "GET") {
    const { requests, bytes } = { requests: portal.requests(), bytes: portal.bytes() };
    return void response.end(
      JSON.stringify({ node: asked, portal: { requests, bytes, ...portal.answers() } }),
    );
  }
  const body = JSON.parse(await text(request)) as RpcCall | readonly RpcCall[];
  const parts: string[] = [];
  for (const each of [body].flat() as RpcCall[]) parts.push(replyTo(each));
  response.end(Array.isArray(body) ? `[${parts.join(",")}]` : parts[0]);
});
server.listen(0, "127.0.0.1", () => {
  const rpc = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  console.log(JSON.stringify({ rpc, portal: portal.url }));
});
process.stdin.resume().once("end", () => process.exit(0));
