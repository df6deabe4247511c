/** An ingest's log line as a person wants to read it; undefined for what only machines need. */
export function readableLine(line: string): string | undefined {
  let entry: { level?: string; msg?: string; chainId?: number; err?: { message?: string } };
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, msg = "", err } = entry;
  if (msg.includes("█") || msg.includes("░")) return msg;
  if (level === "warn" || level === "error" || level === "fatal") {
    const chain = entry.chainId === undefined ? "" : `chain ${entry.chainId}: `;
    return `${level}: ${chain}${msg}${err?.message === undefined ? "" : ` (${err.message})`}`;
  }
  return undefined;
}
