import { type Logger, symbols } from "pino";
import { redactText } from "../logging/log.ts";

/** The fields of every access log line; its texts never come from a client. */
export interface AccessLine {
  readonly session: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly bytes: number;
}

/** Text that needs no escaping in JSON. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

interface Inside {
  readonly [symbols.streamSym]: { write(line: string): void };
  readonly [symbols.chindingsSym]: string;
}

/**
 * Writes an access line: the same line as `log.info({ ...line, ...fields }, "request")`, for a tenth of its cost, since
 * there is one for every request. The price: no field is redacted by its name, so callers must put no credential there;
 * texts are still redacted by their form.
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
  let text = `{"level":"${level}","time":"${isoNow()}"${inside[symbols.chindingsSym]},"session":"${session}","method":"${method}","route":"${route}","status":${status},"durationMs":${numberText(durationMs)},"bytes":${bytes}`;
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && name !== "bytes") text += `,"${name}":${toJson(value)}`;
  }
  inside[symbols.streamSym].write(`${text},"msg":"request"}\n`);
}

function toJson(value: unknown): string {
  if (typeof value === "number") return Number.isFinite(value) ? numberText(value) : "null";
  if (typeof value === "string" && PLAIN.test(value)) return `"${redactText(value)}"`;
  return redactText(JSON.stringify(value) ?? "null");
}

/** The decimals of milliseconds with three digits. */
const THOUSANDTHS = Array.from({ length: 1000 }, (_, place) => String(place / 1000).slice(1));
const MAX_WHOLE = 1_000_000;

/** A number in JSON. Times have microseconds; building their text from parts is faster than formatting. */
export function numberText(value: number): string {
  const thousandths = Math.round(value * 1000);
  if (value < 0 || value >= MAX_WHOLE || thousandths / 1000 !== value) return String(value);
  const whole = Math.floor(thousandths / 1000);
  return `${whole}${THOUSANDTHS[thousandths - whole * 1000]}`;
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
