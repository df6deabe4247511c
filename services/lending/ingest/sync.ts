import type { Finality } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS, type StoredBlock } from "../../shared/evm/finality/fork.ts";
import { headerAt } from "../../shared/evm/finality/genesis.ts";
import type { BlockHeader } from "../../shared/evm/port.ts";
import { indexedBlock } from "../../shared/index/evm/checkpoint.ts";
import { ForkFinder } from "../../shared/index/evm/fork.ts";
import { followHead } from "../../shared/index/follow-head.ts";
import type { EntityRef } from "../protocols/protocol.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { discoverEntities } from "./discover.ts";
import { entityKey } from "./entities/entity-key.ts";
import { findLastState } from "./fork.ts";
import { type LoadedChain, loadChain, rollbackEntities, type SyncDeps } from "./load.ts";
import { type BlockBatch, fetchBlockBatch } from "./pass/block-batch.ts";
import { type PassContext, type PassPlan, type PassReadings, readPass } from "./pass/pass.ts";
import { findLastStates, isReplaced, toPassRows } from "./pass/pass-rows.ts";
import { writePass } from "./pass/write.ts";

/** Blocks whose logs are read; behind a longer gap, scans discover new entities and every entity is read. */
const FOLLOWED_BLOCKS = 2 * KEPT_HEADERS;
/** Entities per pass that are read only because their states are outdated. */
const REFRESHED_UNITS = 500;

/** Rounds of such readings in a refresh period. */
const REFRESH_ROUNDS = 40;

/** Keeps the stored entities equal to those of the chain: discovers, reads, refreshes and rolls them back. */
export class ChainSync {
  readonly #deps: SyncDeps;
  readonly #context: PassContext;
  readonly #genesisHash: string;
  readonly #finality: Finality;
  readonly #forks: ForkFinder;
  #checkpoint: CheckpointRow | undefined;
  /** Whether entities were read at blocks above the checkpoint: they are read again. */
  #isDirty: boolean;
  /** Unix seconds of the chain: outdated entities are read from then on. */
  #nextRefresh = 0;

  private constructor(deps: SyncDeps, loaded: LoadedChain) {
    this.#deps = deps;
    this.#context = loaded.context;
    this.#genesisHash = loaded.genesisHash;
    this.#finality = loaded.finality;
    this.#forks = new ForkFinder({ ...deps, finality: loaded.finality, findLastRow: findLastState });
    this.#checkpoint = loaded.checkpoint;
    const last = loaded.checkpoint?.blockNumber ?? Number.POSITIVE_INFINITY;
    this.#isDirty = [...loaded.context.registry.rows()].some((row) => (row.block ?? -1) > last);
  }

  /** Loads the stored index and undoes an interrupted write. Throws OtherChain for an index of another chain. */
  static async open(deps: SyncDeps): Promise<ChainSync> {
    const sync = new ChainSync(deps, await loadChain(deps));
    // For a new scan; after the checkpoint, logs name new entities.
    const checkpoint = sync.#checkpoint;
    if (checkpoint !== undefined) await sync.#discover(checkpoint.blockNumber);
    return sync;
  }

  get checkpoint(): CheckpointRow | undefined {
    return this.#checkpoint;
  }

  /** See Finality.settled. */
  settled(): Promise<void> {
    return this.#finality.settled();
  }

  /** Until the signal. Throws IndexContradicted where every endpoint contradicts what is final. */
  async run(): Promise<void> {
    const { source, signal, log, metrics } = this.#deps;
    await followHead({
      source,
      signal,
      log,
      checkpoint: () => this.#checkpoint,
      step: async () => {
        const head = await source.head();
        metrics?.setHead(head);
        return this.step(head);
      },
    });
  }

