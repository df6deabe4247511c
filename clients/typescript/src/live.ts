import { type ApiError, type ErrorAnswer, toError, UnreachableError } from "./errors.ts";

/** A block (on Solana a slot) by number and hash. */
export interface BlockRef {
  readonly block: number;
  readonly hash: string;
}

interface At extends BlockRef {
  /** 0 for Solana. */
  readonly chain: number;
  /** Unix seconds of the block. */
  readonly time: number;
}

/** What turns the table that you have into the one of the event's block. */
export interface LiveChange<Row> {
  /** Rows that were added or have changed, whole. */
  readonly rows: readonly Row[];
  /** Rows that are gone: the values of the key's columns. */
  readonly removed: readonly (readonly unknown[])[];
  /** All keys in their order, where rows have moved. */
  readonly order?: readonly (readonly unknown[])[] | undefined;
}

/**
 * What a stream tells. `snapshot`: the whole table, first, and where changes are not known (`reason`); `change`; `head`: a
 * block that changed nothing; `reorg`: blocks that were told and are taken back, with the change back; `outage`: the instance
 * cannot tell for now, and goes on by itself.
 */
export type LiveEvent<Row> =
  | (At & {
      readonly event: "snapshot";
      readonly reason: string;
      readonly key: readonly string[];
      readonly rows: readonly Row[];
    })
  | (At & LiveChange<Row> & { readonly event: "change" })
  | (At & LiveChange<Row> & { readonly event: "reorg"; readonly takenBack: readonly BlockRef[] })
  | (At & { readonly event: "head" })
  | { readonly event: "outage"; readonly error: ApiError };

/** Errors behind which the instance ends a stream: connecting again would only meet them again. */
const FINAL: Readonly<Record<string, number>> = { rate_limited: 429, unauthorized: 401, forbidden: 403 };
const UNAVAILABLE = 503;
/** The instance sends a line every 15 seconds: a connection that is silent for longer is dead. */
const SILENCE_MS = 60_000;

/** Reads one connection's events, and knows what it takes to go on behind it. */
export class LiveReader<Row> {
  /** For Last-Event-ID. */
  lastId: string | undefined;
  /** How long the instance wants a client to wait before it connects again. */
  retryMs = 1_000;
  readonly #silenceMs: number;
  #names: readonly string[] = [];

  constructor({ silenceMs = SILENCE_MS }: { readonly silenceMs?: number } = {}) {
    this.#silenceMs = silenceMs;
  }

  /** The events of a body, until it ends or breaks. Throws the ApiError behind which the instance ends a stream. */
  async *read(body: ReadableStream<Uint8Array>): AsyncGenerator<LiveEvent<Row>> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    let silence: ReturnType<typeof setTimeout> | undefined;
    try {
      for (;;) {
        clearTimeout(silence);
        silence = setTimeout(() => void reader.cancel().catch(() => {}), this.#silenceMs);
        const piece = await reader.read().catch((cause) => {
          throw new UnreachableError("The stream has broken off.", { cause });
        });
        if (piece.done) return;
        text += decoder.decode(piece.value, { stream: true });
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          const event = this.#take(block);
          if (event !== undefined) yield event;
        }
      }
    } finally {
      clearTimeout(silence);
      // Whoever stops reading wants no more of it.
      await reader.cancel().catch(() => {});
    }
  }

  #take(block: string): LiveEvent<Row> | undefined {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
    }
    const retry = Number(fields.get("retry"));
    if (retry > 0) this.retryMs = retry;
    const data = fields.get("data");
    if (data === undefined) return undefined;
    const event = this.#toEvent(fields.get("event") ?? "", JSON.parse(data));
    // Known only once it is understood.
    this.lastId = fields.get("id") ?? this.lastId;
    return event;
  }

  #toEvent(name: string, data: EventData): LiveEvent<Row> | undefined {
    const { chain, block, hash, time } = data;
    const at = { chain, block, hash, time };
    switch (name) {
      case "snapshot":
        this.#names = data.columns.map((column) => column.name);
        return { event: name, ...at, reason: data.reason, key: data.key, rows: this.#toRows(data.data) };
      case "change":
        return { event: name, ...at, ...this.#toChange(data) };
      case "reorg":
        return { event: name, ...at, ...this.#toChange(data), takenBack: data.takenBack };
      case "head":
        return { event: name, ...at };
      case "error":
        return toOutage(data);
      default:
        // `end`, and what a later version may tell.
        return undefined;
    }
  }

  #toChange({ rows, removed, order }: EventData): LiveChange<Row> {
    return { rows: this.#toRows(rows), removed, order };
  }

  #toRows(rows: readonly (readonly unknown[])[]): Row[] {
    return rows.map(
      (cells) => Object.fromEntries(this.#names.map((name, at) => [name, cells[at]])) as unknown as Row,
    );
  }
}

/** The fields of all events. */
interface EventData extends At {
  readonly reason: string;
  readonly key: readonly string[];
  readonly columns: readonly { readonly name: string }[];
  readonly data: readonly (readonly unknown[])[];
  readonly rows: readonly (readonly unknown[])[];
  readonly removed: readonly (readonly unknown[])[];
  readonly order?: readonly (readonly unknown[])[];
  readonly takenBack: readonly BlockRef[];
  readonly error: string;
  readonly message: string;
  readonly session: string;
}

function toOutage({ error: code, message, session }: EventData): { event: "outage"; error: ApiError } {
  const status = FINAL[code] ?? UNAVAILABLE;
  const answer: ErrorAnswer = { status, code, message, session, retryAfterSeconds: undefined };
  const error = toError(answer);
  if (FINAL[code] !== undefined) throw error;
  return { event: "outage", error };
}
