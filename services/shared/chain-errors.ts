/** Blocks that were read fit neither together nor to the index: a reorg, or a node in the middle of one. */
export class ReorgDetected extends Error {
  override readonly name = "ReorgDetected";
}

/** Indexing cannot go on until an endpoint or the operator changes something. Nothing is deleted meanwhile. */
export class IngestStalled extends Error {
  override readonly name: string = "IngestStalled";
  /** What the operator can do, and fields for the log. */
  readonly advice: string;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    { advice = "", fields = {} }: { advice?: string; fields?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message);
    this.advice = advice;
    this.fields = fields;
  }
}
