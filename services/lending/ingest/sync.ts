import { ReorgDetected } from "../../shared/chain-errors.ts";
import type { Finality } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS, type StoredBlock } from "../../shared/evm/finality/fork.ts";
import { headerAt } from "../../shared/evm/finality/genesis.ts";
import type { BlockHeader } from "../../shared/evm/port.ts";
import type { EntityRef } from "../protocols/protocol.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { discoverEntities } from "./discover.ts";
import { entityKey } from "./entities/entity-key.ts";
import { findFork } from "./fork.ts";
import { type LoadedChain, loadChain, rollbackEntities, type SyncDeps } from "./load.ts";
import { type BlockBatch, fetchBlockBatch } from "./pass/block-batch.ts";
import { type PassContext, type PassPlan, type PassReadings, readPass } from "./pass/pass.ts";
import { findLastStates, isReplaced, toPassRows } from "./pass/pass-rows.ts";
import { writePass } from "./pass/write.ts";

/** How long a head without a wake-up call goes unnoticed. */
const POLL_MS = 300;
/** A head below ours that differs from our chain is taken for a reorg only after this many looks. */
const SHORTER_CHAIN_LOOKS = 5;
/** Blocks whose logs are read; behind a longer gap, every unit is read instead. */
const FOLLOWED_BLOCKS = 2 * KEPT_HEADERS;
/** Units that are read in one pass only because their states are old. */
const REFRESHED_UNITS = 500;

/** Keeps the store's units equal to those of the chain: found, read, heard of, taken back. */
export class ChainSync {
  readonly #deps: SyncDeps;
  readonly #context: PassContext;
  readonly #genesisHash: string;
  readonly #finality: Finality;
  #checkpoint: CheckpointRow | undefined;
  /** Whether some units were read at blocks that the checkpoint does not stand on: they are read again. */
  #isDirty: boolean;
  #shorterLooks = 0;
  #moved: string | undefined;

  private constructor(deps: SyncDeps, of: LoadedChain) {
    this.#deps = deps;
    this.#context = of.context;
    this.#genesisHash = of.genesisHash;
    this.#finality = of.finality;
    this.#checkpoint = of.checkpoint;
    const last = of.checkpoint?.blockNumber ?? Number.POSITIVE_INFINITY;
    this.#isDirty = [...of.context.registry.rows()].some((row) => (row.block ?? -1) > last);
  }

  /** Loads what is stored, and undoes what an interrupted write left. Throws OtherChain where that is of another chain. */
  static async open(deps: SyncDeps): Promise<ChainSync> {
    const sync = new ChainSync(deps, await loadChain(deps));
    // A scan that was not there before: what follows the checkpoint comes with the logs.
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
    while (!signal.aborted) {
      const head = await source.head();
      metrics?.setHead(head);
      try {
        if (!(await this.step(head))) await source.waitForHead(POLL_MS, signal);
      } catch (error) {
        if (!(error instanceof ReorgDetected)) throw error;
        // The same words come once, until blocks are written again.
        if (error.message !== this.#moved) log("warn", error.message);
        this.#moved = error.message;
        // A node that contradicts itself is given time to make up its mind.
        await source.waitForHead(POLL_MS, signal);
      }
    }
  }

  /** One step towards `head`; answers whether there was anything to do. Throws ReorgDetected where the chain moves under it. */
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
    if (isFar && isReorg) await this.#takeBack(base, checkpoint);
    const readings = isFar
      ? await this.#catchUp(head, isReplaced ? base.number : undefined)
      : await this.#follow(head, { base, isReplaced });
    if (isReorg) this.#logReorg({ checkpoint, base, readings });
    return true;
  }

  /** What an earlier first run may have found by scans stays, what it read does not. */
  async #readFirst(head: BlockHeader): Promise<void> {
    const base = { number: 0, hash: this.#genesisHash };
    if (head.number > FOLLOWED_BLOCKS) await this.#catchUp(head, base.number);
    else await this.#follow(head, { base, isReplaced: true });
  }

