/** An ingest's log line as a person wants to read it; undefined for what only machines need. */
export function readableLine(line: string): string | undefined {
  let entry: {
    level?: string;
    msg?: string;
    chainId?: number;
    host?: string;
    reason?: string;
    isPreflight?: boolean;
    err?: { message?: string };
  };
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  const { level, msg = "", err, host, reason } = entry;
  // npm start has asked the same endpoints, and says so itself.
  if (entry.isPreflight) return undefined;
  if (msg.includes("█") || msg.includes("░")) return msg;
  if (level === "warn" || level === "error" || level === "fatal") {
    const chain = entry.chainId === undefined ? "" : `chain ${entry.chainId}: `;
    const why = [host, reason, err?.message].filter((each) => each !== undefined && !msg.includes(each));
    return `${level}: ${chain}${msg}${why.length === 0 ? "" : ` (${why.join(": ")})`}`;
  }
  return undefined;
}
