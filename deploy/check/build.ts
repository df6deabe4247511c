import { cpSync, existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { HOUSE, run } from "./command.ts";

/** Where the rooms of production keep files that are read at run time: data, protobuf files, scripts. */
const DATA_ROOMS = ["gateway", "services", "proto"];
const NOT_DATA = /\.(ts|md|sol)$|\/(bench|suite|test|testkit)\//;

/**
 * Makes dist/: JavaScript of gateway and services, with the files they read at run time at the same places, so that
 * `node dist/gateway/main.js` runs with production dependencies only. Answers every fault in words.
 */
export async function build(outDir: string = join(HOUSE, "dist")): Promise<string[]> {
  rmSync(outDir, { recursive: true, force: true });
  const { ok, output } = await run([
    "node",
    "node_modules/typescript/bin/tsc",
    "-p",
    "deploy/tsconfig.build.json",
    "--outDir",
    outDir,
  ]);
  if (!ok) return [output.trim()];
  for (const path of listDataFiles(HOUSE)) cpSync(join(HOUSE, path), join(outDir, path));
  return [];
}

/** Files other than source code that production may read, by path relative to `root`. */
export function listDataFiles(root: string): string[] {
  return DATA_ROOMS.filter((room) => existsSync(join(root, room))).flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length).replace(/^\//, ""))
      .filter((path) => !NOT_DATA.test(path)),
  );
}
