import { type Guard, guardedPut } from "../../shared/storage/lease.ts";
import { put, type Store } from "../../shared/storage/port.ts";
import type { SlotHead, SolanaSource } from "../chain/port.ts";
import { NO_SWAPS } from "../metrics/swap-share.ts";
import { type CheckpointRow, checkpoints, finalBlocks } from "../store/collections.ts";
import { CHAIN_ID, getCheckpoint } from "../store/queries.ts";
import { readAnchor } from "./final-block.ts";
import type { BlockReader, DecodedBlock } from "./read/decoded-block.ts";
import { slotsPruned } from "./stalls.ts";

/** A day of mainnet is a terabyte of blocks: an hour is indexed within some twenty minutes. */
const DEFAULT_DEPTH_SECONDS = 3_600;
/** A slot takes 0.4 seconds, seldom less than 0.36: so many are more than the depth. */
const DEFAULT_DEPTH_SLOTS = 10_000;

type HeadSource = Pick<
  SolanaSource,
  "head" | "firstAvailableSlot" | "setAnchor" | "getAnchor" | "genesisHash"
>;

interface CheckpointOptions {
  readonly source: HeadSource;
  readonly reader: BlockReader;
  /** First slot to index; undefined = the first one of the last hour. */
  readonly startSlot: number | undefined;
  /** None in tests. */
  readonly guard?: Guard;
}

/** Anchors the source to the stored index, or on a first run to the cluster of the endpoint that responds first. */
export async function anchorSource(
  store: Store,
  source: Pick<SolanaSource, "setAnchor" | "getAnchor" | "genesisHash">,
): Promise<void> {
  const anchor = await readAnchor(store);
  source.setAnchor(anchor);
  if (anchor.genesisHash !== undefined) return;
  const genesisHash = await source.genesisHash();
  const anchored = source.getAnchor();
  // The endpoint's check has already found it, unless the endpoint forbids that request.
  if (genesisHash !== undefined && anchored.genesisHash === undefined)
    source.setAnchor({ ...anchored, genesisHash });
}

/**
 * The stored checkpoint, or on a first run one just before the first block to index. Throws IngestStalled if no endpoint has
 * the next slots any more, and Error if the cluster has no final block to begin with yet.
 */
export async function openCheckpoint(store: Store, options: CheckpointOptions): Promise<CheckpointRow> {
  const stored = await getCheckpoint(store);
  if (stored !== undefined) {
    const first = await options.source.firstAvailableSlot();
    if (first > stored.slot + 1) throw slotsPruned(stored.slot + 1, first - 1);
    return stored;
  }
  const head = await options.source.head("finalized");
  const available = await options.source.firstAvailableSlot();
  const from = options.startSlot ?? (await findStartSlot(options.reader, { head, available }));
  const first = await findFirstBlock(options.reader, {
    fromSlot: Math.max(from, available),
    toSlot: head.slot,
  });
  if (first === undefined)
    throw new Error(`The cluster has no final block from slot ${Math.max(from, available)} on yet.`);
  const fromTime = await findBlockTime(options.reader, { block: first, toSlot: head.slot });
  const checkpoint: CheckpointRow = {
    chainId: CHAIN_ID,
    slot: first.slot - 1,
    blockhash: "",
    time: fromTime,
    fromSlot: first.slot,
    fromTime,
    rowsFromSlot: first.slot,
    rowsFromTime: fromTime,
    headSlot: head.slot,
    finalizedSlot: first.slot - 1,
    fromBlockhash: first.blockhash,
    ...NO_SWAPS,
  };
  const { genesisHash = null } = options.source.getAnchor();
  const { slot, blockhash } = first;
  await store.write([
    put(finalBlocks, [{ chainId: CHAIN_ID, slot, blockhash, genesisHash }]),
    ...guardedPut(options.guard ?? (() => []), checkpoints, checkpoint),
  ]);
  return checkpoint;
}

/** The first slot within the last hour, by binary search over block times. */
async function findStartSlot(
  reader: BlockReader,
  options: { head: SlotHead; available: number },
): Promise<number> {
  const toSlot = options.head.slot;
  const last = await findFirstBlock(reader, { fromSlot: toSlot, toSlot });
  const since = (last?.blockTime ?? Math.floor(Date.now() / 1000)) - DEFAULT_DEPTH_SECONDS;
  let low = Math.max(options.available, toSlot - DEFAULT_DEPTH_SLOTS);
  let high = toSlot;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const block = await findFirstBlock(reader, { fromSlot: middle, toSlot: high });
    const time = block && (await findBlockTime(reader, { block, toSlot }));
    if (time === undefined || time >= since) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first produced block of a range of final slots. */
async function findFirstBlock(
  reader: BlockReader,
  { fromSlot, toSlot }: { fromSlot: number; toSlot: number },
): Promise<DecodedBlock | undefined> {
  for (let from = fromSlot, size = 1; from <= toSlot; from += size, size *= 2) {
    const range = { fromSlot: from, toSlot: Math.min(toSlot, from + size - 1) };
    const [block] = await reader.blocks({ ...range, commitment: "finalized" });
    if (block !== undefined) return block;
  }
  return undefined;
}

/** The block's time, or that of the next block that has one. */
async function findBlockTime(
  reader: BlockReader,
  { block, toSlot }: { block: DecodedBlock; toSlot: number },
): Promise<number> {
  let at: DecodedBlock | undefined = block;
  while (at !== undefined && at.blockTime === null)
    at = await findFirstBlock(reader, { fromSlot: at.slot + 1, toSlot });
  if (at === undefined || at.blockTime === null)
    throw new Error(`The cluster has no final block with a time from slot ${block.slot} on yet.`);
  return at.blockTime;
}
