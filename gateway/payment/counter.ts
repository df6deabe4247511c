import type { Log } from "../../services/shared/host/log.ts";
import type { Delivery } from "../http/deliver.ts";
import { WholeAnswer } from "../http/whole-answer.ts";
import type { Forward } from "../passage.ts";
import type { Ledger } from "./ledger.ts";
import type { Outcome, PaymentMetrics } from "./observe.ts";
import { ask, type Order } from "./order.ts";
import type { PaymentRecord } from "./payment-record.ts";
import { askForPayment, giveReceipt } from "./terms.ts";

/** Gives what has been paid for. */
export interface Counter {
  /** Answers with what was kept, else anew; a delivered answer that is no longer kept is a 402. */
  handOver(order: Order, record: PaymentRecord, outcome: Outcome): Promise<void>;
  /** Writes down that the client has had the whole answer, if so. */
  noteDelivery(order: Order, record: PaymentRecord): Promise<void>;
}

export interface CounterDeps {
  readonly ledger: Ledger;
  readonly forward: Forward;
  readonly delivery: Pick<Delivery, "sendWhole">;
  readonly metrics: PaymentMetrics;
  readonly log: Log;
}

export function createCounter({ ledger, forward, delivery, metrics, log }: CounterDeps): Counter {
  const noteDelivery = async ({ passage }: Order, record: PaymentRecord): Promise<void> => {
    if (!passage.res.writableFinished || record.deliveredAt !== null) return;
    await ledger.markDelivered(record).catch((err: unknown) => {
      log.error({ err, payment: record.key }, "the delivery of a paid answer could not be stored");
    });
  };
  return {
    noteDelivery,
    async handOver(order, record, outcome) {
      const kept = await ask(() => ledger.findAnswer(record));
      if (kept === undefined && record.deliveredAt !== null) {
        throw askForPayment(order, "The payment has been used, and its answer is no longer kept.");
      }
      const passage = {
        ...order.passage,
        beforeAnswer: async () => {
          metrics.note(order.passage, outcome);
          giveReceipt(order.passage.res, record);
        },
      };
      // With something to do before, it resolves when the client has everything or is gone.
      if (kept === undefined) await forward(passage);
      else await delivery.sendWhole(passage, new WholeAnswer(kept), []);
      await noteDelivery(order, record);
    },
  };
}
