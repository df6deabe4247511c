import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { type DeliveryOutcome, watchDelivery } from "../../../services/shared/http/delivery-outcome.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { Delivery } from "../../proxy/delivery/delivery.ts";
import { EncodableResponse } from "../../proxy/delivery/encodable-response.ts";
import type { RequestContext, RequestForwarder } from "../../request/context.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { PaymentMetrics, PaymentOutcome } from "../payment-metrics.ts";
import { type PaidRequest, runOrUnavailable } from "./paid-request.ts";
import { paymentRequired, setSuccessReceipt } from "./payment-errors.ts";

/** Sends responses that were paid for and stores whether they arrived. */
export interface PaidDelivery {
  /** Sends the stored response, else a new one, a few times; a delivered response that is no longer stored is a 402. */
  deliver(request: PaidRequest, record: PaymentRecord, outcome: PaymentOutcome): Promise<void>;
  /** Tracks the response to a settled payment. Call it before the first byte is sent. */
  track(context: RequestContext, record: PaymentRecord): DeliveryTracker;
  /** Resolves when the ledger has the current outcomes of earlier responses to this payer and resource. */
  refresh(request: PaidRequest): Promise<void>;
  /** Resolves when all known outcomes are stored; later ones are not. */
  close(): Promise<void>;
}

export interface DeliveryTracker {
  /**
   * Resolves when the outcome of the delivery is known, at the latest after a few seconds: a response that the client does
   * not read is owed until it has arrived, and requests that wait for its payment should not wait longer.
   */
  readonly concluded: () => Promise<void>;
  /** The response was not sent after all. */
  readonly cancel: () => void;
}

interface PaidDeliveryDeps {
  readonly ledger: Ledger;
  readonly forward: RequestForwarder;
  readonly delivery: Pick<Delivery, "sendComplete">;
  readonly metrics: PaymentMetrics;
  readonly log: Log;
  /**
   * Whether other gateways share the locks. They cannot see this gateway's connections: a delivery is then stored at once,
   * and revoked if the connection is reset. Otherwise it is stored once it is certain, so that the response is owed if this
   * gateway dies before.
   */
  readonly hasPeers: boolean;
}

const MAX_WAIT_MS = 5_000;
/** How long a connection that has all of a response must stay silent until it counts as delivered. */
const CONFIRM_MS = 5_000;
/**
 * New responses for one payment after the stored one has expired. New data has a value of its own: a client that resets
 * each connection after reading must not read for ever at the price of one.
 */
const MAX_NEW_RESPONSES = 5;
const MAX_TRACKED_PAYMENTS = 10_000;

export function createPaidDelivery(deps: PaidDeliveryDeps): PaidDelivery {
  const { ledger, forward, delivery, metrics, log, hasPeers } = deps;
  /** Responses whose outcome may still change, by payer and resource. */
  const tracked = new Map<string, Set<{ readonly check: () => Promise<void> }>>();
  const writing = new Set<Promise<void>>();
  /** New responses so far, by payment. */
  const newResponses = new LRUCache<string, number>({ max: MAX_TRACKED_PAYMENTS });
  let isClosed = false;

  const storeOutcome = async (record: PaymentRecord, outcome: DeliveryOutcome): Promise<PaymentRecord> => {
    try {
      if (outcome.kind === "delivered") return await ledger.markDelivered(record);
      const { bytesLeft } = outcome;
      log.info({ payment: record.key, bytesLeft }, "a paid response did not arrive: it is owed");
      return record.deliveredAt === null ? record : await ledger.markOwed(record);
    } catch (err) {
      log.error({ err, payment: record.key }, "the delivery of a paid response could not be stored");
      return record;
    }
  };

  const track: PaidDelivery["track"] = ({ req, res }, record) => {
    // A client that repeats a delivered response is owed nothing if that breaks.
    if (record.deliveredAt !== null) return { concluded: async () => {}, cancel() {} };
    let latest = Promise.resolve(record);
    let isCanceled = false;
    let unconfirmed: DeliveryOutcome | undefined;
    const write = (outcome: DeliveryOutcome): void => {
      if (isCanceled || isClosed) return;
      latest = latest.then((known) => storeOutcome(known, outcome));
      const written = latest.then(() => void writing.delete(written));
      writing.add(written);
    };
    const confirm = (): void => {
      if (unconfirmed !== undefined) write(unconfirmed);
      unconfirmed = undefined;
    };
    const onOutcome = (outcome: DeliveryOutcome): void => {
      unconfirmed = undefined;
      if (outcome.kind === "aborted" || hasPeers) write(outcome);
      else {
        unconfirmed = outcome;
        setTimeout(confirm, CONFIRM_MS).unref();
      }
    };
    const watch = watchDelivery({ req, res }, { onOutcome });
    const name = trackingKey(record);
    const own = {
      async check() {
        await watch.check();
        // Nothing contradicts the delivery by now, and a caller needs the outcome.
        confirm();
        await latest;
      },
    };
    tracked.set(name, (tracked.get(name) ?? new Set()).add(own));
    void watch.settled.then(async () => {
      confirm();
      // Still tracked while the outcome is being stored.
      await latest;
      const others = tracked.get(name);
      others?.delete(own);
      if (others?.size === 0) tracked.delete(name);
    });
    return {
      async concluded() {
        await Promise.race([watch.firstOutcome, sleep(MAX_WAIT_MS, undefined, { ref: false })]);
        await latest;
      },
      cancel() {
        isCanceled = true;
      },
    };
  };

  return {
    track,
    async refresh({ payment, resourceUrl }) {
      const name = trackingKey({ payer: payment.authorization.from, resource: resourceUrl });
      await Promise.all([...(tracked.get(name) ?? [])].map(({ check }) => check()));
    },
    async close() {
      await Promise.all([...tracked.values()].flatMap((some) => [...some].map(({ check }) => check())));
      while (writing.size > 0) await Promise.all(writing);
      isClosed = true;
    },
    async deliver(request, record, outcome) {
      const stored = await runOrUnavailable(() => ledger.findResponse(record));
      if (stored === undefined && record.deliveredAt !== null) {
        throw paymentRequired(request, "The payment has been used, and its response is no longer stored.");
      }
      const made = newResponses.peek(record.key) ?? 0;
      if (stored === undefined && made >= MAX_NEW_RESPONSES) {
        await runOrUnavailable(() => ledger.markDelivered(record));
        throw paymentRequired(
          request,
          `An earlier payment for this request was answered ${made} times more, and each connection broke: it counts as answered now.`,
        );
      }
      let tracker: DeliveryTracker | undefined;
      const context = {
        ...request.context,
        beforeSend: async () => {
          if (stored === undefined) newResponses.set(record.key, made + 1);
          metrics.recordOutcome(request.context, outcome);
          setSuccessReceipt(request.context.res, record);
          tracker = track(request.context, record);
        },
      };
      try {
        if (stored === undefined) await forward(context);
        else await delivery.sendComplete(context, new EncodableResponse(stored), []);
      } catch (error) {
        tracker?.cancel();
        throw error;
      }
      await tracker?.concluded();
    },
  };
}

function trackingKey({ payer, resource }: Pick<PaymentRecord, "payer" | "resource">): string {
  return `${payer} ${resource}`;
}
