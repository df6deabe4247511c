import type { Collection, RowOf } from "../../services/shared/storage/collection.ts";
import type { Store } from "../../services/shared/storage/port.ts";
import { Findings } from "./finding.ts";

/** Looks at one chain in a store whose rows belong together. */
export type Look = (view: Store, findings: Findings) => Promise<void>;

const LOOKS = 3;
const PAUSE_MS = 1_500;

/**
 * Looks at rows of one state where the store has views; else several times: an ingest that writes meanwhile is ahead of
 * its checkpoint for moments, and with another block each time. Only what every look finds is a fault.
 */
export async function lookSettled<C extends Collection>(
  store: Store,
  {
    checkpoints,
    key,
    place,
    look,
    pauseMs = PAUSE_MS,
  }: {
    readonly checkpoints: C;
    readonly key: Partial<RowOf<C>>;
    readonly place: ConstructorParameters<typeof Findings>[0];
    readonly look: Look;
    readonly pauseMs?: number;
  },
): Promise<Findings> {
  const lookAt = async (view: Store): Promise<Findings> => {
    const findings = new Findings(place);
    await look(view, findings);
    return findings;
  };
  const seen = await store.snapshot(checkpoints, key, lookAt);
  if (seen !== undefined) return seen.value;
  let findings = await lookAt(store);
  for (let looks = 1; looks < LOOKS && hasFaults(findings); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const again = await lookAt(store);
    const lasting = new Set(findings.list.map(({ what }) => what));
    const list = again.list.filter(({ level, what }) => level === "note" || lasting.has(what));
    findings = Object.assign(again, { list });
  }
  return findings;
}

function hasFaults({ list }: Findings): boolean {
  return list.some(({ level }) => level === "fault");
}
