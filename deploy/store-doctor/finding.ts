/** What stands against a store, or is worth knowing of it. */
export interface Finding {
  /** `fault`: what is served is wrong, or will be. `note`: unfinished work, and what the next start does by itself. */
  readonly level: "fault" | "note";
  readonly service: string;
  /** A chain id, or "solana"; null where it is about the whole store. */
  readonly chain: string | null;
  readonly check: string;
  readonly what: string;
  /** What to do about it, in one sentence. */
  readonly todo: string;
}

type Said = Pick<Finding, "what" | "todo">;

/** Collects the findings of one store, or of one chain in it, and counts what was compared. */
export class Findings {
  readonly list: Finding[] = [];
  /** Values or rows that were compared, by check. */
  readonly compared: Record<string, number> = {};
  readonly #place: Pick<Finding, "service" | "chain">;

  constructor(place: Pick<Finding, "service" | "chain">) {
    this.#place = place;
  }

  fault(check: string, said: Said): void {
    this.list.push({ level: "fault", ...this.#place, check, ...said });
  }

  note(check: string, said: Said): void {
    this.list.push({ level: "note", ...this.#place, check, ...said });
  }

  count(check: string, compared = 1): void {
    this.compared[check] = (this.compared[check] ?? 0) + compared;
  }

  /** One comparison: a fault unless it holds. */
  require(check: string, { holds, ...said }: Said & { readonly holds: boolean }): void {
    this.count(check);
    if (!holds) this.fault(check, said);
  }
}

/** What to do about an index that is wrong. */
export function readAgain(service: string, chain: string): string {
  return `Stop the ingest and read the index again (npm run reindex -- --chain ${chain} --service ${service}), or restore a backup.`;
}

export const RESTART_INGEST =
  "Start the ingest, or restart it: before it goes on, it undoes what lies beyond its checkpoint.";
