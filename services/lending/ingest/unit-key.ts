import type { UnitRef } from "../protocols/protocol.ts";

/** Names a unit within its chain. */
export function keyOf({ kind, id }: UnitRef): string {
  return `${kind} ${id}`;
}
