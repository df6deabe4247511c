import { type DestinationStream, type Logger, pino } from "pino";
import { VERSION } from "../process/version.ts";
import { redactSecrets } from "../settings/secrets.ts";
import type { LogLevel } from "../settings/settings.ts";
import { activeSpan } from "../tracing/active.ts";
import { LineWriter } from "./line-writer.ts";
import { formatLogLine, logFormatOf } from "./log-text.ts";

export type Log = Logger;

/** Fields whose values are credentials, wherever callers put them one or two levels deep. */
const SECRET_FIELDS = [
  "apiKey",
  "authorization",
  "cookie",
  "password",
  "secret",
  "mongodbUrl",
  "redisUrl",
  '["x-api-key"]',
  '["payment-signature"]',
];

const URL_WITH_TAIL = /\b([a-z][a-z0-9+.-]*):\/\/([^\s"'<>\\]+)/gi;
const API_KEY = /\bct_[A-Za-z0-9_-]{20,}/g;

/**
 * Shortens every URL in a text to scheme and host, since paths, queries and user parts of RPC and database
 * URLs carry credentials, and blanks API keys. File URLs stay: they only occur in stack traces.
 */
export function redactText(text: string): string {
  const shortened = text.includes("://") ? text.replace(URL_WITH_TAIL, keepHost) : text;
  return shortened.includes("ct_") ? shortened.replace(API_KEY, "ct_[redacted]") : shortened;
}

/** Text of others, such as an error's message, as it may be printed: without URLs' tails, keys, and settings that are secret. */
export function sanitizeText(text: string): string {
  return redactText(redactSecrets(text));
}

function keepHost(whole: string, scheme: string, rest: string): string {
  if (scheme.toLowerCase() === "file") return whole;
  const authority = rest.split(/[/?#]/, 1)[0] ?? "";
  return `${scheme}://${authority.slice(authority.lastIndexOf("@") + 1)}`;
}

const batches = new Map<1 | 2, LineWriter>();

/** One for all loggers of a process, so that their lines stay in order. */
function batchOf(dest: 1 | 2): LineWriter {
  const known = batches.get(dest);
  if (known !== undefined) return known;
  const batch = new LineWriter(dest);
  batches.set(dest, batch);
  return batch;
}

/** As text at the very end: access lines are written past pino, and have to be read by the same person. */
function streamTo(dest: 1 | 2): DestinationStream & { flushSync(): void } {
  const batch = batchOf(dest);
  if (logFormatOf(dest) === "json") return batch;
  return { write: (line) => batch.write(formatLogLine(line)), flushSync: () => batch.flushSync() };
}

/** The trace that a line belongs to. Always an object of its own: pino puts the line's fields into it. */
function ofTrace(): object {
  const span = activeSpan();
  return span === undefined ? {} : { traceId: span.spanContext().traceId };
}

/**
 * A logger that writes one JSON object a line, or text where a person reads it (LOG_FORMAT). The default destination is stdout, written at the end of the turn of the
 * event loop and at exit. Redaction works on the finished line: no call can forget it.
 */
export function createLog(options: {
  readonly name: string;
  readonly level: LogLevel;
  /** A file descriptor (1 stdout, 2 stderr) or a stream, for tests. */
  readonly destination?: 1 | 2 | DestinationStream;
}): Log {
  const target = options.destination ?? 1;
  const stream = typeof target === "number" ? streamTo(target) : target;
  return pino(
    {
      level: options.level,
      base: { service: options.name, version: VERSION, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      mixin: ofTrace,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, field.startsWith("[") ? `*${field}` : `*.${field}`]),
      },
      hooks: { streamWrite: sanitizeText },
    },
    stream,
  );
}
