/** What a stage of the ingest has done, reported after every write. */
export interface ProgressStep {
  /** Discovery and backfill go block by block, reading unit by unit. */
  readonly stage: "discovery" | "backfill" | "reading";
  readonly from: number;
  /** Last block (unit) done. */
  readonly at: number;
  readonly to: number;
  /** Events of this step; in discovery, what was found; in reading, nothing. */
  readonly events: number;
}

export type ProgressReport = (step: ProgressStep) => void;

const BAR_WIDTH = 20;
const MIN_INTERVAL_MS = 1000;

export interface ProgressOptions {
  /** What the lines begin with. */
  readonly chain: string;
  /** What discovery finds; absent = pools. */
  readonly finds?: string;
  /** What discovery and backfill count in; absent = blocks. */
  readonly place?: "block" | "slot";
}

/**
 * Turns steps into lines with a bar, rates and the time left, at most one a second and always one at the end.
 * `now` in milliseconds.
 */
export function createProgress(
  emit: (line: string) => void,
  options: ProgressOptions & { now: () => number },
): ProgressReport {
  let stage: ProgressStep["stage"] | undefined;
  let startedMs = 0;
  let startedAt = 0;
  let events = 0;
  let lastLineMs = 0;
  return (step) => {
    const nowMs = options.now();
    if (stage !== step.stage || step.from > step.at) {
      stage = step.stage;
      startedMs = nowMs;
      startedAt = step.from;
      events = 0;
      lastLineMs = nowMs;
    }
    events += step.events;
    const isLast = step.at >= step.to;
    if (!isLast && nowMs - lastLineMs < MIN_INTERVAL_MS) return;
    lastLineMs = nowMs;
    const seconds = Math.max(nowMs - startedMs, 1) / 1000;
    emit(formatProgress(step, { ...options, seconds, blocks: step.at - startedAt + 1, events }));
    if (isLast) stage = undefined;
  };
}

/** `Base backfill ███████░░░░░░░░░░░░░ 35 % · block 1,234,567 of 3,000,000 · 1,200 blocks/s · 15,000 events/s · 2 m 10 s left` */
export function formatProgress(
  step: ProgressStep,
  run: ProgressOptions & { seconds: number; blocks: number; events: number },
): string {
  const share = step.to <= step.from ? 1 : Math.min(1, (step.at - step.from + 1) / (step.to - step.from + 1));
  const filled = Math.round(share * BAR_WIDTH);
  const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
  const blocksPerSecond = run.blocks / run.seconds;
  const place = step.stage === "reading" ? "unit" : (run.place ?? "block");
  const noun = step.stage === "discovery" ? (run.finds ?? "pools") : "events";
  return [
    `${run.chain} ${step.stage} ${bar} ${Math.floor(share * 100)} %`,
    `${place} ${format(step.at)} of ${format(step.to)}`,
    `${format(blocksPerSecond)} ${place}s/s`,
    ...(step.stage === "reading" ? [] : [`${format(run.events / run.seconds)} ${noun}/s`]),
    `${formatSeconds((step.to - step.at) / blocksPerSecond)} left`,
  ].join(" · ");
}

/** With thousands separated. By hand: the first use of the runtime's locales takes tens of milliseconds. */
function format(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [
    [Math.floor(whole / 3600), "h"],
    [Math.floor((whole % 3600) / 60), "m"],
    [whole % 60, "s"],
  ] as const;
  const first = parts.findIndex(([value]) => value > 0);
  return first < 0
    ? "0 s"
    : parts
        .slice(first, first + 2)
        .map(([value, unit]) => `${value} ${unit}`)
        .join(" ");
}
