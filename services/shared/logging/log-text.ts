/** Log lines as a person wants to read them. */

export type LogFormat = "json" | "text";

let preferred: LogFormat | undefined;

/** For a process that speaks to a person wherever its output goes; LOG_FORMAT still decides where it is set. */
export function preferTextLogs(): void {
  preferred = "text";
}

/** The form of lines that this process writes to the descriptor. */
export function logFormatOf(fd: 1 | 2): LogFormat {
  const set = process.env.LOG_FORMAT?.trim();
  if (set === "json" || set === "text") return set;
  if (preferred !== undefined) return preferred;
  return (fd === 1 ? process.stdout : process.stderr).isTTY ? "text" : "json";
}

/** Fields that a person has no use for, or that stand elsewhere in the line. */
const LEFT_OUT = new Set(["level", "time", "pid", "version", "service", "msg", "err", "chainId", "traceId"]);

/** A line of pino as text; a line that is not JSON stays as it is. */
export function formatLogLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, time, service, msg = "", chainId, err } = entry;
  const at = typeof time === "string" ? time.slice(11, 19) : "";
  const chain = chainId === undefined ? "" : `chain ${chainId}: `;
  const reason = (err as { message?: unknown } | undefined)?.message;
  const why = typeof reason === "string" && !String(msg).includes(reason) ? ` (${reason})` : "";
  const fields = Object.entries(entry).filter(([name, value]) => !LEFT_OUT.has(name) && value !== undefined);
  const shown = fields.map(
    ([name, value]) => ` ${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return `${at} ${level} ${service}: ${chain}${msg}${why}${shown.join("")}\n`;
}

/** What went wrong with its causes, none of them twice. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  const own = message === "" ? error.name : message;
  if (cause === undefined) return own;
  const deeper = describeError(cause);
  return own.includes(deeper) ? own : `${own}: ${deeper}`;
}
