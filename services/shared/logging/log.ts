import { type DestinationStream, type Logger, pino } from "pino";
import { VERSION } from "../process/version.ts";
import { redactSecrets } from "../settings/secrets.ts";
import type { LogLevel } from "../settings/settings.ts";
import { activeSpan } from "../tracing/active.ts";
import { LineWriter } from "./line-writer.ts";
import { formatLogLine, logFormatOf } from "./log-text.ts";

export type Log = Logger;

/** Fields whose values are credentials, one or two levels deep. */
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

/** Foreign text, such as an error's message, without the tails of URLs, API keys and secret settings. */
export function sanitizeText(text: string): string {
  return redactText(redactSecrets(text));
}

function keepHost(whole: string, scheme: string, rest: string): string {
  if (scheme.toLowerCase() === "file") return whole;
  const authority = rest.split(/[/?#]/, 1)[0] ?? "";
  return `${scheme}://${authority.slice(authority.lastIndexOf("@") + 1)}`;
}

const lineWriters = new Map<1 | 2, LineWriter>();

/** One writer for all loggers of a process, so that their lines stay in order. */
function lineWriterOf(dest: 1 | 2): LineWriter {
  const known = lineWriters.get(dest);
  if (known !== undefined) return known;
  const writer = new LineWriter(dest);
  lineWriters.set(dest, writer);
  return writer;
}

/** Text is formatted last: access lines bypass pino and need the same format. */
function streamTo(dest: 1 | 2): DestinationStream & { flushSync(): void } {
  const writer = lineWriterOf(dest);
  if (logFormatOf(dest) === "json") return writer;
  return { write: (line) => writer.write(formatLogLine(line)), flushSync: () => writer.flushSync() };
}

/** Pino's number of "error". */
const ERROR_LEVEL = 50;
let leastLevel = 0;

/**
 * From now on all loggers of this process write errors only. For the end of a process of several parts: they stop side
 * by side, and that one finds another gone is no news then.
 */
export function logErrorsOnly(): void {
  leastLevel = ERROR_LEVEL;
}

/** The trace id of the active span. Always a new object: pino adds the line's fields to it. */
function traceFields(): object {
  const span = activeSpan();
  return span === undefined ? {} : { traceId: span.spanContext().traceId };
}

/**
 * A logger that writes one JSON object a line, or text (LOG_FORMAT). The default destination is stdout, written at the end
 * of a turn of the event loop and at exit. Redaction works on the finished line: no call can bypass it.
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
      mixin: traceFields,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_FIELDS.flatMap((field) => [field, field.startsWith("[") ? `*${field}` : `*.${field}`]),
      },
      hooks: {
        streamWrite: sanitizeText,
        logMethod(args, method, level) {
          if (level >= leastLevel) method.apply(this, args);
        },
      },
    },
    stream,
  );
}
