import { setTimeout as sleep } from "node:timers/promises";
import type { Multicall } from "../../../shared/evm/multicall/multicall.ts";
import type { BlockHeader, RawLog } from "../../../shared/evm/port.ts";
import type { ContractReader, EntityRef } from "../../protocols/protocol.ts";
import type { CallMemory } from "../entities/call-memory.ts";
import { createContractReader } from "../entities/contract-reader.ts";
import { entityKey } from "../entities/entity-key.ts";
import type { EntityRegistry } from "../entities/entity-registry.ts";
import type { ProtocolRegistry } from "../entities/protocol-registry.ts";
import { type EntityReadings, type ReadEntitiesOptions, readEntities } from "../entities/read-entities.ts";
import type { TokenCache } from "../entities/token-cache.ts";
import type { BlockBatch } from "./block-batch.ts";
import { PassView } from "./pass-view.ts";

/** A chain's entities and the means to read them. */
export interface PassContext {
  readonly chainId: number;
  readonly protocols: ProtocolRegistry;
  readonly registry: EntityRegistry;
  readonly tokens: TokenCache;
  readonly multicall: Multicall;
  readonly memory: CallMemory;
}

export interface PassPlan {
  /** The block to read at. */
  readonly head: BlockHeader;
  readonly batch: BlockBatch;
  /** States read above this block are invalid: a reorg replaced it, or a write was interrupted. Undefined = all valid. */
  readonly replacedAbove: number | undefined;
  /** Entities first found above this block are removed unless the pass finds them again; undefined = none. */
  readonly removedAbove: number | undefined;
  /** Entities to read even if no log affects them. */
  readonly include: Iterable<EntityRef> | "all";
  readonly onDone?: (done: number, total: number) => void;
}

export interface PassReadings extends EntityReadings {
  readonly view: PassView;
}

/**
 * Reads the entities that the batch's logs affect, and those to include, all at the head's hash. Throws as readEntities.
 */
export async function readPass(context: PassContext, plan: PassPlan): Promise<PassReadings> {
  const { chainId, protocols, registry, tokens, multicall, memory } = context;
  const { head, batch } = plan;
  const view = new PassView(registry, plan.removedAbove ?? Number.POSITIVE_INFINITY);
  const openReader = () =>
    createContractReader({
      ...{ chainId, block: head, tokens },
      ...{ calls: multicall.at(head), caller: multicall.address },
    });
  const reader = openReader();
  const toRead = affectedByLogs(batch.logs, { protocols, view });
  for (const ref of plan.include === "all" ? view.refs() : plan.include) {
    if (view.has(ref.kind, ref.id)) toRead.set(entityKey(ref), ref);
  }

  const read: EntityReadings["read"][number][] = [];
  const failed: EntityReadings["failed"][number][] = [];
  const seen = new Set<string>();
  for (let pending = inReadingOrder(toRead, protocols); pending.length > 0; ) {
    for (const ref of pending) seen.add(entityKey(ref));
    const options: ReadEntitiesOptions = {
      reader,
      memory,
      protocolOf: (kind) => protocols.forKind(kind),
      previous: (ref) => view.get(ref) && registry.state(ref.kind, ref.id),
      onReference(ref) {
        const isNew = view.add(ref, head.number);
        if (isNew) seen.add(entityKey(ref));
        return isNew;
      },
      ...(plan.onDone && { onDone: plan.onDone }),
    };
    const first = await readEntities(pending, options);
    const isNews = (ref: EntityRef) => (view.get(ref)?.failures ?? 0) === 0;
    const readings = await lookAgain(first, { isNews, openReader, options });
    for (const { ref, state } of readings.read) view.setState(ref, state);
    read.push(...readings.read);
    failed.push(...readings.failed);
    if (plan.replacedAbove === undefined) break;
    // The logs were matched with states of the replaced branch: match them again with the new states.
    const affected = affectedByLogs(batch.logs, { protocols, view });
    pending = [...affected.values()].filter((ref) => !seen.has(entityKey(ref)));
  }
  return { view, read, failed };
}

/** Longer than a node takes to make a block's state. */
const SECOND_LOOK_MS = 250;

/**
 * Reads entities once more that were not known to be unreadable. A node may answer while it makes the next block, with
 * one block's time and the other's state: a vault's interest since its last update is then negative, and its getters
 * revert. anvil does so.
 */
async function lookAgain(
  { read, failed }: EntityReadings,
  again: {
    readonly isNews: (ref: EntityRef) => boolean;
    readonly openReader: () => ContractReader;
    readonly options: ReadEntitiesOptions;
  },
): Promise<EntityReadings> {
  const news = failed.filter(({ ref }) => again.isNews(ref)).map(({ ref }) => ref);
  if (news.length === 0) return { read, failed };
  await sleep(SECOND_LOOK_MS);
  // A reader of its own: results of calls are kept.
  const { onDone: _, ...options } = again.options;
  const second = await readEntities(news, { ...options, reader: again.openReader() });
  const old = failed.filter(({ ref }) => !again.isNews(ref));
  return { read: [...read, ...second.read], failed: [...old, ...second.failed] };
}

/** The entities that logs create or change, by key; adds new ones to the view. */
function affectedByLogs(
  logs: readonly RawLog[],
  { protocols, view }: { protocols: ProtocolRegistry; view: PassView },
): Map<string, EntityRef> {
  const affected = new Map<string, EntityRef>();
  for (const log of logs) {
    for (const ref of protocols.affectedEntities(log, view)) {
      view.add(ref, log.blockNumber);
      affected.set(entityKey(ref), ref);
    }
  }
  return affected;
}

/** Entities that refer to others come first. */
function inReadingOrder(toRead: ReadonlyMap<string, EntityRef>, protocols: ProtocolRegistry): EntityRef[] {
  const rank = new Map([...protocols.kinds].map((kind, i) => [kind, i]));
  return [...toRead.values()].sort((a, b) => (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0));
}
