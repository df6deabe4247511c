import { Counter, Gauge, Histogram, type Metrics } from "../../services/shared/metrics/metrics.ts";
import type { RequestContext } from "../request/context.ts";

/**
 * The outcome of a request at the pay-per-request host:
 * - `offered`     402, no payment was sent
 * - `settled`     paid, response sent
 * - `repeated`    the same payment again: response sent, not charged
 * - `identified`  another payment with the same payment-identifier: the same
 * - `owed`        the response of an earlier payment had not arrived: the same
 * - `refused`     400, 402 or 429: invalid parameters or payment, or too many
 * - `unsettled`   the service failed or the client disconnected: not charged
 * - `pending`     503, the outcome of the settlement is unknown
 * - `unavailable` 503, facilitator, chain or store unreachable: not charged
 */
export type PaymentOutcome =
  | "offered"
  | "settled"
  | "repeated"
  | "identified"
  | "owed"
  | "refused"
  | "unsettled"
  | "pending"
  | "unavailable";

export interface PaymentMetrics {
  /** Sets the outcome of the access log until one is recorded: a client that disconnects ends its line early. */
  expectOutcome(context: RequestContext, outcome: PaymentOutcome): void;
  /** Counts the outcome and sets it in the access log; only the first one of a request counts. */
  recordOutcome(context: RequestContext, outcome: PaymentOutcome): void;
  observeSettlement(seconds: number): void;
  /** Payments whose outcome is unknown. */
  setOpen(count: number): void;
}

export function createPaymentMetrics({ registry }: Metrics): PaymentMetrics {
  const registers = [registry];
  const outcomes = new Counter({
    name: "gateway_payments_total",
    help: "Requests at the pay-per-request host by outcome",
    labelNames: ["route", "outcome"],
    registers,
  });
  const settlements = new Histogram({
    name: "gateway_payment_settlement_seconds",
    help: "Time from requesting a settlement to knowing its outcome",
    buckets: [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  });
  const open = new Gauge({
    name: "gateway_payments_open",
    aggregator: "max",
    help: "Payments whose settlement was requested a while ago and whose outcome is unknown",
    registers,
  });
  /** Recorded requests, by their `fields`, which stay the same object for a request. */
  const recorded = new WeakSet<object>();
  return {
    expectOutcome({ fields }, outcome) {
      fields.payment = outcome;
    },
    recordOutcome({ endpoint, fields }, outcome) {
      if (recorded.has(fields)) return;
      recorded.add(fields);
      fields.payment = outcome;
      outcomes.inc({ route: endpoint.path, outcome });
    },
    observeSettlement: (seconds) => settlements.observe(seconds),
    setOpen: (count) => open.set(count),
  };
}
