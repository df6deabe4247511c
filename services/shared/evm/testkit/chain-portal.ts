import http from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import type { Hex, RawLog } from "../port.ts";
import type { PortalChainBlock } from "./portal-chain.ts";

/** A line as it is sent; a test may change it. */
export interface SentLine {
  header: Record<string, unknown> & { number: number };
  logs?: Record<string, unknown>[];
  transactions?: Record<string, unknown>[];
}

export interface ChainPortal {
  readonly url: string;
  /** Bodies of the streams so far. */
  readonly asked: readonly { fromBlock: number; toBlock: number; logs: readonly LogItem[] }[];
  /** The last final block; null while none is known. */
  final: { number: number; hash: string } | null;
  /** Changes lines before they are sent, or drops them (null). */
  tamper: (line: SentLine) => SentLine | null;
  /** Blocks in an answer. */
  cutAfter: number;
  close(): Promise<void>;
}

interface LogItem {
  readonly address?: readonly Hex[];
  readonly topic0?: readonly Hex[];
}

type Query = ChainPortal["asked"][number] & {
  readonly includeAllBlocks: boolean;
  readonly fields: Record<"block" | "transaction" | "log", Record<string, true>>;
};

type ReadBlocks = (from: number, to: number) => Promise<readonly PortalChainBlock[]>;

/** A portal that answers honestly about a chain, as far as its client asks; for tests. */
export async function startChainPortal(read: ReadBlocks): Promise<ChainPortal> {
  const asked: Query[] = [];
  const server = http.createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const path = request.url?.split("/").at(-1);
    if (path === "metadata") return response.end(JSON.stringify({ dataset: "test", start_block: 0 }));
    if (path === "finalized-head") return response.end(JSON.stringify(portal.final));
    const query: Query = JSON.parse(text);
    asked.push(query);
    const to = Math.min(query.toBlock, portal.final?.number ?? -1, query.fromBlock + portal.cutAfter - 1);
    if (path !== "finalized-stream" || to < query.fromBlock) return response.writeHead(204).end();
    const blocks = await read(query.fromBlock, to);
    const lines = selectLines(query, blocks).flatMap((line) => portal.tamper(line) ?? []);
    response.writeHead(200, { "content-type": "application/jsonl", "content-encoding": "gzip" });
    response.end(gzipSync(lines.map((line) => `${JSON.stringify(line)}\n`).join("")));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const portal: ChainPortal = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/datasets/test`,
    asked,
    final: null,
    tamper: (line) => line,
    cutAfter: Number.POSITIVE_INFINITY,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return portal;
}

/** Blocks with a match, or all, and always the first and the last. */
function selectLines(query: Query, blocks: readonly PortalChainBlock[]): SentLine[] {
  return blocks.flatMap((block, i) => {
    const logs = block.logs.filter((log) => query.logs.some((item) => matches(log, item)));
    const isEdge = i === 0 || i === blocks.length - 1;
    if (logs.length === 0 && !query.includeAllBlocks && !isEdge) return [];
    const indexes = new Set(logs.map(({ transactionIndex }) => transactionIndex));
    const transactions = block.transactions.filter(({ transactionIndex }) => indexes.has(transactionIndex));
    const { block: ofBlock, log: ofLog, transaction: ofTransaction } = query.fields;
    return {
      header: pick(block.header, ofBlock) as SentLine["header"],
      ...(logs.length > 0 && {
        logs: logs.map((log) => pick(log, ofLog)),
        transactions: transactions.map((each) => pick(each, ofTransaction)),
      }),
    };
  });
}

function matches({ address, topics }: RawLog, item: LogItem): boolean {
  return (
    (item.address === undefined || item.address.includes(address)) &&
    (item.topic0 === undefined || item.topic0.includes(topics[0] as Hex))
  );
}

function pick(from: object, fields: Record<string, true>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => fields[name] === true));
}
