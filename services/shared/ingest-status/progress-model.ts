import type { HistoryStep, PlannedScan, ProgressPlan, ProgressStep } from "./progress.ts";
import { RateWindow } from "./rate-window.ts";

type Stage = "discovery" | "backfill" | "reading";

/** The progress at one moment. */
export interface ProgressView {
  readonly state: "starting" | "discovering" | "reading" | "backfilling" | "following";
  /** Share of the work up to the head that is done. 1 only at the head; never falls within a run. */
  readonly share: number | undefined;
  /** Includes every later stage; undefined while it cannot be estimated. */
  readonly etaSeconds: number | undefined;
  /** Of the current stage. */
  readonly done: number;
  readonly size: number;
  readonly perSecond: number | undefined;
  readonly eventsPerSecond: number | undefined;
  readonly scans: number;
  /** Later stages, in the order in which they come. */
  readonly toCome: readonly { readonly stage: Stage; readonly size: number }[];
  readonly head: number | undefined;
  readonly block: number | undefined;
  /** Time of the head less time of the block; undefined where heads carry no time. */
  readonly lagSeconds: number | undefined;
  /** The chain grows at least as fast as it is read. */
  readonly isFallingBehind: boolean;
  /** History that is still growing backwards; undefined without any. */
  readonly history: HistoryView | undefined;
}

export interface HistoryView {
  /** Unix seconds: all from here on is indexed, and where it is to begin. */
  readonly coveredFrom: number;
  readonly since: number;
  /** Undefined while it cannot be estimated. */
  readonly etaSeconds: number | undefined;
}

/**
 * The cost of one item relative to a block of a discovery, of which a request covers thousands. Used for the share, and
 * for the time of a stage until its own rate is measured: a bar a stage would start again, and a share by count would
 * stand still in the last stage.
 */
const COST: Readonly<Record<Stage, number>> = { discovery: 1, backfill: 200, reading: 1_000 };

/** The head counts as reached this close to it, and as lost this far from it. */
const NEAR_BLOCKS = 2;
const NEAR_SECONDS = 30;
/** Where heads carry no time (Solana: 0.4 seconds a slot). */
const NEAR_SLOTS = 64;
const FAR_BLOCKS = 64;
const FAR_SECONDS = 120;
/** The highest share of an unfinished run. */
const ALMOST = 0.999;

interface Task {
  readonly stage: Stage;
  readonly done: number;
  readonly size: number;
}

/**
 * The arithmetic of an ingest's progress: one share and one time left over all scans, the backfill and the reading of
 * entities, relative to the current head. Pure: times are arguments, in milliseconds.
 */
