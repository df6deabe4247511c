import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A key for trying things out on this machine: made once, kept in the data folder, readable by its owner only. */
export async function readDemoKey(dataDir: string): Promise<string> {
  const file = join(dataDir, "demo-key");
  const kept = await readFile(file, "utf8").catch(() => "");
  if (kept.trim() !== "") return kept.trim();
  const key = `demo_${randomBytes(18).toString("base64url")}`;
  await mkdir(dataDir, { recursive: true });
  await writeFile(file, `${key}\n`, { mode: 0o600 });
  return key;
}
