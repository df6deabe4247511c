import type { Finality } from "../../shared/evm/finality/finality.ts";
import { KEPT_HEADERS, type StoredBlock } from "../../shared/evm/finality/fork.ts";
import { headerAt } from "../../shared/evm/finality/genesis.ts";
import type { BlockHeader } from "../../shared/evm/port.ts";
import { indexedBlock } from "../../shared/index/evm/checkpoint.ts";
import { ForkFinder } from "../../shared/index/evm/fork.ts";
import { followHead } from "../../shared/index/follow-head.ts";
import type { UnitRef } from "../protocols/protocol.ts";
import type { CheckpointRow } from "../store/collections.ts";
import { discoverUnits } from "./discover.ts";
import { findLastState } from "./fork.ts";
import { type LoadedChain, loadChain, type SyncDeps, takeBack } from "./load.ts";
import { type PassPlan, type PassReadings, type PassTools, readPass } from "./pass.ts";
import { isReplaced, lastStates, toPassRows } from "./pass-rows.ts";
import { readStretch, type Stretch } from "./stretch.ts";
import { keyOf } from "./unit-key.ts";
import { writePass } from "./write.ts";

/** Blocks whose logs are read; behind a longer gap, every unit is read instead. */
const FOLLOWED_BLOCKS = 2 * KEPT_HEADERS;
/** Units that are read in one pass only because their states are old. */
const REFRESHED_UNITS = 500;

/** Keeps the store's units equal to those of the chain: found, read, heard of, taken back. */
export class ChainSync {
  readonly #deps: SyncDeps;
  readonly #tools: PassTools;
  readonly #genesisHash: string;
  readonly #finality: Finality;
  readonly #forks: ForkFinder;
  #checkpoint: CheckpointRow | undefined;
  /** Whether some units were read at blocks that the checkpoint does not stand on: they are read again. */
  #isDirty: boolean;

  private constructor(deps: SyncDeps, of: LoadedChain) {
    this.#deps = deps;
    this.#tools = of.tools;
    this.#genesisHash = of.genesisHash;
    this.#finality = of.finality;
    this.#forks = new ForkFinder({ ...deps, finality: of.finality, findLastRow: findLastState });
    this.#checkpoint = of.checkpoint;
    const last = of.checkpoint?.blockNumber ?? Number.POSITIVE_INFINITY;
    this.#isDirty = [...of.tools.book.rows()].some((row) => (row.block ?? -1) > last);
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
      stretch: await this.#readStretch(head, {
        from: scanned + 1,
        ...(scannedHash !== undefined && { parentHash: scannedHash }),
      }),
      replacedAbove,
      // Scans begin again above the block that was gone back to: what they found counts.
      goneAbove: replacedAbove === undefined ? undefined : scanned,
      also: "all",
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
      stretch: await this.#readStretch(head, { from: base.number + 1, parentHash: base.hash }),
      replacedAbove,
      goneAbove: replacedAbove,
      also: this.#dueAt(head, replacedAbove),
    });
  }

  #readStretch(head: BlockHeader, of: { from: number; parentHash?: string }): Promise<Stretch> {
    const { source, signal } = this.#deps;
    return readStretch(source, { ...of, head, topics: this.#tools.protocols.topics, signal });
  }

  #dueAt(head: BlockHeader, replacedAbove: number | undefined): UnitRef[] {
    const { book } = this.#tools;
    const checkpoint = this.#checkpoint;
    const { refreshSeconds } = this.#deps;
    const due = book.due({ now: head.timestamp, refreshSeconds, limit: REFRESHED_UNITS });
    if (replacedAbove === undefined) return due;
    const replaced = [...book.rows()].filter((row) => isReplaced(row, { replacedAbove, checkpoint }));
    return [...due, ...replaced];
  }

  async #pass(plan: PassPlan): Promise<PassReadings> {
    const { store, guard, metrics, refreshSeconds } = this.#deps;
    const { chainId, book, tokens, protocols } = this.#tools;
    const { head } = plan;
    const startedMs = performance.now();
    const readings = await readPass(this.#tools, plan);
    const checkpoint = this.#checkpoint;
    const rows = toPassRows({
      ...plan,
      chainId,
      genesisHash: this.#genesisHash,
      checkpoint,
      readings,
      lastStates: await lastStates(store, { ...plan, readings, checkpoint }),
      tokens: tokens.fresh(),
      scans: protocols.scans().map(({ scan }) => scan.name),
    });
    this.#logFailures(readings, head);
    await writePass(store, { ...rows, guard });
    for (const row of rows.gone) book.remove(row);
    for (const row of rows.units)
      book.put(row, row.failures === 0 ? undefined : { now: head.timestamp, refreshSeconds });
    tokens.keep(rows.tokens);
    this.#checkpoint = rows.checkpoint;
    this.#finality.follow({ number: head.number, hash: head.hash, time: head.timestamp }, { isHead: true });
    this.#isDirty = false;
    metrics?.addPass({ seconds: (performance.now() - startedMs) / 1_000, readings, head, book });
    return readings;
  }

  async #discover(toBlock: number): Promise<void> {
    const { store, source, signal, report, guard } = this.#deps;
    const { protocols, book } = this.#tools;
    const version = this.#checkpoint?.version ?? 0;
    await discoverUnits(store, { source, protocols, book, version, toBlock, signal, report, guard });
  }

  /** Units of a branch that forked off too far below to be followed block by block. */
  async #takeBack(base: StoredBlock, checkpoint: CheckpointRow): Promise<void> {
    const { book } = this.#tools;
    const gone = [...book.rows()].filter((row) => row.foundBlock > base.number);
    this.#checkpoint = await takeBack(this.#deps, { checkpoint, above: base.number, gone, book });
  }

  #logReorg(of: { checkpoint: CheckpointRow; base: StoredBlock; readings: PassReadings }): void {
    const { checkpoint, base, readings } = of;
    const depth = checkpoint.blockNumber - base.number;
    const gone = readings.view.gone().length;
    this.#deps.log(
      "warn",
      `Chain ${checkpoint.chainId} reorganised ${depth} blocks down to ${base.number}; ${gone} units taken back, ${readings.read.length} read again.`,
    );
  }

  /** Each unit once, until it has been read again. */
  #logFailures({ failed, view }: PassReadings, head: BlockHeader): void {
    for (const { ref, error } of failed) {
      if ((view.get(ref)?.failures ?? 0) > 0) continue;
      const message = `The unit ${keyOf(ref)} cannot be read: ${error.message}`;
      this.#deps.log("warn", message, { block: head.number });
    }
  }
}