  /** The last block that we share with the chain that leads to `head`; undefined while `head` may only be behind. */
  async #findBase(head: BlockHeader, checkpoint: CheckpointRow): Promise<StoredBlock | undefined> {
    const { source } = this.#deps;
    const { blockNumber: number, blockHash: hash, blockTime: time } = checkpoint;
    if (head.number < number) {
      const fork = await this.#findFork(checkpoint);
      if (fork === undefined || fork.number >= head.number) this.#shorterLooks = 0;
      else if (++this.#shorterLooks >= SHORTER_CHAIN_LOOKS) return fork;
      return undefined;
    }
    this.#shorterLooks = 0;
    const isOurs =
      head.number === number
        ? head.hash === hash
        : head.parentHash === hash || (await source.headers([number]))[0]?.hash === hash;
    return isOurs ? { number, hash, time } : this.#findFork(checkpoint);
  }

  /** Of endpoints that do not contradict what is final. Undefined where those are behind it. */
  async #findFork(checkpoint: CheckpointRow): Promise<StoredBlock | undefined> {
    const { store, source } = this.#deps;
    await source.recheck();
    await this.#finality.cancelUpdate();
    return findFork(store, { source, checkpoint, final: this.#finality.block });
  }

  /** Far from the head: scans find what was created, the last blocks are listened to, everything is read. */
  async #catchUp(seen: BlockHeader, replacedAbove: number | undefined): Promise<PassReadings> {
    const { source, report, log } = this.#deps;
    const startedMs = performance.now();
    let head = seen;
    let scanned = -1;
    let scannedHash: string | undefined;
    // A long scan leaves the head behind.
    while (head.number - scanned > FOLLOWED_BLOCKS) {
      scanned = head.number - KEPT_HEADERS;
      // The blocks after the scan must follow on the one that it ends with, as it was before it.
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
      // Scans begin again above the block that was gone back to: what they found counts.
      removedAbove: replacedAbove === undefined ? undefined : scanned,
      include: "all",
      onDone: (done, total) => report({ stage: "reading", from: 1, at: done, to: total, events: 0 }),
    });
    const seconds = Math.round(performance.now() - startedMs) / 1_000;
    const [units, failed] = [readings.read.length, readings.failed.length];
    log("info", "read all units", { block: head.number, units, failed, seconds });
    return readings;
  }

  /** Near the head: what the blocks since then say, and what is due. */
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

  #fetchBatch(head: BlockHeader, of: { from: number; parentHash?: string }): Promise<BlockBatch> {
    const { source, signal } = this.#deps;
    return fetchBlockBatch(source, { ...of, head, topics: this.#context.protocols.topics, signal });
  }

  #dueAt(head: BlockHeader, replacedAbove: number | undefined): EntityRef[] {
    const { registry } = this.#context;
    const checkpoint = this.#checkpoint;
    const { refreshSeconds } = this.#deps;
    const due = registry.due({ now: head.timestamp, refreshSeconds, limit: REFRESHED_UNITS });
    if (replacedAbove === undefined) return due;
    const replaced = [...registry.rows()].filter((row) => isReplaced(row, { replacedAbove, checkpoint }));
    return [...due, ...replaced];
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
    this.#moved = undefined;
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

  /** Units of a branch that forked off too far below to be followed block by block. */
  async #takeBack(base: StoredBlock, checkpoint: CheckpointRow): Promise<void> {
    const { registry } = this.#context;
    const removed = [...registry.rows()].filter((row) => row.foundBlock > base.number);
    this.#checkpoint = await rollbackEntities(this.#deps, {
      checkpoint,
      above: base.number,
      removed,
      registry,
    });
  }

  #logReorg(of: { checkpoint: CheckpointRow; base: StoredBlock; readings: PassReadings }): void {
    const { checkpoint, base, readings } = of;
    const depth = checkpoint.blockNumber - base.number;
    const gone = readings.view.removed().length;
    this.#deps.log(
      "warn",
      `Chain ${checkpoint.chainId} reorganised ${depth} blocks down to ${base.number}; ${gone} units taken back, ${readings.read.length} read again.`,
    );
  }

  /** Each unit once, until it has been read again. */
  #logFailures({ failed, view }: PassReadings, head: BlockHeader): void {
    for (const { ref, error } of failed) {
      if ((view.get(ref)?.failures ?? 0) > 0) continue;
      const message = `The unit ${entityKey(ref)} cannot be read: ${error.message}`;
      this.#deps.log("warn", message, { block: head.number });
    }
  }
}