export class ProgressModel {
  #scans = new Map<string, PlannedScan>();
  #plan: Omit<ProgressPlan, "scans" | "stage"> = {};
  #entities: { done: number; size: number } | undefined;
  #stage: Stage | undefined;
  #head: { number: number; time: number | undefined } | undefined;
  #block: { number: number; time: number } | undefined;
  #isFollowing = false;
  #share: number | undefined;
  readonly #rates: Readonly<Record<Stage, RateWindow>> = {
    discovery: new RateWindow(),
    backfill: new RateWindow(),
    reading: new RateWindow(),
  };
  #events = new RateWindow({ spanMs: 30_000 });
  readonly #growth = new RateWindow({ minSpanMs: 10_000 });
  #history: HistoryStep | undefined;
  /** Seconds of history a second. A merge, in which none are indexed, is part of it. */
  readonly #historyRate = new RateWindow({ spanMs: 1_800_000 });

  apply(step: ProgressStep, nowMs: number): void {
    if (step.stage === "plan") {
      const { stage: _, scans, ...plan } = step;
      this.#scans = new Map(scans.map((scan) => [scan.name, scan]));
      this.#plan = plan;
      this.#entities = plan.entities === undefined ? undefined : { done: 0, size: plan.entities };
      return;
    }
    if (step.stage === "history") {
      this.#historyRate.add(Math.max(0, (this.#history?.leftSeconds ?? 0) - step.leftSeconds), nowMs);
      this.#history = step;
      return;
    }
    if (step.stage === "discovery") this.#discover(step, nowMs);
    else if (step.stage === "reading") {
      const before = this.#entities?.done ?? 0;
      this.#entities = { done: step.at, size: step.to };
      this.#rates.reading.add(Math.max(0, step.at - before), nowMs);
    }
    this.#stage = step.stage;
  }

  #discover(step: Extract<ProgressStep, { stage: "discovery" }>, nowMs: number): void {
    const known = this.#scans.get(step.scan) ?? {
      name: step.scan,
      from: step.from,
      at: step.from - 1,
      to: step.to,
    };
    const at = Math.max(known.at, step.at);
    this.#rates.discovery.add(at - known.at, nowMs);
    this.#events.add(step.events, nowMs);
    this.#scans.set(step.scan, { ...known, at, to: Math.max(known.to, step.to) });
    if (this.#entities !== undefined)
      this.#entities = { ...this.#entities, size: this.#entities.size + step.events };
  }

  setHead(head: { readonly number: number; readonly timestamp?: number | undefined }, nowMs: number): void {
    const grown = this.#head === undefined ? 0 : Math.max(0, head.number - this.#head.number);
    this.#growth.add(grown, nowMs);
    this.#head = { number: head.number, time: head.timestamp };
    this.#updateFollowing();
  }

  setIndexedBlock(
    block: { readonly number: number; readonly time: number; readonly events?: number | undefined },
    nowMs: number,
  ): void {
    const before = this.#block?.number ?? this.#plan.backfill?.at;
    if (!this.#isFollowing && this.#plan.backfill !== undefined) {
      this.#stage = "backfill";
      this.#rates.backfill.add(before === undefined ? 0 : Math.max(0, block.number - before), nowMs);
    }
    this.#events.add(block.events ?? 0, nowMs);
    this.#block = { number: block.number, time: block.time };
    if (this.#head !== undefined && this.#head.number < block.number)
      this.#head = { number: block.number, time: block.time };
    this.#updateFollowing();
  }

  #updateFollowing(): void {
    const [head, block] = [this.#head, this.#block];
    if (head === undefined || block === undefined) return;
    const behind = head.number - block.number;
    const lag = head.time === undefined ? undefined : head.time - block.time;
    const isNear = behind <= NEAR_BLOCKS || (lag === undefined ? behind <= NEAR_SLOTS : lag <= NEAR_SECONDS);
    const isFar = behind > FAR_BLOCKS && (lag === undefined || lag > FAR_SECONDS);
    if (!this.#isFollowing && isNear) {
      this.#isFollowing = true;
      // The event rate of the backfill does not apply at the head.
      this.#events = new RateWindow({ spanMs: 30_000 });
    } else if (this.#isFollowing && isFar) {
      // A new run starts with a new share.
      this.#isFollowing = false;
      this.#share = undefined;
      this.#stage = undefined;
    }
  }

  view(nowMs: number): ProgressView {
    const tasks = this.#tasks();
    const stage = this.#isFollowing ? undefined : this.#stage;
    const current = tasks.find((task) => task.stage === stage);
    const growth = this.#growth.perSecond(nowMs) ?? 0;
    const pace = stage && this.#rates[stage].perSecond(nowMs);
    const isFallingBehind = stage === "backfill" && pace !== undefined && pace <= growth;
    const [head, block] = [this.#head, this.#block];
    return {
      state: this.#isFollowing ? "following" : stateOf(stage, block !== undefined),
      share: this.#shareOf(tasks),
      etaSeconds: this.#isFollowing ? 0 : this.#etaOf(tasks, { stage, growth, nowMs }),
      done: current?.done ?? 0,
      size: current?.size ?? 0,
      perSecond: pace,
      eventsPerSecond: this.#events.perSecond(nowMs),
      scans: this.#scans.size,
      toCome: tasks.filter(
        (task) =>
          task.stage !== stage && ORDER[task.stage] > ORDER[stage ?? "discovery"] && task.size > task.done,
      ),
      head: head?.number,
      block: block?.number,
      lagSeconds:
        head?.time === undefined || block === undefined ? undefined : Math.max(0, head.time - block.time),
      isFallingBehind,
      history: this.#historyView(nowMs),
    };
  }

  #historyView(nowMs: number): HistoryView | undefined {
    if (this.#history === undefined || this.#history.leftSeconds <= 0) return undefined;
    const { coveredFrom, since, leftSeconds } = this.#history;
    const pace = this.#historyRate.perSecond(nowMs);
    const etaSeconds = pace === undefined || pace <= 0 ? undefined : Math.ceil(leftSeconds / pace);
    return { coveredFrom, since, etaSeconds };
  }

  /** All stages of the run with their current counts. */
  #tasks(): Task[] {
    const tasks: Task[] = [];
    const scans = [...this.#scans.values()];
    if (scans.length > 0) {
      const head = this.#plan.scansToHead === true ? (this.#head?.number ?? 0) : 0;
      const size = scans.reduce((sum, { from, to }) => sum + Math.max(0, Math.max(to, head) - from + 1), 0);
      const done = scans.reduce((sum, { from, at }) => sum + Math.max(0, at - from + 1), 0);
      tasks.push({ stage: "discovery", done, size });
    }
    const { backfill } = this.#plan;
    if (backfill !== undefined) {
      const at = Math.max(backfill.at, this.#block?.number ?? backfill.at);
      const size = Math.max(0, Math.max(this.#head?.number ?? at, at) - backfill.from + 1);
      tasks.push({ stage: "backfill", done: Math.max(0, at - backfill.from + 1), size });
    }
    if (this.#entities !== undefined) tasks.push({ stage: "reading", ...this.#entities });
    return tasks;
  }

  #shareOf(tasks: readonly Task[]): number | undefined {
    if (this.#isFollowing) {
      this.#share = 1;
      return 1;
    }
    const costOf = (count: (task: Task) => number) =>
      tasks.reduce((sum, task) => sum + count(task) * COST[task.stage], 0);
    const size = costOf((task) => task.size);
    if (size === 0) return this.#share;
    const share = Math.min(ALMOST, costOf((task) => Math.min(task.done, task.size)) / size);
    this.#share = Math.max(this.#share ?? 0, share);
    return this.#share;
  }

  #etaOf(
    tasks: readonly Task[],
    at: { readonly stage: Stage | undefined; readonly growth: number; readonly nowMs: number },
  ): number | undefined {
    const { stage, growth, nowMs } = at;
    const measured = stage && this.#rates[stage].perSecond(nowMs);
    const costPerSecond = stage && measured !== undefined ? measured * COST[stage] : undefined;
    let seconds = 0;
    for (const task of tasks) {
      const left = Math.max(0, task.size - task.done);
      if (left === 0) continue;
      const own = this.#rates[task.stage].perSecond(nowMs);
      const pace = own ?? (costPerSecond === undefined ? undefined : costPerSecond / COST[task.stage]);
      // New blocks arrive meanwhile and have to be read too.
      const gain = pace === undefined ? undefined : task.stage === "backfill" ? pace - growth : pace;
      if (gain === undefined || gain <= 0) return undefined;
      seconds += left / gain;
    }
    return Number.isFinite(seconds) && tasks.length > 0 ? Math.ceil(seconds) : undefined;
  }
}

const ORDER: Readonly<Record<Stage, number>> = { discovery: 0, backfill: 1, reading: 2 };
const STATES = { discovery: "discovering", backfill: "backfilling", reading: "reading" } as const;

/** An index that fell behind has blocks to read, whatever stage reports first. */
function stateOf(stage: Stage | undefined, hasBlock: boolean): ProgressView["state"] {
  if (stage !== undefined) return STATES[stage];
  return hasBlock ? "backfilling" : "starting";
}
