import type { ServerResponse } from "node:http";
import type { PortalFaults } from "./faults.ts";
import type { Heads } from "./heads.ts";
import { BadQuery } from "./query-members.ts";
import type { PortalRequest } from "./request.ts";

interface Context {
  readonly dataset: string;
  /** The path within the dataset; undefined for another one. */
  readonly route: string | undefined;
  readonly heads: Heads;
  readonly faults: PortalFaults;
  readonly settings: { readonly startBlock: number };
}

/** Everything but the streams. Returns false where there is no such path. */
export async function answerLookup(
  response: ServerResponse,
  { path, random }: Pick<PortalRequest, "path" | "random">,
  { dataset, route, heads, faults, settings }: Context,
): Promise<boolean> {
  const metadata = { dataset, aliases: [dataset], real_time: true };
  if (route === "/head" || route === "/finalized-head") {
    const { head, finalized } = await heads.read();
    const own = route === "/head" ? head : finalized;
    const isNull = faults.draw("head", random) === "nullHead";
    sendJson(response, isNull || own === undefined ? null : { number: own.number, hash: own.hash });
  } else if (route === "/metadata") {
    sendJson(response, { ...metadata, start_block: settings.startBlock });
  } else if (route?.startsWith("/timestamps/")) {
    const number = await findBlock(heads, readSeconds(route), settings.startBlock);
    if (number === undefined) response.writeHead(204).end();
    else sendJson(response, { block_number: number });
  } else if (path === "/datasets") {
    sendJson(response, [metadata]);
  } else if (path === "/ready") {
    response.writeHead((await heads.read()).head === undefined ? 503 : 200).end();
  } else return false;
  return true;
}

function readSeconds(route: string): number {
  const text = /^\/timestamps\/(\d{1,12})\/block$/.exec(route)?.[1];
  if (text === undefined) throw new BadQuery(`no Unix seconds in ${route}`);
  return Number(text);
}

/** The first block of that time or later; undefined beyond the head. */
async function findBlock(heads: Heads, seconds: number, first: number): Promise<number | undefined> {
  const { head } = await heads.read();
  if (head === undefined) return undefined;
  const last = head.number;
  /** Of the first block from a number on: slots of Solana may have none. */
  async function timeOf(number: number): Promise<number> {
    for await (const { header } of heads.blocks.read(number, last)) return header.timestamp;
    return 0;
  }
  if ((await timeOf(head.number)) < seconds) return undefined;
  let [low, high] = [first, head.number];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await timeOf(middle)) >= seconds) high = middle;
    else low = middle + 1;
  }
  return low;
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
