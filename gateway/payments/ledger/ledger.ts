import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Hex } from "../../../services/shared/evm/port.ts";
import { type Filter, put, remove, removeWhere, type Store } from "../../../services/shared/storage/port.ts";
import type { Clock } from "../../request/clock.ts";
import type { CompleteResponse } from "../../request/context.ts";
import {
  janitorRoundsCollection,
  type PaymentRecord,
  type PaymentRow,
  type PaymentState,
  paidAnswersCollection,
  paymentsCollection,
  toPaymentRecord,
} from "./payment-record.ts";

/** Payments and their responses in any store. Every method rejects if the store is unreachable. */
export interface Ledger {
  find(key: string): Promise<PaymentRecord | undefined>;
  /** Writes a new record; false if its authorization already has one. */
  open(record: PaymentRecord): Promise<boolean>;
  /** Deletes an open record whose settlement was never requested. */
  discard(record: PaymentRecord): Promise<void>;
  /** Each of these returns the record as it is afterwards. */
  markSettled(record: PaymentRecord, transaction: Hex): Promise<PaymentRecord>;
  markVoid(record: PaymentRecord, reason: string): Promise<PaymentRecord>;
  markDelivered(record: PaymentRecord): Promise<PaymentRecord>;
  /** Revokes this record's delivery, unless it was delivered again meanwhile. */
  markOwed(record: PaymentRecord): Promise<PaymentRecord>;
  noteReason(record: PaymentRecord, reason: string): Promise<PaymentRecord>;
  /** Payments of a payer for a resource that are not void and not delivered, oldest first. */
  findOwed(payer: string, resource: string): Promise<PaymentRecord[]>;
  /** The latest payment with this identifier that is not void. */
  findByIdentifier(payer: string, identifier: string): Promise<PaymentRecord | undefined>;
  /** Open payments from before a time (Unix milliseconds), oldest first, after the cursor. */
  findOpen(query: {
    beforeMs: number;
    after: OpenCursor | undefined;
    limit: number;
  }): Promise<PaymentRecord[]>;
  countOpen(beforeMs: number): Promise<number>;
  /** Takes the janitor's round until a time; undefined if another gateway has it, or has just finished one. */
  takeRound(times: { nowMs: number; untilMs: number }): Promise<JanitorRound | undefined>;
  /** Stores the cursor for the next round, which may begin at a time; no effect if another gateway took the round over. */
  endRound(round: JanitorRound, next: { cursor: OpenCursor | undefined; untilMs: number }): Promise<void>;
  /** Newest first; `owed` = settled and not delivered. */
  list(options: { limit: number; state?: PaymentState | "owed" | undefined }): Promise<PaymentRecord[]>;
  storeResponse(record: PaymentRecord, answer: CompleteResponse): Promise<void>;
  findResponse(record: PaymentRecord): Promise<CompleteResponse | undefined>;
  /** Deletes expired responses, and void payments from before a time. */
  clean(options: { voidBeforeMs: number }): Promise<void>;
}

/** The last open payment that the janitor has handled. */
export type OpenCursor = Pick<PaymentRecord, "createdAt" | "key">;

/** A janitor's round that this gateway holds until a time (Unix milliseconds). */
export interface JanitorRound {
  readonly cursor: OpenCursor | undefined;
  readonly untilMs: number;
}

export interface LedgerOptions {
  readonly clock: Clock;
  /** How long a payment's response can be requested again. */
  readonly answersKeptMs: number;
}

const compress = promisify(gzip);
const expand = promisify(gunzip);
/** The only row of its collection. */
const ROUND = "open payments";
/** Undelivered payments of one payer for one resource that are read. */
const MAX_OWED = 20;

