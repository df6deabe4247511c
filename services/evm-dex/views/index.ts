import { protocolOf } from "../protocols/index.ts";
import type { PoolRow } from "../store/collections.ts";
import { v3PoolView } from "./v3-pool.ts";
import type { PoolView } from "./view.ts";

/** The views that the ingest reads ahead. One that is not here is kept by the service that read it, for its block. */
const AHEAD: readonly PoolView[] = [v3PoolView];

/** The view of this name; undefined for one that is not read ahead, or that another version knows. */
export function findView(name: string): PoolView | undefined {
  return AHEAD.find((view) => view.name === name);
}

/** What is worth reading ahead for a pool that trades, though nobody has asked for it yet. */
export function viewsOf(pool: PoolRow): readonly PoolView[] {
  return AHEAD.filter((view) => supports(view, pool));
}

/** Whether a view can tell of a pool. */
export function supports(view: PoolView, pool: PoolRow): boolean {
  return protocolOf(pool.protocol).generation === view.generation;
}
