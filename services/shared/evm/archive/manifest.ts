import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ArchiveError } from "./files.ts";

/** What a folder of recorded blocks says of itself. */
export interface Manifest {
  readonly chainId: number;
  /** The events that were recorded, by topic 0, sorted; null = every log. */
  readonly topics: readonly string[] | null;
  /** Further events of some contracts only. */
  readonly addressed?:
    | { readonly topics: readonly string[]; readonly addresses: readonly string[] }
    | undefined;
}

const NAME = "manifest.json";
const FORMAT = 1;

/**
 * Undefined where the folder has none: lines from elsewhere, which are taken to hold every log of their blocks. Throws
 * ArchiveError.
 */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, NAME);
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new ArchiveError(`Cannot read ${path}: ${error.message}`);
  });
  if (text === undefined) return undefined;
  const { format, chainId, topics, addressed } = parseManifest(text, path);
  if (format !== FORMAT)
    throw new ArchiveError(`Cannot read ${path}: its format is ${format}, not ${FORMAT}`);
  if (!Number.isSafeInteger(chainId)) throw new ArchiveError(`Cannot read ${path}: chainId must be a number`);
  if (topics !== null && !isHexList(topics, 64))
    throw new ArchiveError(`Cannot read ${path}: topics must be a list of hashes, or null`);
  const manifest = { chainId: chainId as number, topics };
  if (addressed === undefined) return manifest;
  const { topics: further, addresses } = Object(addressed) as Readonly<Record<string, unknown>>;
  if (!isHexList(further, 64) || !isHexList(addresses, 40))
    throw new ArchiveError(`Cannot read ${path}: addressed must have lists of topics and addresses`);
  return { ...manifest, addressed: { topics: further, addresses } };
}

function isHexList(value: unknown, digits: number): value is readonly string[] {
  const form = new RegExp(`^0x[0-9a-f]{${digits}}$`);
  return Array.isArray(value) && value.every((each) => typeof each === "string" && form.test(each));
}

/** Whether two describe recordings that can be one. Contracts may be added: those of later blocks. */
export function isSameRecording(a: Manifest, b: Manifest): boolean {
  const keyOf = ({ chainId, topics, addressed }: Manifest) =>
    JSON.stringify([chainId, topics, addressed?.topics]);
  return keyOf(a) === keyOf(b);
}

function parseManifest(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {}
  throw new ArchiveError(`Cannot read ${path}: it is no JSON object`);
}

/** Of a recording that goes on: the contracts of both. */
export function joinManifests(before: Manifest | undefined, manifest: Manifest): Manifest {
  const { addressed } = manifest;
  if (addressed === undefined) return manifest;
  const addresses = new Set([...(before?.addressed?.addresses ?? []), ...addressed.addresses]);
  return { ...manifest, addressed: { ...addressed, addresses: [...addresses].sort() } };
}

export async function writeManifest(folder: string, manifest: Manifest): Promise<void> {
  const path = join(folder, NAME);
  await writeFile(`${path}.part`, `${JSON.stringify({ format: FORMAT, ...manifest }, undefined, 2)}\n`);
  await rename(`${path}.part`, path);
}
