import { setTimeout as sleep } from "node:timers/promises";
import { type DeliveryOutcome, watchDelivery } from "../../../services/shared/http/delivery-outcome.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import { BoundedMap } from "../../bounded-map.ts";
import type { Delivery } from "../../proxy/delivery/delivery.ts";
import { EncodableResponse } from "../../proxy/delivery/encodable-response.ts";
import type { RequestContext, RequestForwarder } from "../../request/context.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { PaymentMetrics, PaymentOutcome } from "../payment-metrics.ts";
import { type PaidRequest, runOrUnavailable } from "./paid-request.ts";
import { paymentRequired, setSuccessReceipt } from "./payment-errors.ts";

/** Gives what has been paid for, and writes down whether it arrived. */
export interface PaidDelivery {
  /** Answers with what was kept, else anew, a few times; a delivered answer that is no longer kept is a 402. */
  deliver(order: PaidRequest, record: PaymentRecord, outcome: PaymentOutcome): Promise<void>;
  /** Follows the answer to a settled payment. To be called before its first byte is sent. */
  track(context: RequestContext, record: PaymentRecord): DeliveryTracker;
  /** Resolves when the ledger knows what the connections say by now of earlier answers to this payer and address. */
  refresh(order: PaidRequest): Promise<void>;
  /** Resolves when everything known is written; what is heard later is not. */
  close(): Promise<void>;
}

export interface DeliveryTracker {
  /**
   * Resolves when it is known how the answer ended, and at the latest after a few seconds: an answer that nobody
   * takes is owed until it has arrived, and whoever waits for its payment should not wait any longer.
   */
  readonly concluded: () => Promise<void>;
  /** The answer was not sent after all. */
  readonly cancel: () => void;
}

export interface PaidDeliveryDeps {
  readonly ledger: Ledger;
  readonly forward: RequestForwarder;
  readonly delivery: Pick<Delivery, "sendComplete">;
  readonly metrics: PaymentMetrics;
  readonly log: Log;
  /**
   * Whether other gateways share the locks. They cannot look at a connection of ours: for them a delivery is written
   * down at once, and taken back where the connection is reset. Else it is written when there is no more doubt, so that
   * it is owed where this gateway dies before.
   */
  readonly hasPeers: boolean;
}

const MAX_WAIT_MS = 5_000;
/** Of silence on a connection that has all of an answer. */
const CONFIRM_MS = 5_000;
/**
 * Answers made anew for one payment after the kept one is gone. The same bytes again are worth nothing more, but new ones
 * are: a client that resets each connection once it has read the answer must not read for ever at the price of one.
 */
const MAX_NEW_ANSWERS = 5;
const MAX_COUNTED = 10_000;

export function createPaidDelivery(deps: PaidDeliveryDeps): PaidDelivery {
  const { ledger, forward, delivery, metrics, log, hasPeers } = deps;
  /** Answers whose outcome may still change, by payer and address. */
  const followed = new Map<string, Set<{ readonly look: () => Promise<void> }>>();
  const writing = new Set<Promise<void>>();
  /** How many answers were made anew, by payment. */
  const newAnswers = new BoundedMap<number>(MAX_COUNTED);
  let isClosed = false;

  const writeDown = async (record: PaymentRecord, outcome: DeliveryOutcome): Promise<PaymentRecord> => {
    try {
      if (outcome.kind === "delivered") return await ledger.markDelivered(record);
      const { bytesLeft } = outcome;
      log.info({ payment: record.key, bytesLeft }, "a paid answer did not arrive: it is owed");
      return record.deliveredAt === null ? record : await ledger.markOwed(record);
    } catch (err) {
      log.error({ err, payment: record.key }, "the delivery of a paid answer could not be stored");
      return record;
    }
  };

  const track: PaidDelivery["track"] = ({ req, res }, record) => {
    // A client that fetches again what it has is owed nothing when that breaks.
    if (record.deliveredAt !== null) return { concluded: async () => {}, cancel() {} };
    let latest = Promise.resolve(record);
    let isCanceled = false;
    let unconfirmed: DeliveryOutcome | undefined;
    const write = (outcome: DeliveryOutcome): void => {
      if (isCanceled || isClosed) return;
      latest = latest.then((known) => writeDown(known, outcome));
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
    const name = nameOf(record);
    const own = {
      async look() {
        await watch.check();
        // Nothing speaks against it by now, and somebody has to know.
        confirm();
        await latest;
      },
    };
    followed.set(name, (followed.get(name) ?? new Set()).add(own));
    void watch.settled.then(async () => {
      confirm();
      // Still to be waited for while it is being written.
      await latest;
      const others = followed.get(name);
      others?.delete(own);
      if (others?.size === 0) followed.delete(name);
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
      const name = nameOf({ payer: payment.authorization.from, resource: resourceUrl });
      await Promise.all([...(followed.get(name) ?? [])].map(({ look }) => look()));
    },
    async close() {
      await Promise.all([...followed.values()].flatMap((some) => [...some].map(({ look }) => look())));
      while (writing.size > 0) await Promise.all(writing);
      isClosed = true;
    },
    async deliver(order, record, outcome) {
      const kept = await runOrUnavailable(() => ledger.findAnswer(record));
      if (kept === undefined && record.deliveredAt !== null) {
        throw paymentRequired(order, "The payment has been used, and its answer is no longer kept.");
      }
      const made = newAnswers.get(record.key) ?? 0;
      if (kept === undefined && made >= MAX_NEW_ANSWERS) {
        await runOrUnavailable(() => ledger.markDelivered(record));
        throw paymentRequired(
          order,
          `An earlier payment for this request was answered ${made} times more, and each connection broke: it counts as answered now.`,
        );
      }
      let following: DeliveryTracker | undefined;
      const context = {
        ...order.context,
        beforeSend: async () => {
          if (kept === undefined) newAnswers.set(record.key, made + 1);
          metrics.recordOutcome(order.context, outcome);
          setSuccessReceipt(order.context.res, record);
          following = track(order.context, record);
        },
      };
      try {
        if (kept === undefined) await forward(context);
        else await delivery.sendComplete(context, new EncodableResponse(kept), []);
      } catch (error) {
        following?.cancel();
        throw error;
      }
      await following?.concluded();
    },
  };
}

function nameOf({ payer, resource }: Pick<PaymentRecord, "payer" | "resource">): string {
  return `${payer} ${resource}`;
}
