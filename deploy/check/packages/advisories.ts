import { run } from "../command.ts";
import type { Finding } from "../step.ts";

/** A known fault of a package that we live with for a while: why, and until when. */
export interface Accepted {
  /** As the registry names it: GHSA-xxxx-xxxx-xxxx. */
  readonly id: string;
  readonly reason: string;
  /** The first day (UTC, YYYY-MM-DD) on which it fails the check again. */
  readonly until: string;
}

const ACCEPTED: readonly Accepted[] = [];

const GRAVE: ReadonlySet<string> = new Set(["high", "critical"]);
const COMMAND = ["npm", "audit", "--omit=dev", "--json"];
const TIMEOUT_MS = 120_000;

/** One advisory in npm's report; a text names another package of the report that has one. */
type Cause = string | { readonly title?: string; readonly url?: string; readonly severity?: string };

interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<Record<string, { readonly via?: readonly Cause[] }>>;
  readonly message?: string;
}

/**
 * Reads known faults from the registry of production dependencies. Many mirrors do not offer them, and a machine may
 * be offline: then the result is unknown, which is reported and passes, unless AUDIT_REQUIRED is set.
 */
export async function inspectAdvisories(): Promise<Finding> {
  const { stdout, output } = await run(COMMAND, { timeoutMs: TIMEOUT_MS });
  return judgeAudit(stdout || output, {
    accepted: ACCEPTED,
    today: new Date().toISOString().slice(0, 10),
    isRequired: Boolean(process.env.AUDIT_REQUIRED),
  });
}

export function judgeAudit(
  text: string,
  options: { readonly accepted: readonly Accepted[]; readonly today: string; readonly isRequired: boolean },
): Finding {
  const report = parseReport(text);
  const { vulnerabilities } = report;
  if (report.auditReportVersion !== 2 || vulnerabilities === undefined) {
    const why = `UNKNOWN, the registry gave no audit: ${(report.message ?? text).slice(0, 200).trim()}`;
    return { faults: options.isRequired ? [why] : [], seen: why };
  }
  const accepted = new Set(options.accepted.filter(({ until }) => options.today < until).map(({ id }) => id));
  const found = new Set<string>();
  const faults: string[] = [];
  for (const [name, { via = [] }] of Object.entries(vulnerabilities)) {
    for (const cause of via) {
      if (typeof cause === "string" || !GRAVE.has(cause.severity ?? "")) continue;
      const id = idOf(cause);
      found.add(id);
      if (!accepted.has(id)) faults.push(`${name}: ${cause.severity}, ${cause.title ?? "untitled"} (${id})`);
    }
  }
  for (const { id } of options.accepted)
    if (!found.has(id)) faults.push(`${id} is accepted, and nothing has it any more`);
  const count = Object.keys(vulnerabilities).length;
  return { faults, seen: `${count} packages with advisories, ${found.size} of them high or critical` };
}

function idOf({ url = "", title = "" }: Exclude<Cause, string>): string {
  return /GHSA(-[0-9a-z]{4}){3}/i.exec(url)?.[0] ?? (url || title);
}

function parseReport(text: string): Report {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return {};
  }
}
