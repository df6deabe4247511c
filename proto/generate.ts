import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { catalogue } from "../gateway/catalogue.ts";
import { toOpenApi } from "../services/shared/contract/derive/openapi.ts";
import { HOST_PATHS } from "../services/shared/contract/derive/openapi-host.ts";

const FILE = new URL("./openapi.json", import.meta.url);

/** The text of proto/openapi.json: equal declarations give equal text. */
export function renderOpenApi(): string {
  return `${JSON.stringify(toOpenApi(catalogue, { hostPaths: HOST_PATHS }), null, 2)}\n`;
}

export interface GenerateOptions {
  /** Compare only, and name what differs. */
  readonly check: boolean;
  readonly file?: URL;
}

/** Writes the file, or with `check` compares it. Returns what is wrong with it, or undefined. */
export async function generate({ check, file = FILE }: GenerateOptions): Promise<string | undefined> {
  const text = renderOpenApi();
  if (!check) {
    await writeFile(file, text);
    return undefined;
  }
  const onDisk = await readFile(file, "utf8").catch(() => undefined);
  if (onDisk === text) return undefined;
  const state = onDisk === undefined ? "is missing" : "differs from the declarations";
  return `proto/openapi.json ${state}: run proto/generate.ts and commit the file.`;
}

const script = process.argv[1];
if (script !== undefined && import.meta.url === pathToFileURL(script).href) {
  const fault = await generate({ check: process.argv.includes("--check") });
  if (fault !== undefined) {
    console.error(fault);
    process.exitCode = 1;
  }
}
