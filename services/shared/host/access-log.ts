import { type Logger, symbols } from "pino";
import { redactText } from "./log.ts";

/** What every access line says; every text of it is one of ours. */
export interface AccessLine {
  readonly session: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly bytes: number;
}

/** Text that stands in JSON as it is. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

interface Inside {
  readonly [symbols.streamSym]: { write(line: string): void };
  readonly [symbols.chindingsSym]: string;
}

/**
 * Writes an access line: the same line as `log.info({ ...line, ...fields }, "request")`, for a tenth of its cost, since
 * there is one for every request. The price is that no field is looked at by its name: callers put no credential there,
 * and texts are redacted by their form all the same.
 */
export function writeAccessLine(
  log: Logger,
  level: "debug" | "info" | "error",
  { line, fields }: { readonly line: AccessLine; readonly fields: Readonly<Record<string, unknown>> },
): void {
  if (!log.isLevelEnabled(level)) return;
  const inside = log as unknown as Inside;
  const { session, method, route, status, durationMs } = line;
  const bytes = fields.bytes ?? line.bytes;
  let text = `{"level":"${level}","time":"${isoNow()}"${inside[symbols.chindingsSym]},"session":"${session}","method":"${method}","route":"${route}","status":${status},"durationMs":${durationMs},"bytes":${bytes}`;
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && name !== "bytes") text += `,"${name}":${toJson(value)}`;
  }
  inside[symbols.streamSym].write(`${text},"msg":"request"}\n`);
}

function toJson(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "string" && PLAIN.test(value)) return `"${redactText(value)}"`;
  return redactText(JSON.stringify(value) ?? "null");
}

let lastMs = 0;
let lastText = "";

/** Many requests end in the same millisecond. */
function isoNow(): string {
  const nowMs = Date.now();
  if (nowMs !== lastMs) {
    lastMs = nowMs;
    lastText = new Date(nowMs).toISOString();
  }
  return lastText;
}
