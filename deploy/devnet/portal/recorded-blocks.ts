import {
  type ArchiveFile,
  blockNumberOf,
  listArchiveFiles,
  parseLine,
  readArchiveLines,
} from "../../../services/shared/evm/archive/files.ts";
import type { PortalBlock, PortalBlocks } from "./block.ts";

/**
 * The blocks of a folder of JSON lines (.jsonl, .jsonl.gz), in the form of a portal's own answers. What was not recorded
 * is not served: neither fields nor blocks. Throws ArchiveError.
 */
export async function recordedBlocks(folder: string): Promise<PortalBlocks> {
  const files = await listArchiveFiles(folder);
  const last = files.length === 0 ? undefined : await readLast(files.at(-1) as ArchiveFile);
  return {
    head: async () => (last === undefined ? undefined : { number: last.number, hash: last.hash }),
    async *read(from, to) {
      for (const [i, file] of files.entries()) {
        const next = files[i + 1];
        if (file.first > to) return;
        if (next !== undefined && next.first <= from) continue;
        yield* readFile(file, { from, to });
      }
    },
  };
}

async function* readFile(
  { path }: ArchiveFile,
  { from, to }: { from: number; to: number },
): AsyncGenerator<PortalBlock> {
  for await (const { text, line } of readArchiveLines(path)) {
    const number = blockNumberOf(text, { path, line });
    if (number > to) return;
    if (number < from) continue;
    const { header, transactions = [], logs = [] } = parseLine(text, { path, line });
    yield { header, transactions, logs } as PortalBlock;
  }
}

async function readLast(file: ArchiveFile): Promise<PortalBlock["header"] | undefined> {
  let last: { text: string; line: number } | undefined;
  for await (const each of readArchiveLines(file.path)) last = each;
  return last && (parseLine(last.text, { path: file.path, line: last.line }).header as PortalBlock["header"]);
}
