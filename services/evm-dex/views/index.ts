import { protocolOf } from "../protocols/index.ts";
import type { PoolRow } from "../store/collections.ts";
import { v3PoolView } from "./v3-pool.ts";
import type { PoolView } from "./view.ts";

/** The views that the ingest computes ahead. A service keeps others for their block after it has read them. */
const AHEAD: readonly PoolView[] = [v3PoolView];

/** The view of this name; undefined for one that is not computed ahead, or of another version. */
export function findView(name: string): PoolView | undefined {
  return AHEAD.find((view) => view.name === name);
}

/** The views to compute ahead for a pool that trades but was not requested yet. */
export function viewsOf(pool: PoolRow): readonly PoolView[] {
  return AHEAD.filter((view) => supports(view, pool));
}

/** Whether a view supports a pool. */
export function supports(view: PoolView, pool: PoolRow): boolean {
  return protocolOf(pool.protocol).generation === view.generation;
}
