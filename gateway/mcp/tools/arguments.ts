import { type Arguments, type Tool, ToolArgumentError } from "./tool.ts";

/** Throws for names that the tool does not take: a misspelt filter would be a wrong answer. */
export function rejectUnknownArguments({ name, inputSchema }: Tool, args: Arguments): void {
  const known = Object.keys(inputSchema.properties);
  const unknown = Object.keys(args).filter((each) => !known.includes(each));
  if (unknown.length === 0) return;
  const takes = known.length === 0 ? "nothing" : known.join(", ");
  throw new ToolArgumentError(`${name} has no argument ${unknown.join(", ")}. It takes ${takes}.`);
}

/** A value as the query has it; undefined where it was not sent. Only the service knows whether it is valid. */
export function toQueryValue(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (typeof value === "number") return toPlainDigits(value);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(",");
  throw new ToolArgumentError(
    `Cannot read ${name}: ${JSON.stringify(value)} is no text, number, boolean or list of texts.`,
  );
}

/** JavaScript writes 0.0000001 as 1e-7, which the API does not take. */
function toPlainDigits(value: number): string {
  const text = String(value);
  return text.includes("e") ? value.toFixed(20).replace(/\.?0+$/, "") : text;
}

/** A text that must be there. */
export function requireText(args: Arguments, name: string): string {
  const value = args[name];
  if (typeof value === "string" && value.trim() !== "") return value.trim();
  throw new ToolArgumentError(`Cannot read ${name}: it is required, as a text.`);
}

/** A whole number within bounds, or its default. */
export function readInteger(
  args: Arguments,
  name: string,
  { fallback, min, max }: { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const value = args[name] ?? fallback;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (Number.isInteger(number) && (number as number) >= min && (number as number) <= max)
    return number as number;
  throw new ToolArgumentError(
    `Cannot read ${name}: ${JSON.stringify(value)} is no whole number from ${min} to ${max}.`,
  );
}

/** Names out of a list that is known; undefined where none were sent. */
export function readNames(args: Arguments, name: string, known: readonly string[]): string[] | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  const names = typeof value === "string" ? value.split(",").map((each) => each.trim()) : value;
  if (!Array.isArray(names) || names.length === 0)
    throw new ToolArgumentError(`Cannot read ${name}: it is a list of names.`);
  const wrong = names.find((each) => !known.includes(each));
  if (wrong !== undefined)
    throw new ToolArgumentError(
      `Cannot read ${name}: ${JSON.stringify(wrong)} is none of ${known.join(", ")}.`,
    );
  return names;
}
