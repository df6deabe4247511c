/** Log lines as text for people. */

export type LogFormat = "json" | "text";

let preferred: LogFormat | undefined;

/** Prefers text for this process wherever its output goes; LOG_FORMAT overrides it. */
export function preferTextLogs(): void {
  preferred = "text";
}

/** The format of the lines that this process writes to the descriptor. */
export function logFormatOf(fd: 1 | 2): LogFormat {
  const set = process.env.LOG_FORMAT?.trim();
  if (set === "json" || set === "text") return set;
  if (preferred !== undefined) return preferred;
  return (fd === 1 ? process.stdout : process.stderr).isTTY ? "text" : "json";
}

/** Fields that people do not need, or that the line shows elsewhere. */
const LEFT_OUT = new Set(["level", "time", "pid", "version", "service", "msg", "err", "chainId", "traceId"]);

/** Formats a line of pino as text; a line that is not JSON is returned unchanged. */
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

/** The message of an error with those of its causes, each once. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  const own = message === "" ? error.name : message;
  if (cause === undefined) return own;
  const deeper = describeError(cause);
  return own.includes(deeper) ? own : `${own}: ${deeper}`;
}
