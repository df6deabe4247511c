import type { HistoryView, ProgressView } from "./progress-model.ts";

const BAR_WIDTH = 20;

export interface ProgressLabels {
  /** Start of the line, for example "Base lending". */
  readonly chain: string;
  /** Noun for what discovery finds. */
  readonly discovered: string;
  readonly blockNoun: "block" | "slot";
  /** Noun for the events of a block. */
  readonly events: string;
}

const STAGE_OF: Readonly<Record<ProgressView["state"], string>> = {
  starting: "start",
  discovering: "discovery",
  backfilling: "backfill",
  reading: "reading",
  following: "head",
};

/**
 * `Base backfill ███████░░░░░░░░░░░░░ 35 % · block 1,234,567 of 3,000,000 · 1,200 blocks/s · 15,000 events/s · 2 m 10 s left`:
 * bar and share cover all stages together, so that they fill once. Undefined at the start.
 */
export function progressLine(view: ProgressView, words: ProgressLabels): string | undefined {
  const { state, share = 0, perSecond, eventsPerSecond } = view;
  if (state === "starting") return undefined;
  const filled = Math.min(BAR_WIDTH - 1, Math.floor(share * BAR_WIDTH));
  const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
  const noun = state === "reading" ? "entity" : words.blockNoun;
  return [
    `${words.chain} ${STAGE_OF[state]} ${bar} ${Math.floor(share * 100)} %`,
    placeOf(view, words),
    ...(perSecond === undefined
      ? []
      : [`${formatCount(perSecond)} ${noun === "entity" ? "entities" : `${noun}s`}/s`]),
    ...(state === "reading" || eventsPerSecond === undefined
      ? []
      : [`${formatCount(eventsPerSecond)} ${state === "discovering" ? words.discovered : words.events}/s`]),
    leftOf(view, words),
  ].join(" · ");
}

function placeOf(view: ProgressView, { blockNoun }: ProgressLabels): string {
  const [done, size] = [formatCount(view.done), formatCount(view.size)];
  if (view.state === "reading") return `entity ${done} of ${size}`;
  if (view.state === "discovering")
    return `${done} of ${size} ${blockNoun}s${view.scans > 1 ? ` in ${view.scans} scans` : ""}`;
  return `${blockNoun} ${formatCount(view.block ?? 0)} of ${formatCount(view.head ?? view.block ?? 0)}`;
}

function leftOf(view: ProgressView, { blockNoun }: ProgressLabels): string {
  const nouns = {
    discovery: `${blockNoun}s of discovery`,
    backfill: `${blockNoun}s of backfill`,
    reading: "entities",
  };
  const coming = view.toCome.map(({ stage, size }) => `${formatCount(size)} ${nouns[stage]}`).join(" and ");
  if (view.isFallingBehind) return "the chain grows as fast as it is read";
  if (view.etaSeconds === undefined)
    return coming === "" ? "time left unknown" : `time left unknown, then ${coming}`;
  const left = formatSeconds(view.etaSeconds);
  return coming === "" ? `${left} left` : `about ${left} left, with ${coming} to come`;
}

/** The line of an index at the head: `Base head · block 1,577 · 2 s behind · 35 events/s · 19 calls/s to rpc.example.org`. */
export function headLine(
  view: ProgressView,
  words: ProgressLabels,
  endpoint: { readonly callsPerSecond: number; readonly host: string | undefined },
): string {
  const { block = 0, head = block, lagSeconds } = view;
  const behind =
    lagSeconds === undefined ? `${formatCount(head - block)} ${words.blockNoun}s` : formatSeconds(lagSeconds);
  return [
    `${words.chain} head`,
    `${words.blockNoun} ${formatCount(block)}`,
    `${behind} behind`,
    `${formatRate(view.eventsPerSecond ?? 0)} ${words.events}/s`,
    `${formatRate(endpoint.callsPerSecond)} calls/s${endpoint.host === undefined ? "" : ` to ${endpoint.host}`}`,
    ...(view.history === undefined ? [] : [historyText(view.history)]),
  ].join(" · ");
}

/** `history back to 2026-11-20 14:00, 3 h 5 m left`. */
function historyText({ coveredFrom, etaSeconds }: HistoryView): string {
  const from = new Date(coveredFrom * 1_000).toISOString().slice(0, 16).replace("T", " ");
  const left = etaSeconds === undefined ? "time left unknown" : `${formatSeconds(etaSeconds)} left`;
  return `history back to ${from}, ${left}`;
}

/** With thousands separators. By hand: the first use of the runtime's locales takes tens of milliseconds. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function formatRate(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : formatCount(value);
}

/** The two largest units: `2 h 5 m`. */
export function formatSeconds(seconds: number): string {
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
