import { SETTINGS } from "./settings.ts";

/** Text of `--help` for a process. */
export interface ProcessHelp {
  /** As typed, such as "npm run gateway". */
  readonly command: string;
  /** One or two sentences. */
  readonly description: string;
  /** Entries of `usedBy` in SETTINGS whose settings it reads; absent = all. */
  readonly reads?: readonly string[];
}

const WIDTH = 100;
const INDENT = "      ";

export function describeProcess({ command, description, reads }: ProcessHelp): string {
  const settings = Object.entries(SETTINGS).flatMap(([name, setting]) => {
    const { usedBy, meaning } = setting;
    if (reads !== undefined && !usedBy.some((each) => (reads as readonly string[]).includes(each))) return [];
    const known = "default" in setting && setting.default !== "" ? ` (${setting.default})` : "";
    return [`  ${name}${known}`, ...wrap(meaning)];
  });
  return [
    `Usage: ${command}`,
    "",
    description,
    "",
    "It takes no arguments. Settings are environment variables, defaults in brackets:",
    "",
    ...settings,
    "",
  ].join("\n");
}

function wrap(text: string): string[] {
  const lines: string[] = [];
  let line = INDENT;
  for (const word of text.split(" ")) {
    if (line.length + word.length > WIDTH && line !== INDENT) {
      lines.push(line.trimEnd());
      line = INDENT;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}

/**
 * Parses the arguments: undefined = run; else a text to print and the exit code, 0 for --help and 2 for an unknown
 * argument.
 */
export function parseArguments(
  words: readonly string[],
  help: ProcessHelp,
): { readonly text: string; readonly exitCode: 0 | 2 } | undefined {
  if (words.includes("--help") || words.includes("-h")) return { text: describeProcess(help), exitCode: 0 };
  const [first] = words;
  if (first === undefined) return undefined;
  const kind = first.startsWith("-") ? "option" : "argument";
  return {
    text: `Unknown ${kind} ${JSON.stringify(first)}: ${help.command} takes none. Its settings are environment variables; ${help.command}${help.command.startsWith("npm") ? " --" : ""} --help lists them.\n`,
    exitCode: 2,
  };
}
