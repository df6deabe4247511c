/** One scan of a discovery: all logs of some contracts, from their creation on. */
export interface PlannedScan {
  readonly name: string;
  readonly from: number;
  /** Last block done; from - 1 before the first. */
  readonly at: number;
  readonly to: number;
}

/** What lies before the ingest when a run begins. Reported again, it replaces the plan before. */
export interface ProgressPlan {
  readonly stage: "plan";
  readonly scans: readonly PlannedScan[];
  /** Whether scans go on with the head, instead of ending at a fixed block. */
  readonly scansToHead?: boolean;
  /** Blocks from `from` up to the head, of which those up to `at` are indexed. */
  readonly backfill?: { readonly from: number; readonly at: number };
  /** Units that are known before the discovery; those that it finds are added. They are read after it. */
  readonly entities?: number;
}

export interface DiscoveryStep {
  readonly stage: "discovery";
  /** As planned. */
  readonly scan: string;
  readonly from: number;
  /** Last block done. */
  readonly at: number;
  readonly to: number;
  /** Found in this step. */
  readonly events: number;
}

/** Backfill goes block by block, reading unit by unit. */
export interface RunStep {
  readonly stage: "backfill" | "reading";
  readonly from: number;
  /** Last block (unit) done. */
  readonly at: number;
  readonly to: number;
  readonly events: number;
}

export type ProgressStep = ProgressPlan | DiscoveryStep | RunStep;
export type ProgressReport = (step: ProgressStep) => void;