  /**
   * One step towards `head`, or back to the fork of a reorg and on from there. Returns whether there was anything to do.
   * Throws ReorgDetected where the chain is replaced meanwhile.
   */
  async step(head: BlockHeader): Promise<boolean> {
    const checkpoint = this.#checkpoint;
    if (checkpoint === undefined) {
      await this.#readFirst(head);
      return true;
    }
    const base = await this.#findBase(head, checkpoint);
    if (base === undefined) return false;
    const isReorg = base.number < checkpoint.blockNumber;
    const isReplaced = isReorg || this.#isDirty;
    if (!isReplaced && head.number === base.number) return false;
    const isFar = head.number - base.number > FOLLOWED_BLOCKS;
    if (isFar && isReorg) await this.#rollback(base, checkpoint);
    const readings = isFar
      ? await this.#catchUp(head, isReplaced ? base.number : undefined)
      : await this.#follow(head, { base, isReplaced });
    if (isReorg) this.#logReorg({ checkpoint, base, readings });
    return true;
  }

  /** Keeps what the scans of an earlier first run discovered, but not what it read. */
  async #readFirst(head: BlockHeader): Promise<void> {
    const base = { number: 0, hash: this.#genesisHash };
    if (head.number > FOLLOWED_BLOCKS) await this.#catchUp(head, base.number);
    else await this.#follow(head, { base, isReplaced: true });
  }

