/** Writes the parts of the clients that repeat the declarations. With --check it only compares. */
import { readFile, writeFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { catalogue } from "../../gateway/catalogue.ts";
import { renderPython } from "./python.ts";
import { renderTypeScript } from "./typescript.ts";

const CLIENTS = new URL("../", import.meta.url);

/** The generated files, by their paths in clients/: equal declarations give equal texts. */
export function renderClients(): Readonly<Record<string, string>> {
  return {
    "typescript/src/endpoints.ts": renderTypeScript(catalogue),
    "python/chaintables/_endpoints.py": renderPython(catalogue),
  };
}

/** Writes the files into a folder, or with `check` compares them; returns what is wrong, in words. */
export async function generateClients({
  check,
  folder = CLIENTS,
}: {
  readonly check: boolean;
  readonly folder?: URL;
}): Promise<string[]> {
  const faults: string[] = [];
  for (const [path, text] of Object.entries(renderClients())) {
    const file = new URL(path, folder);
    if (!check) await writeFile(file, text);
    else if ((await readFile(file, "utf8").catch(() => undefined)) !== text)
      faults.push(`clients/${path} is not what the declarations make of it: run npm run generate.`);
  }
  return faults;
}

const script = process.argv[1];
if (script !== undefined && import.meta.url === pathToFileURL(script).href) {
  const faults = await generateClients({ check: process.argv.includes("--check") });
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) process.exitCode = 1;
}
