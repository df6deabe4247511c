import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { GeneratorState } from "./generator.ts";
import type { ScheduleData } from "./schedule.ts";

/** A file of another version is not read. */
const VERSION = 1;

export interface SavedChain {
  readonly seed: number;
  readonly schedule: ScheduleData;
  /** The chain can be made again from the first; the last is the newest. */
  readonly snapshots: readonly GeneratorState[];
}

/** Writes in one step: a kill at any moment leaves the old file or the new one. */
export async function saveChain(file: string, chain: SavedChain): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const text = JSON.stringify({ version: VERSION, ...chain }, (_, value: unknown) =>
    typeof value === "bigint" ? `bigint:${value}` : value,
  );
  const temporary = `${file}.${process.pid}.tmp`;
  const handle = await open(temporary, "w");
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

/** Undefined without a readable file; `say` receives the reason. */
export async function loadChain(
  file: string,
  say: (message: string) => void,
): Promise<SavedChain | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch {
    return undefined;
  }
  try {
    const { version, ...chain } = JSON.parse(text, (_, value: unknown) =>
      typeof value === "string" && value.startsWith("bigint:") ? BigInt(value.slice(7)) : value,
    );
    // Files of earlier releases name the periods `stretches`.
    const { stretches, ...schedule } = chain.schedule;
    if (version === VERSION && chain.snapshots.length > 0)
      return { ...chain, schedule: { periods: stretches, ...schedule } };
    say(`the saved chain is of version ${version}, not ${VERSION}: starting a new one`);
  } catch (error) {
    say(
      `the saved chain cannot be read (${error instanceof Error ? error.message : error}): starting a new one`,
    );
  }
  return undefined;
}

/** The last slot that a client may have seen: a few bytes beside the state, written every other slot. */
export async function saveSlot(file: string, { seed, slot }: { seed: number; slot: number }): Promise<void> {
  await writeFile(`${file}.slot.tmp`, `${seed} ${slot}`);
  await rename(`${file}.slot.tmp`, `${file}.slot`);
}

/** 0 if unknown, or of another chain. */
export async function loadSlot(file: string, seed: number): Promise<number> {
  const text = await readFile(`${file}.slot`, "utf8").catch(() => "");
  const [savedSeed, slot] = text.split(" ").map(Number);
  return savedSeed === seed && Number.isSafeInteger(slot) ? (slot as number) : 0;
}

export async function savePort(file: string, port: number): Promise<void> {
  await writeFile(`${file}.port`, String(port));
}

/** 0 without one. */
export async function loadPort(file: string): Promise<number> {
  const port = Number(await readFile(`${file}.port`, "utf8").catch(() => "0"));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : 0;
}
