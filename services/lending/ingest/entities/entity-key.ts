import type { EntityRef } from "../../protocols/protocol.ts";

/** Identifies an entity within its chain. */
export function entityKey({ kind, id }: EntityRef): string {
  return `${kind} ${id}`;
}
