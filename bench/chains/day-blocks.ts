/** The recorded blocks of a day for its portal and its node: a file is unpacked and parsed once for both. */
import type { PortalBlock, PortalBlocks } from "../../deploy/devnet/portal/block.ts";
import { listArchiveFiles, parseLine, readArchiveLines } from "../../services/shared/evm/archive/files.ts";

/** Parsed files in memory: readers go forward. */
const KEPT_FILES = 8;

export interface DayBlocks extends PortalBlocks {
  readonly last: PortalBlock;
  /** Undefined beyond the last one. */
  at(number: number): Promise<PortalBlock | undefined>;
  /** Of the files that were read: who names a block by its hash has it from here. */
  numberOf(hash: unknown): number | undefined;
}

/** Throws ArchiveError. */
export async function openDayBlocks(folder: string): Promise<DayBlocks> {
  const files = await listArchiveFiles(folder);
  const kept = new Map<number, Promise<PortalBlock[]>>();
  const numbers = new Map<unknown, number>();
  const last = (await readWhole(files.at(-1)?.path ?? "")).at(-1) as PortalBlock;

  async function readFile(path: string): Promise<PortalBlock[]> {
    const blocks = await readWhole(path);
    for (const { header } of blocks) numbers.set(header.hash, header.number);
    return blocks;
  }

  async function at(number: number): Promise<PortalBlock | undefined> {
    const index = files.findLastIndex(({ first }) => first <= number);
    if (index < 0 || number > last.header.number) return undefined;
    const file = files[index] as (typeof files)[number];
    let blocks = kept.get(index);
    if (blocks === undefined) blocks = readFile(file.path);
    // The one used last comes last.
    kept.delete(index);
    kept.set(index, blocks);
    if (kept.size > KEPT_FILES) kept.delete(kept.keys().next().value as number);
    return (await blocks)[number - file.first];
  }

  return {
    last,
    at,
    numberOf: (hash) => numbers.get(hash),
    head: async () => ({ number: last.header.number, hash: last.header.hash }),
    async *read(from, to) {
      for (let number = from; number <= to; number++) {
        const block = await at(number);
        if (block === undefined) return;
        yield block;
      }
    },
  };
}

async function readWhole(path: string): Promise<PortalBlock[]> {
  const blocks: PortalBlock[] = [];
  for await (const { text, line } of readArchiveLines(path))
    blocks.push(parseLine(text, { path, line }) as unknown as PortalBlock);
  return blocks;
}
