import { fileURLToPath } from "node:url";
import type { PortalClient } from "../../portal/client.ts";
import { type PortalBlockId, PortalFailure } from "../../portal/failures.ts";
import type { PortalLine, StreamRequest } from "../../portal/stream.ts";
import {
  ArchiveError,
  type ArchiveFile,
  blockNumberOf,
  listArchiveFiles,
  parseLine,
  readArchiveLines,
} from "./files.ts";
import { type Manifest, readManifest } from "./manifest.ts";
import { createLineFilter, type LogItem } from "./select.ts";

/** What is known of a folder without reading it whole. */
export interface ArchiveFolder {
  readonly folder: string;
  readonly files: readonly ArchiveFile[];
  readonly first: PortalBlockId;
  readonly last: PortalBlockId;
  readonly manifest: Manifest | undefined;
}

/** Lines handed over at once. */
const LINES_AT_ONCE = 50;

/** Opens a folder of recorded blocks. Throws ArchiveError where it has none. */
export async function openArchive(folder: string): Promise<ArchiveFolder> {
  const manifest = await readManifest(folder);
  const files = await listArchiveFiles(folder);
  const [firstFile, lastFile] = [files[0], files.at(-1)];
  if (firstFile === undefined || lastFile === undefined)
    throw new ArchiveError(`Cannot use ${folder}: it has no recorded blocks (.jsonl, .jsonl.gz)`);
  let [first, last]: (PortalBlockId | undefined)[] = [];
  for await (const { text, line } of readArchiveLines(firstFile.path)) {
    first = headerOf(text, { path: firstFile.path, line });
    break;
  }
  let lastLine: { text: string; line: number } | undefined;
  for await (const each of readArchiveLines(lastFile.path)) lastLine = each;
  if (lastLine !== undefined) last = headerOf(lastLine.text, { path: lastFile.path, line: lastLine.line });
  return { folder, files, manifest, first: first as PortalBlockId, last: last as PortalBlockId };
}

/** Whether a portal's setting names a folder of recorded blocks. */
export function isFolderUrl(url: string): boolean {
  return url.startsWith("file:");
}

/**
 * Recorded blocks in place of a portal: what reads one, and all that it checks, works on the folder as it is. Opens it
 * with the first request; a folder that cannot be read is PortalFailure, as a portal that is away.
 */
export function createFolderClient(url: string): PortalClient {
  const folder = fileURLToPath(url);
  let opening: Promise<ArchiveFolder> | undefined;

  function open(): Promise<ArchiveFolder> {
    opening ??= openArchive(folder).catch((error: unknown) => {
      // It may be there by the next attempt.
      opening = undefined;
      throw asFailure(error);
    });
    return opening;
  }

  return {
    host: folder,
    finalizedHead: async () => (await open()).last,
    metadata: async () => ({ dataset: undefined, startBlock: (await open()).first.number }),
    async *stream(request) {
      try {
        yield* streamFolder(await open(), request);
      } catch (error) {
        throw asFailure(error);
      }
    },
  };
}

async function* streamFolder(
  { files, folder, manifest }: ArchiveFolder,
  { fromBlock, toBlock, query, signal, parentHash }: StreamRequest,
): AsyncGenerator<readonly PortalLine[]> {
  const items = (query.logs ?? []) as readonly LogItem[];
  refuseUnrecorded(items, { folder, manifest });
  const select = createLineFilter(items);
  const isAll = query.includeAllBlocks === true;
  let lines: PortalLine[] = [];
  let next = fromBlock;
  let parent = parentHash;
  for await (const line of readRange(files, { fromBlock, toBlock })) {
    signal.throwIfAborted();
    const { number, hash } = line.header;
    if (number !== next) break;
    const isFork = parent !== undefined && line.header.parentHash !== parent;
    if (isFork)
      throw new PortalFailure("untrue", `block ${number} in ${folder} does not follow on ${parent}`);
    const selected = select(line);
    if (isAll || selected.logs.length > 0 || number === fromBlock || number === toBlock) lines.push(selected);
    if (lines.length >= LINES_AT_ONCE) {
      yield lines;
      lines = [];
    }
    next = number + 1;
    parent = hash;
  }
  if (lines.length > 0) yield lines;
  if (next <= toBlock) throw new PortalFailure("unavailable", `block ${next} is not in ${folder}`);
}

/** A recording of some events must not count as one of others: it would say that there were none. */
function refuseUnrecorded(
  items: readonly LogItem[],
  { folder, manifest }: Pick<ArchiveFolder, "folder" | "manifest">,
): void {
  if (manifest === undefined || manifest.topics === null) return;
  const { addressed } = manifest;
  const recorded = new Set(manifest.topics);
  const ofSome = new Set([...recorded, ...(addressed?.topics ?? [])]);
  const contracts = new Set(addressed?.addresses);
  for (const { address, topic0 } of items) {
    const missing = topic0 === undefined ? "every event" : topic0.find((topic) => !recorded.has(topic));
    if (missing === undefined) continue;
    const isOfThose =
      topic0?.every((topic) => ofSome.has(topic)) && address?.every((each) => contracts.has(each));
    if (isOfThose !== true) throw new PortalFailure("refused", `${missing} was not recorded in ${folder}`);
  }
}

async function* readRange(
  files: readonly ArchiveFile[],
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
): AsyncGenerator<PortalLine> {
  for (const [i, { first, path }] of files.entries()) {
    const next = files[i + 1];
    if (first > toBlock) return;
    if (next !== undefined && next.first <= fromBlock) continue;
    for await (const { text, line } of readArchiveLines(path)) {
      const number = blockNumberOf(text, { path, line });
      if (number > toBlock) return;
      if (number >= fromBlock) yield parseLine(text, { path, line }) as unknown as PortalLine;
    }
  }
}

function headerOf(text: string, at: { path: string; line: number }): PortalBlockId {
  const { number, hash } = (parseLine(text, at) as unknown as PortalLine).header;
  if (typeof hash !== "string") throw new ArchiveError(`${at.path}, line ${at.line}: it has no header.hash`);
  return { number, hash };
}

function asFailure(error: unknown): unknown {
  return error instanceof ArchiveError ? new PortalFailure("unavailable", error.message) : error;
}
