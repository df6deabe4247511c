import { LAST_UNIX_SECOND, unixTime } from "./param.ts";
import { parameterValueError } from "./parameter-error.ts";

const DAY_SECONDS = 86_400;

/** Both ends of a required window: after_time ≤ t < before_time. */
export const requiredWindow = {
  after_time: unixTime({
    description: "Start of the time range, Unix seconds, included. Must be below before_time.",
    example: "1735689600",
  }),
  before_time: unixTime({
    description: "End of the time range, Unix seconds, excluded.",
    example: "1735776000",
  }),
} as const;

/** Wire parameters of a time window, in Unix seconds and days. */
export interface WindowParams {
  readonly days?: number | undefined;
  readonly after_time?: number | undefined;
  readonly before_time?: number | undefined;
}

/** afterTime ≤ t < beforeTime, in Unix seconds. */
export interface Window {
  readonly afterTime: number;
  readonly beforeTime: number;
}

/** Throws bad_request when both ends are sent and the window is empty. */
export function checkWindow({ after_time, before_time }: WindowParams): void {
  if (after_time === undefined || before_time === undefined || after_time < before_time) return;
  throw parameterValueError("after_time", String(after_time), `is not below before_time ${before_time}`);
}

/**
 * The window of a request. Neither end sent: the last `days` up to and including `headTime` (Unix seconds of the
 * indexed head). One end sent: `days` bounds the other side. Both sent: they win over `days`.
 */
export function resolveWindow(params: WindowParams, headTime: number): Window {
  checkWindow(params);
  const { after_time, before_time } = params;
  const span = (params.days ?? 0) * DAY_SECONDS;
  if (after_time !== undefined) {
    return {
      afterTime: after_time,
      beforeTime: before_time ?? Math.min(after_time + span, LAST_UNIX_SECOND),
    };
  }
  const beforeTime = before_time ?? headTime + 1;
  return { afterTime: Math.max(beforeTime - span, 0), beforeTime };
}
