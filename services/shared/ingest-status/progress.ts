/** One scan of a discovery: all logs of some contracts, from their creation on. */
export interface PlannedScan {
  readonly name: string;
  readonly from: number;
  /** Last block done; from - 1 before the first. */
  readonly at: number;
  readonly to: number;
}

/** The work of a run. A second plan replaces the first. */
export interface ProgressPlan {
  readonly stage: "plan";
  readonly scans: readonly PlannedScan[];
  /** Whether scans follow the head instead of ending at a fixed block. */
  readonly scansToHead?: boolean;
  /** Blocks from `from` up to the head, of which those up to `at` are indexed. */
  readonly backfill?: { readonly from: number; readonly at: number };
  /** Entities known before the discovery; those that it finds are added. They are read after it. */
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

/** Backfill counts blocks, reading counts entities. */
export interface RunStep {
  readonly stage: "backfill" | "reading";
  readonly from: number;
  /** Last block (entity) done. */
  readonly at: number;
  readonly to: number;
  readonly events: number;
}

/** History that grows backwards while the index follows the head. */
export interface HistoryStep {
  readonly stage: "history";
  /** Unix seconds: all from here on is indexed. */
  readonly coveredFrom: number;
  /** Where it is to begin. */
  readonly since: number;
  /** Seconds of the chain that are still to be indexed; 0 at the end. */
  readonly leftSeconds: number;
}

export type ProgressStep = ProgressPlan | DiscoveryStep | RunStep | HistoryStep;
export type ProgressReport = (step: ProgressStep) => void;
