/** A command's result for programs (--json): one JSON document on standard output, where nothing else is written. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}
