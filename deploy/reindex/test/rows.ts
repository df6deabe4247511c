import type { Collection } from "../../../services/shared/storage/collection.ts";
import { put, type Store } from "../../../services/shared/storage/port.ts";

/** Rows of any collection, each with a key of its own. */
export function sampleRows(
  { fields }: Collection,
  { count, chainId }: { count: number; chainId: number },
): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, i) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, spec]) => [
        name,
        name === "chainId" ? chainId : sampleValue(spec, i),
      ]),
    ),
  );
}

function sampleValue(spec: string, i: number): unknown {
  const type = spec.replace("?", "");
  if (type === "text") return `text-${i}`;
  if (type === "hex") return `0x${i.toString(16).padStart(40, "0")}`;
  if (type === "bool") return i % 2 === 0;
  if (type === "bigint") return BigInt(i);
  return type === "json" ? [i] : i;
}

/** Puts rows of a chain into every collection; one into those that have one row a chain. */
export async function fillChain(
  store: Store,
  options: { collections: readonly Collection[]; chainId: number; count: number },
): Promise<void> {
  await store.declare(options.collections);
  for (const collection of options.collections)
    await store.write([put(collection, sampleRows(collection, options))]);
}

/** Rows by collection. */
export async function countRows(
  store: Store,
  { collections, chainId }: { collections: readonly Collection[]; chainId?: number },
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const collection of collections) {
    const isOfChain = chainId !== undefined && "chainId" in collection.fields;
    counts[collection.name] = await store.count(collection, isOfChain ? { chainId } : {});
  }
  return counts;
}
