import type { EntityRef } from "../../protocols/protocol.ts";

/** Names a unit within its chain. */
export function entityKey({ kind, id }: EntityRef): string {
  return `${kind} ${id}`;
}
