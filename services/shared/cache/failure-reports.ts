/** Reports failures: how many since the last report, and the latest one. */
export type ReportFailures = (report: { failures: number; error: Error }) => void;

/**
 * An outage causes many failures a second: reports the first one at once, then at most one report a minute.
 * `now` in milliseconds.
 */
export function limitFailureReports(
  report: ReportFailures,
  { everyMs = 60_000, now = () => performance.now() }: { everyMs?: number; now?: () => number } = {},
): (error: Error) => void {
  let failures = 0;
  let reportedAtMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    failures++;
    if (now() - reportedAtMs < everyMs) return;
    reportedAtMs = now();
    report({ failures, error });
    failures = 0;
  };
}
