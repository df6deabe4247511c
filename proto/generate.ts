import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { catalogue } from "../gateway/catalogue.ts";
import { toOpenApi } from "../services/shared/contract/derive/openapi.ts";

const FILE = new URL("./openapi.json", import.meta.url);

/** The text of proto/openapi.json: equal declarations give equal text. */
export function renderOpenApi(): string {
  return `${JSON.stringify(toOpenApi(catalogue), null, 2)}\n`;
}

/** Writes the file, or with `check` only compares it. Answers the process's exit code. */
export async function generate({ check }: { check: boolean }): Promise<number> {
  const text = renderOpenApi();
  if (!check) {
    await writeFile(FILE, text);
    return 0;
  }
  const onDisk = await readFile(FILE, "utf8").catch(() => undefined);
  if (onDisk === text) return 0;
  const state = onDisk === undefined ? "is missing" : "differs from the declarations";
  console.error(`proto/openapi.json ${state}: run proto/generate.ts and commit the file.`);
  return 1;
}

const script = process.argv[1];
if (script !== undefined && import.meta.url === pathToFileURL(script).href) {
  process.exitCode = await generate({ check: process.argv.includes("--check") });
}
