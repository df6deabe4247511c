import {
  ArchiveError,
  blockNumberOf,
  parseLine,
  readArchiveLines,
} from "../../../../shared/evm/archive/files.ts";
import type { ArchiveFolder } from "../../../../shared/evm/archive/folder-client.ts";
import { parseBlockLine } from "../../../../shared/evm/portal/block-line.ts";
import type { PortalLine } from "../../../../shared/portal/stream.ts";

export interface ArchiveSummary {
  readonly blocks: number;
  readonly logs: number;
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a folder of recorded blocks whole: every block must have the hash of its header and follow on the one before it.
 * Whether logs are missing shows only beside a node. Throws ArchiveError.
 */
export async function checkArchive({ files, first, last }: ArchiveFolder): Promise<ArchiveSummary> {
  let [blocks, logs] = [0, 0];
  let before: { number: number; hash: string } | undefined;
  for (const { path } of files) {
    for await (const { text, line } of readArchiveLines(path)) {
      const at = `${path}, line ${line}`;
      const number = blockNumberOf(text, { path, line });
      const block = parse(parseLine(text, { path, line }) as unknown as PortalLine, at);
      if (before !== undefined && number !== before.number + 1)
        throw new ArchiveError(`${at}: block ${number} comes after block ${before.number}`);
      if (before !== undefined && block.parentHash !== before.hash)
        throw new ArchiveError(
          `${at}: block ${number} follows on ${block.parentHash}, not on ${before.hash}`,
        );
      before = block;
      blocks += 1;
      logs += block.logs.length;
    }
  }
  return { blocks, logs, first: first.number, last: last.number };
}

function parse(line: PortalLine, at: string) {
  try {
    return parseBlockLine(line);
  } catch (error) {
    throw new ArchiveError(`${at}: ${(error as Error).message}`);
  }
}
