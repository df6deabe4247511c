import type { Collection } from "../../services/shared/storage/collection.ts";
import {
  compileCollection,
  extensionOf,
  isComplete,
  isNewerDeclaration,
} from "../../services/shared/storage/declaration.ts";
import type { Findings } from "./finding.ts";

/** A stored collection against this version's: `older` is extended by the next start, `newer` refuses this version. */
export type SchemaState = "same" | "older" | "newer" | "changed" | "missing";

export interface SchemaRow {
  readonly name: string;
  readonly state: SchemaState;
}

/** The version of a store is that of each of its collections: what it was declared as. */
export function compareSchema(
  stored: ReadonlyMap<string, string>,
  collections: readonly Collection[],
): SchemaRow[] {
  return collections.map((collection) => {
    const text = stored.get(collection.name);
    return { name: collection.name, state: text === undefined ? "missing" : stateOf(text, collection) };
  });
}

function stateOf(stored: string, collection: Collection): SchemaState {
  const declared = compileCollection(collection);
  const extension = extensionOf(stored, declared);
  // A former index is in nobody's way.
  if (extension !== undefined) return isComplete(extension) ? "same" : "older";
  return isNewerDeclaration(stored, declared) ? "newer" : "changed";
}

export function judgeSchema(rows: readonly SchemaRow[], findings: Findings): void {
  const named = (state: SchemaState) => rows.filter((row) => row.state === state).map(({ name }) => name);
  findings.count("schema", rows.length);
  const [older, newer, changed, missing] = [
    named("older"),
    named("newer"),
    named("changed"),
    named("missing"),
  ];
  if (newer.length > 0)
    findings.fault("schema", {
      what: `A newer version has written ${newer.join(", ")}: this one refuses the store, and this doctor cannot read them.`,
      todo: "Start the newer version, or restore a backup from before the upgrade.",
    });
  if (changed.length > 0)
    findings.fault("schema", {
      what: `${changed.join(", ")}: declared otherwise than by this version, in a way that cannot be extended.`,
      todo: "Delete the index with npm run reindex of the version that wrote it, then start this one.",
    });
  const extended = [...older, ...missing];
  if (extended.length > 0)
    findings.note("schema", {
      what: `An earlier version has written the store: ${extended.join(", ")} lack fields, indexes or everything, and were not looked at.`,
      todo: "Start the ingest (of the gateway's store: the gateway) of this version: it adds what is missing while the store is served.",
    });
}
