import type { PortalClient } from "../../portal/client.ts";
import { PortalFailure } from "../../portal/failures.ts";
import type { LogFilter, LogRange } from "../port.ts";
import { type PortalBlock, parseBlockLine } from "./block-line.ts";
import { checkWhole, createPartChecks, isTelling, type MayContain } from "./checks.ts";
import { checkSilence, compareHashes, compareReceipts, type Judge, readSilent } from "./proofs.ts";
import { type PortalQuery, toPortalQueries } from "./request.ts";

/** A range has more logs than are held at once: read it in smaller ones. */
export class PieceTooLarge extends Error {
  override readonly name = "PieceTooLarge";
}

export interface PieceContext {
  readonly client: PortalClient;
  readonly judge: Judge;
  readonly mayContain: MayContain;
  /** In [0, 1): which blocks are sampled must not be known before. */
  readonly random: () => number;
  /** Whether receipts are compared, given the number of blocks of a piece. */
  readonly isSampled: (blocks: number) => boolean;
  /** Of blocks that are not linked, so many a piece are compared with the judge, and so many silent ones. */
  readonly sampledHeaders: number;
  /** More logs than this are too large. */
  readonly mostLogs: number;
}

interface PieceRequest {
  readonly filter: LogFilter;
  /** Is told how many logs have come, and resolves when more may. */
  readonly onLogs: (logs: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/**
 * The blocks of a range, checked: each has the hash of its header and logs of the filter; all are linked up to one hash
 * of the judge, or, of a filter by contracts, some are compared with the judge; a sample is compared with receipts.
 * Silent blocks are compared with their blooms. Throws PortalFailure, PieceTooLarge, and the errors of the judge.
 */
export async function readPiece(
  context: PieceContext,
  range: LogRange,
  request: PieceRequest,
): Promise<PortalBlock[]> {
  const { filter } = request;
  const queries = toPortalQueries(filter);
  const answers = await Promise.all(queries.map((query) => readQuery(context, range, { ...request, query })));
  const blocks = answers.length === 1 ? (answers[0] as PortalBlock[]) : mergeAnswers(answers);
  const isWhole = filter.addresses === undefined;
  if (isWhole) asUntrue(() => checkWhole(blocks, range));
  const { judge, random, sampledHeaders } = context;
  const last = blocks.at(-1) as PortalBlock;
  const unlinked = isWhole ? [] : pickSome(blocks.slice(0, -1), sampledHeaders, random);
  await compareHashes(judge, [...unlinked, last]);
  const silent = isWhole
    ? blocks.filter(({ logs }) => logs.length === 0)
    : await readSilent(judge, pickSilent(context, range, blocks));
  await checkSilence(judge, silent, filter);
  if (context.isSampled(blocks.length))
    for (const block of pickSample(blocks, filter, random)) await compareReceipts(judge, block, filter);
  return blocks;
}

async function readQuery(
  { client, mostLogs, mayContain }: PieceContext,
  range: LogRange,
  { query, filter, onLogs, signal }: PieceRequest & { query: PortalQuery },
): Promise<PortalBlock[]> {
  const checks = createPartChecks(filter, mayContain);
  const blocks: PortalBlock[] = [];
  let logs = 0;
  for await (const lines of client.stream({ ...range, query, signal })) {
    const before = logs;
    for (const line of lines) {
      const block = asUntrue(() => {
        const parsed = parseBlockLine(line);
        checks.checkBlock(parsed);
        return parsed;
      });
      // Portals add the first and last block of what they cover, here and there.
      if (query.includeAllBlocks || block.logs.length > 0 || block.number === range.toBlock)
        blocks.push(block);
      logs += block.logs.length;
    }
    if (logs > mostLogs && range.toBlock > range.fromBlock)
      throw new PieceTooLarge(`blocks ${range.fromBlock} to ${range.toBlock} have over ${mostLogs} logs`);
    await onLogs(logs - before);
  }
  return blocks;
}

/** Blocks of several answers about one range. Throws PortalFailure where they differ. */
function mergeAnswers(answers: readonly (readonly PortalBlock[])[]): PortalBlock[] {
  const merged = new Map<number, PortalBlock>();
  for (const block of answers.flat()) {
    const known = merged.get(block.number);
    if (known !== undefined && known.hash !== block.hash)
      throw new PortalFailure("untrue", `block ${block.number} is ${known.hash}, and ${block.hash}`);
    merged.set(block.number, known === undefined ? block : join(known, block));
  }
  return [...merged.values()].sort((a, b) => a.number - b.number);
}

function join(a: PortalBlock, b: PortalBlock): PortalBlock {
  const logs = new Map([...a.logs, ...b.logs].map((log) => [log.logIndex, log]));
  return {
    ...a,
    logs: [...logs.values()].sort((x, y) => x.logIndex - y.logIndex),
    senders: Object.assign([], a.senders, b.senders),
  };
}

/** A block with logs, and a silent one whose bloom says nothing. */
function pickSample(blocks: readonly PortalBlock[], filter: LogFilter, random: () => number): PortalBlock[] {
  const withLogs = blocks.filter(({ logs }) => logs.length > 0);
  const mute = blocks.filter((block) => block.logs.length === 0 && !isTelling(block, filter));
  return [...pickSome(withLogs, 1, random), ...pickSome(mute, 1, random)];
}

/** Some blocks of which nothing came. */
function pickSilent(
  { sampledHeaders, random }: PieceContext,
  { fromBlock, toBlock }: LogRange,
  blocks: readonly PortalBlock[],
): number[] {
  const present = new Set(blocks.map(({ number }) => number));
  const picked = Array.from({ length: sampledHeaders }, () =>
    Math.floor(fromBlock + random() * (toBlock - fromBlock + 1)),
  );
  return [...new Set(picked)].filter((number) => !present.has(number));
}

/** What a check throws says that the portal told something untrue. */
function asUntrue<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw new PortalFailure("untrue", (error as Error).message);
  }
}

function pickSome<T>(items: readonly T[], count: number, random: () => number): T[] {
  if (items.length <= count) return [...items];
  const at = new Set(Array.from({ length: count }, () => Math.floor(random() * items.length)));
  return [...at].sort((a, b) => a - b).map((i) => items[i] as T);
}
