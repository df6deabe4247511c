import { writeFully } from "../logging/line-writer.ts";
import { createLog, sanitizeText } from "../logging/log.ts";
import { describeError, logFormatOf } from "../logging/log-text.ts";
import { ConfigError } from "../settings/env.ts";

/** Start and exit messages of a process: sentences on standard error for people, else log lines. */
export interface ProcessMessages {
  failure(error: unknown, what: string): void;
  warning(text: string): void;
  stopping(why: string): void;
}

/** Ignores LOG_LEVEL: these messages explain why a process ends. */
export function createProcessMessages(name: string): ProcessMessages {
  if (logFormatOf(2) === "json") {
    const log = createLog({ name, level: "info" });
    return {
      failure(err, what) {
        if (err instanceof ConfigError) log.fatal({ problems: err.problems }, "the configuration is wrong");
        else log.fatal({ err }, what);
      },
      warning: (text) => log.warn(text),
      stopping: (why) => log.info({ why }, "stopping"),
    };
  }
  const say = (text: string) => writeFully(2, Buffer.from(`${sanitizeText(text)}\n`));
  return {
    failure(error, what) {
      if (error instanceof ConfigError) say(`${name} cannot start:\n  ${error.problems.join("\n  ")}`);
      else if (error instanceof Error && isBug(error)) say(`${name}: ${what}:\n${error.stack}`);
      else say(`${name}: ${describeError(error)}`);
    },
    warning: (text) => say(`warning: ${text}`),
    stopping: (why) => say(`Stopping (${why === "SIGINT" ? "Ctrl-C" : why}).`),
  };
}

/** Programming errors are shown with their stack; all others are about the environment. */
function isBug(error: Error): boolean {
  return error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError;
}
