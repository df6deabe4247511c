import { historyTimes } from "../history.ts";

/** Consecutive slots at an even pace. */
export interface RunPeriod {
  readonly fromSlot: number;
  /** Unix milliseconds. */
  readonly startMs: number;
}

/** When each slot of a chain is: with it, a chain can be made again exactly as it was. */
export interface ScheduleData {
  readonly firstSlot: number;
  /** Unix seconds of the chain's first slots: a made-up past, which jumps. */
  readonly history: readonly number[];
  readonly slotMs: number;
  /** The periods in which the process ran, oldest first. */
  readonly periods: readonly RunPeriod[];
}

export function createSchedule({
  firstSlot,
  nowMs,
  historyS,
  slotMs,
}: {
  firstSlot: number;
  nowMs: number;
  historyS: number;
  slotMs: number;
}): ScheduleData {
  const nowS = Math.floor(nowMs / 1000);
  const history = historyS === 0 ? [] : historyTimes(nowS - historyS, nowS);
  return {
    firstSlot,
    history,
    slotMs,
    periods: [{ fromSlot: firstSlot + history.length, startMs: nowMs }],
  };
}

/** Unix seconds of the first slot. */
export function findBeginning({ history, periods }: ScheduleData): number {
  return history[0] ?? Math.floor((periods[0]?.startMs ?? 0) / 1000);
}

/** Unix seconds. */
export function computeTime(schedule: ScheduleData, slot: number): number {
  const { firstSlot, history, slotMs } = schedule;
  const past = history[slot - firstSlot];
  if (past !== undefined) return past;
  const { fromSlot, startMs } = findPeriod(schedule, slot);
  return Math.floor((startMs + (slot - fromSlot) * slotMs) / 1000);
}

/** Slots of the made-up past hold less, so that it is made in a moment. */
export function computeSize({ firstSlot, history }: ScheduleData, slot: number): { transactions?: number } {
  return slot - firstSlot < history.length ? { transactions: 4 } : {};
}

/** Unix milliseconds at which a slot of the last period is due. */
export function computeDueMs(schedule: ScheduleData, slot: number): number {
  const { fromSlot, startMs } = findPeriod(schedule, slot);
  return startMs + (slot - fromSlot) * schedule.slotMs;
}

/** From this slot on, time goes on from now: after a stop, or when the machine has slept. */
export function continueAt(schedule: ScheduleData, next: RunPeriod): ScheduleData {
  const earlier = schedule.periods.filter(({ fromSlot }) => fromSlot < next.fromSlot);
  return { ...schedule, periods: [...earlier, next] };
}

function findPeriod({ periods }: ScheduleData, slot: number): RunPeriod {
  return periods.findLast(({ fromSlot }) => fromSlot <= slot) ?? (periods[0] as RunPeriod);
}
