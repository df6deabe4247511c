import type { ProgressLabels } from "../ingest-status/progress-line.ts";
import { formatCount, formatSeconds } from "../ingest-status/progress-line.ts";
import type { ProgressView } from "../ingest-status/progress-model.ts";

export const LIVE_MOODS = ["working", "following", "failing"] as const;

/** What an ingest tells the process that started it, each second: a chain in a few words. */
export interface LiveNotice {
  readonly kind: "live";
  /** Distinguishes the chains of several ingests: "Base", "Base lending". */
  readonly chain: string;
  readonly mood: (typeof LIVE_MOODS)[number];
  /** Without the name of the chain. */
  readonly text: string;
}

export type TellLive = (notice: LiveNotice) => void;

/** The channel to the process that started this one; a part of `process`. */
interface ParentChannel {
  readonly send?: ((message: LiveNotice, ...rest: never[]) => unknown) | undefined;
  readonly connected?: boolean;
}

export function isLiveNotice(message: unknown): message is LiveNotice {
  const { kind, chain, mood, text } = (message ?? {}) as Partial<LiveNotice>;
  return (
    kind === "live" &&
    typeof chain === "string" &&
    typeof text === "string" &&
    LIVE_MOODS.some((known) => known === mood)
  );
}

/** Undefined where no process listens. */
export function openLiveChannel(channel: ParentChannel = process as ParentChannel): TellLive | undefined {
  if (channel.send === undefined) return undefined;
  return (notice) => {
    if (channel.connected === true) channel.send?.(notice);
  };
}

/** `1,577 · 2 s behind · 35 events/s · from 2026-11-20`, or while it reads `35 % · 15,000 events/s · 2 m 10 s left`. */
export function liveNotice(
  view: ProgressView,
  { words, why }: { readonly words: ProgressLabels; readonly why: string | undefined },
): LiveNotice {
  const { chain } = words;
  if (why !== undefined) return { kind: "live", chain, mood: "failing", text: `fails: ${why}` };
  if (view.state === "following")
    return { kind: "live", chain, mood: "following", text: atHead(view, words) };
  const { share = 0, eventsPerSecond, etaSeconds } = view;
  const parts = [
    view.state === "starting" ? "starts" : `${Math.floor(share * 100)} %`,
    ...(eventsPerSecond === undefined ? [] : [`${formatRate(eventsPerSecond)} ${words.events}/s`]),
    ...(etaSeconds === undefined ? [] : [`${formatSeconds(etaSeconds)} left`]),
  ];
  return { kind: "live", chain, mood: "working", text: parts.join(" · ") };
}

function atHead(view: ProgressView, { blockNoun, events }: ProgressLabels): string {
  const { block = 0, head = block, lagSeconds, eventsPerSecond = 0, history } = view;
  const behind =
    lagSeconds === undefined
      ? `${formatCount(head - block)} ${blockNoun}s behind`
      : `${formatSeconds(lagSeconds)} behind`;
  // Coverage, where it still grows: from when on all is indexed.
  const covered =
    history === undefined
      ? []
      : [`from ${new Date(history.coveredFrom * 1_000).toISOString().slice(0, 16).replace("T", " ")}`];
  return [formatCount(block), behind, `${formatRate(eventsPerSecond)} ${events}/s`, ...covered].join(" · ");
}

function formatRate(value: number): string {
  return value < 10 ? String(Math.round(value * 10) / 10) : formatCount(value);
}
