import { readdir } from "node:fs/promises";
import type { PortalLine } from "../../portal/stream.ts";
import { parseBlockLine } from "../portal/block-line.ts";
import { ArchiveError } from "./files.ts";
import { openArchive } from "./folder-client.ts";
import { isSameRecording, joinManifests, type Manifest, readManifest, writeManifest } from "./manifest.ts";
import { ArchiveWriter } from "./writer.ts";

export interface RecordOptions {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly fromBlock: number;
  /** Inclusive. */
  readonly toBlock: number;
  /** The lines of a range, every block of it. */
  readonly read: (range: { fromBlock: number; toBlock: number }) => AsyncIterable<PortalLine>;
  readonly report?: (progress: { block: number; logs: number; bytes: number }) => void;
}

/**
 * Records a range of blocks into a folder. Each must have the hash of its header and follow on the one before it. One
 * that was interrupted goes on behind its last whole file. Throws ArchiveError, and the errors of `read`.
 */
export async function record(
  options: RecordOptions,
): Promise<{ blocks: number; logs: number; bytes: number }> {
  const { folder, toBlock } = options;
  const begun = await findBegun(options);
  const fromBlock = begun?.next ?? options.fromBlock;
  const writer = new ArchiveWriter({ folder });
  await writer.open();
  await writeManifest(folder, joinManifests(await readManifest(folder), options.manifest));
  let [next, logs, parent] = [fromBlock, 0, begun?.hash];
  try {
    if (fromBlock <= toBlock) {
      for await (const line of options.read({ fromBlock, toBlock })) {
        const block = parse(line);
        if (block.number !== next)
          throw new ArchiveError(`Cannot record block ${block.number}: ${next} is due`);
        if (parent !== undefined && block.parentHash !== parent)
          throw new ArchiveError(
            `Cannot record block ${next}: it follows on ${block.parentHash}, not on ${parent}`,
          );
        await writer.add(next, JSON.stringify(line));
        next += 1;
        logs += block.logs.length;
        parent = block.hash;
        options.report?.({ block: block.number, logs, bytes: writer.bytes });
      }
    }
    if (next <= toBlock) throw new ArchiveError(`Cannot record block ${next}: the source ended before it`);
    await writer.close();
  } catch (error) {
    await writer.abort();
    throw error;
  }
  return { blocks: next - fromBlock, logs, bytes: writer.bytes };
}

function parse(line: PortalLine) {
  try {
    return parseBlockLine(line);
  } catch (error) {
    throw new ArchiveError(`Cannot record block ${line.header.number}: ${(error as Error).message}`);
  }
}

/** Where a recording in the folder ended; undefined where it has none. Throws ArchiveError where it is another one. */
async function findBegun({
  folder,
  manifest,
  fromBlock,
}: RecordOptions): Promise<{ next: number; hash: string } | undefined> {
  const names = await readdir(folder).catch(() => []);
  const known = await readManifest(folder);
  if (known === undefined) {
    const stranger = names.find((name) => name.includes(".jsonl"));
    if (stranger !== undefined)
      throw new ArchiveError(`Cannot record into ${folder}: it holds ${stranger}, but no manifest.json`);
    return undefined;
  }
  if (!isSameRecording(known, manifest))
    throw new ArchiveError(`Cannot record into ${folder}: it holds another chain, or other events`);
  if (!names.some((name) => name.includes(".jsonl"))) return undefined;
  const { first, last } = await openArchive(folder);
  if (fromBlock < first.number || fromBlock > last.number + 1)
    throw new ArchiveError(
      `Cannot record from block ${fromBlock} into ${folder}: it holds ${first.number} to ${last.number}, and goes on from there`,
    );
  return { next: last.number + 1, hash: last.hash };
}