  /** The last block in common with the chain that leads to `head`; undefined while `head` may only be behind. */
  async #findBase(head: BlockHeader, checkpoint: CheckpointRow): Promise<StoredBlock | undefined> {
    const { source } = this.#deps;
    const { blockNumber: number, blockHash: hash } = checkpoint;
    if (head.number < number) {
      if (!(await this.#forks.isReorg(head, checkpoint))) return undefined;
      const fork = await this.#forks.find(checkpoint);
      return fork !== undefined && fork.number < head.number ? fork : undefined;
    }
    this.#forks.resetLowerHeads();
    const isIndexed =
      head.number === number
        ? head.hash === hash
        : head.parentHash === hash || (await source.headers([number]))[0]?.hash === hash;
    return isIndexed ? indexedBlock(checkpoint) : this.#forks.find(checkpoint);
  }

  /** Far from the head: scans discover entities, the logs of the last blocks are applied, every entity is read. */
  async #catchUp(seen: BlockHeader, replacedAbove: number | undefined): Promise<PassReadings> {
    const { source, report, log } = this.#deps;
    const startedMs = performance.now();
    let head = seen;
    let scanned = -1;
    let scannedHash: string | undefined;
    // During a long scan the head advances.
    while (head.number - scanned > FOLLOWED_BLOCKS) {
      scanned = head.number - KEPT_HEADERS;
      // The batch after the scan must link to the last scanned block as it was before the scan.
      scannedHash = (await headerAt(source, scanned)).hash;
      await this.#discover(scanned);
      head = await source.head();
    }
    const readings = await this.#pass({
      head,
      batch: await this.#fetchBatch(head, {
        from: scanned + 1,
        ...(scannedHash !== undefined && { parentHash: scannedHash }),
      }),
      replacedAbove,
      // Scans resume above the fork: what they discovered is valid.
      removedAbove: replacedAbove === undefined ? undefined : scanned,
      include: "all",
      onDone: (done, total) => report({ stage: "reading", from: 1, at: done, to: total, events: 0 }),
    });
    const seconds = Math.round(performance.now() - startedMs) / 1_000;
    const [entities, failed] = [readings.read.length, readings.failed.length];
    log("info", "read all entities", { block: head.number, entities, failed, seconds });
    return readings;
  }

  /** Near the head: applies the logs of the new blocks, and reads what is due. */
  async #follow(
    head: BlockHeader,
    { base, isReplaced }: { base: { number: number; hash: string }; isReplaced: boolean },
  ): Promise<PassReadings> {
    const replacedAbove = isReplaced ? base.number : undefined;
    return this.#pass({
      head,
      batch: await this.#fetchBatch(head, { from: base.number + 1, parentHash: base.hash }),
      replacedAbove,
      removedAbove: replacedAbove,
      include: this.#dueAt(head, replacedAbove),
    });
  }

  #fetchBatch(head: BlockHeader, range: { from: number; parentHash?: string }): Promise<BlockBatch> {
    const { source, signal } = this.#deps;
    return fetchBlockBatch(source, { ...range, head, topics: this.#context.protocols.topics, signal });
  }

  #dueAt(head: BlockHeader, replacedAbove: number | undefined): EntityRef[] {
    const { registry } = this.#context;
    const checkpoint = this.#checkpoint;
    const due = [...registry.volatile(head.timestamp), ...this.#outdatedAt(head)];
    if (replacedAbove === undefined) return due;
    const replaced = [...registry.rows()].filter((row) => isReplaced(row, { replacedAbove, checkpoint }));
    return [...due, ...replaced];
  }

  /** In rounds some seconds apart, each ahead of its time: most blocks without events then need no reading. */
  #outdatedAt({ timestamp }: BlockHeader): EntityRef[] {
    const { refreshSeconds } = this.#deps;
    const pause = Math.floor(refreshSeconds / REFRESH_ROUNDS);
    if (timestamp < this.#nextRefresh) return [];
    const now = timestamp + pause;
    const due = this.#context.registry.due({ now, refreshSeconds, limit: REFRESHED_UNITS });
    this.#nextRefresh = due.length < REFRESHED_UNITS ? now : timestamp;
    return due;
  }

  async #pass(plan: PassPlan): Promise<PassReadings> {
    const { store, guard, metrics, refreshSeconds } = this.#deps;
    const { chainId, registry, tokens, protocols } = this.#context;
    const { head } = plan;
    const startedMs = performance.now();
    const readings = await readPass(this.#context, plan);
    const checkpoint = this.#checkpoint;
    const rows = toPassRows({
      ...plan,
      chainId,
      genesisHash: this.#genesisHash,
      checkpoint,
      readings,
      lastStates: await findLastStates(store, { ...plan, readings, checkpoint }),
      tokens: tokens.unsaved(),
      scans: protocols.scans().map(({ scan }) => scan.name),
    });
    this.#logFailures(readings, head);
    await writePass(store, { ...rows, guard });
    for (const row of rows.removed) registry.remove(row);
    for (const row of rows.entities)
      registry.put(row, row.failures === 0 ? undefined : { now: head.timestamp, refreshSeconds });
    tokens.markSaved(rows.tokens);
    this.#checkpoint = rows.checkpoint;
    this.#finality.follow({ number: head.number, hash: head.hash, time: head.timestamp }, { isHead: true });
    this.#isDirty = false;
    metrics?.addPass({ seconds: (performance.now() - startedMs) / 1_000, readings, head, registry });
    return readings;
  }

  async #discover(toBlock: number): Promise<void> {
    const { store, source, signal, report, guard } = this.#deps;
    const { protocols, registry } = this.#context;
    const version = this.#checkpoint?.version ?? 0;
    await discoverEntities(store, { source, protocols, registry, version, toBlock, signal, report, guard });
  }

  /** Rolls entities back after a fork too far below the head to be followed block by block. */
  async #rollback(base: StoredBlock, checkpoint: CheckpointRow): Promise<void> {
    const { registry } = this.#context;
    const removed = [...registry.rows()].filter((row) => row.foundBlock > base.number);
    this.#checkpoint = await rollbackEntities(this.#deps, {
      checkpoint,
      above: base.number,
      removed,
      registry,
    });
  }

  #logReorg({
    checkpoint,
    base,
    readings,
  }: {
    checkpoint: CheckpointRow;
    base: StoredBlock;
    readings: PassReadings;
  }): void {
    const depth = checkpoint.blockNumber - base.number;
    const removed = readings.view.removed().length;
    this.#deps.log(
      "warn",
      `Chain ${checkpoint.chainId} reorganised ${depth} blocks down to ${base.number}; ${removed} entities removed, ${readings.read.length} read again.`,
    );
  }

  /** Logs each unreadable entity once, until it is read again. */
  #logFailures({ failed, view }: PassReadings, head: BlockHeader): void {
    for (const { ref, error } of failed) {
      if ((view.get(ref)?.failures ?? 0) > 0) continue;
      const message = `The entity ${entityKey(ref)} cannot be read: ${error.message}`;
      this.#deps.log("warn", message, { block: head.number });
    }
  }
}
