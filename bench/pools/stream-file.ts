import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import type { BlockEvents } from "../../services/evm-dex/ingest/state/indexer.ts";

export interface StreamBlock extends BlockEvents {
  readonly parentHash: string;
}

/** Blocks as lines of JSON: the process that is measured reads them, and makes nothing itself. */
export async function writeBlocks(path: string, blocks: Iterable<StreamBlock>): Promise<void> {
  const file = createWriteStream(path);
  for (const block of blocks) {
    const line = JSON.stringify(block, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
    if (!file.write(`${line}\n`)) await once(file, "drain");
  }
  file.end();
  await once(file, "finish");
}

export async function* readBlocks(path: string): AsyncGenerator<StreamBlock> {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    yield JSON.parse(line, (_, value) =>
      typeof value === "string" && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
    );
  }
}
