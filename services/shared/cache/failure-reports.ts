/** What is told of failures in a row: how many since the last time, and the last one. */
export type ReportFailures = (of: { failures: number; error: Error }) => void;

/**
 * Turns failures, of which an outage makes many a second, into word of the first one and then at most one a minute.
 * `now` in milliseconds.
 */
export function limitFailureReports(
  tell: ReportFailures,
  { everyMs = 60_000, now = () => performance.now() }: { everyMs?: number; now?: () => number } = {},
): (error: Error) => void {
  let failures = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    failures++;
    if (now() - toldAtMs < everyMs) return;
    toldAtMs = now();
    tell({ failures, error });
    failures = 0;
  };
}