/** Opens the ledger; declares the collections, so an empty store is enough. */
export async function openLedger(store: Store, { clock, answersKeptMs }: LedgerOptions): Promise<Ledger> {
  await store.declare([paymentsCollection, paidAnswersCollection, janitorRoundsCollection]);

  /** Writes a state change unless another gateway was faster; returns what is stored. */
  const advance = async (
    record: PaymentRecord,
    changes: Partial<PaymentRow>,
    expected: Filter<PaymentRow>,
  ): Promise<PaymentRecord> => {
    const changed = { ...record, ...changes } as PaymentRow;
    if (await store.compareAndSet(paymentsCollection, changed, expected)) return toPaymentRecord(changed);
    return (await find(record.key)) ?? record;
  };
  const find = async (key: string) => {
    const row = await store.get(paymentsCollection, { key });
    return row && toPaymentRecord(row);
  };

  return {
    find,
    open: (record) => store.compareAndSet(paymentsCollection, record as PaymentRow, null),
    async discard({ key }) {
      await store.write([removeWhere(paymentsCollection, { key, state: "open" })]);
      await store.write([remove(paidAnswersCollection, [{ key }])]);
    },
    markSettled: (record, transaction) =>
      advance(
        record,
        { state: "settled", transaction, reason: null, settledAt: clock.nowMs() },
        { state: { in: ["open", "void"] } },
      ),
    markVoid: (record, reason) => advance(record, { state: "void", reason }, { state: "open" }),
    markDelivered: (record) => advance(record, { deliveredAt: clock.nowMs() }, { deliveredAt: null }),
    markOwed: (record) => advance(record, { deliveredAt: null }, { deliveredAt: record.deliveredAt }),
    noteReason: (record, reason) => advance(record, { reason }, { state: "open" }),

    async findOwed(payer, resource) {
      const rows = await store.find(paymentsCollection, {
        filter: { payer, resource, deliveredAt: null, state: { in: ["open", "settled"] } },
        order: [{ field: "createdAt", direction: "asc" }],
        limit: MAX_OWED,
      });
      return rows.map(toPaymentRecord);
    },
    async findByIdentifier(payer, identifier) {
      const [row] = await store.find(paymentsCollection, {
        filter: { payer, identifier, state: { in: ["open", "settled"] } },
        order: [{ field: "createdAt", direction: "desc" }],
        limit: 1,
      });
      return row && toPaymentRecord(row);
    },
    async findOpen({ beforeMs, after, limit }) {
      const rows = await store.find(paymentsCollection, {
        filter: { state: "open", createdAt: { gte: after?.createdAt ?? 0, lt: beforeMs } },
        ...(after && {
          anyOf: [
            { createdAt: { gt: after.createdAt } },
            { createdAt: after.createdAt, key: { gt: after.key } },
          ],
        }),
        order: [
          { field: "createdAt", direction: "asc" },
          { field: "key", direction: "asc" },
        ],
        limit,
      });
      return rows.map(toPaymentRecord);
    },
    countOpen: (beforeMs) => store.count(paymentsCollection, { state: "open", createdAt: { lt: beforeMs } }),
    async takeRound({ nowMs, untilMs }) {
      const known = await store.get(janitorRoundsCollection, { name: ROUND });
      if (known !== undefined && known.takenUntil > nowMs) return undefined;
      const { cursorAt = null, cursorKey = null } = known ?? {};
      const row = { name: ROUND, takenUntil: untilMs, cursorAt, cursorKey };
      const expected = known === undefined ? null : { takenUntil: known.takenUntil };
      if (!(await store.compareAndSet(janitorRoundsCollection, row, expected))) return undefined;
      const cursor =
        cursorAt === null || cursorKey === null ? undefined : { createdAt: cursorAt, key: cursorKey };
      return { cursor, untilMs };
    },
    async endRound(round, { cursor, untilMs }) {
      const row = {
        name: ROUND,
        takenUntil: Math.ceil(untilMs),
        cursorAt: cursor?.createdAt ?? null,
        cursorKey: cursor?.key ?? null,
      };
      await store.compareAndSet(janitorRoundsCollection, row, { takenUntil: round.untilMs });
    },
    async list({ limit, state }) {
      const order = [{ field: "createdAt", direction: "desc" }] as const;
      const filter: Filter<PaymentRow> =
        state === undefined ? {} : state === "owed" ? { state: "settled", deliveredAt: null } : { state };
      return (await store.find(paymentsCollection, { filter, order, limit })).map(toPaymentRecord);
    },

    async storeResponse({ key }, { body, headers }) {
      const packed = (await compress(body, { level: 1 })).toString("base64");
      const keptUntil = clock.nowMs() + answersKeptMs;
      await store.write([put(paidAnswersCollection, [{ key, body: packed, headers, keptUntil }])]);
    },
    async findResponse({ key }) {
      const row = await store.get(paidAnswersCollection, { key });
      if (row === undefined || row.keptUntil <= clock.nowMs()) return undefined;
      const body = await expand(Buffer.from(row.body, "base64"));
      return { body, headers: row.headers as CompleteResponse["headers"] };
    },
    async clean({ voidBeforeMs }) {
      await store.write([
        removeWhere(paidAnswersCollection, { keptUntil: { lte: clock.nowMs() } }),
        removeWhere(paymentsCollection, { state: "void", createdAt: { lt: voidBeforeMs } }),
      ]);
    },
  };
}
