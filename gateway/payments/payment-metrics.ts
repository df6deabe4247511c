import { Counter, Gauge, Histogram, type Metrics } from "../../services/shared/metrics/metrics.ts";
import type { RequestContext } from "../request/context.ts";

/**
 * What became of a request at the pay-per-request host:
 * - `offered`     402, no payment was sent
 * - `settled`     paid and answered
 * - `repeated`    the same payment again: answered, not charged
 * - `identified`  another payment with the same payment-identifier: the same
 * - `owed`        an earlier payment had brought no answer: the same
 * - `refused`     400, 402 or 429: parameters or payment are not good, or too many
 * - `unsettled`   the service failed or the client left: not charged
 * - `pending`     503, nobody knows yet
 * - `unavailable` 503, facilitator, chain or store away: not charged
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
  /** Has the access log name an outcome until another one is noted: a client that leaves ends its line early. */
  expectOutcome(context: RequestContext, outcome: PaymentOutcome): void;
  /** Counts the outcome and has the access log name it; the first one noted of a request stands. */
  recordOutcome(context: RequestContext, outcome: PaymentOutcome): void;
  observeSettlement(seconds: number): void;
  /** Payments whose end nobody knows. */
  setOpen(count: number): void;
}

export function createPaymentMetrics({ registry }: Metrics): PaymentMetrics {
  const registers = [registry];
  const outcomes = new Counter({
    name: "gateway_payments_total",
    help: "Requests at the pay-per-request host by what became of them",
    labelNames: ["route", "outcome"],
    registers,
  });
  const settlements = new Histogram({
    name: "gateway_payment_settlement_seconds",
    help: "Time from asking for a settlement to knowing its outcome",
    buckets: [0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  });
  const open = new Gauge({
    name: "gateway_payments_open",
    aggregator: "max",
    help: "Payments whose settlement was asked for a while ago and whose end is not known",
    registers,
  });
  /** By their fields, which stay the same object on a request's way. */
  const noted = new WeakSet<object>();
  return {
    expectOutcome({ fields }, outcome) {
      fields.payment = outcome;
    },
    recordOutcome({ endpoint, fields }, outcome) {
      if (noted.has(fields)) return;
      noted.add(fields);
      fields.payment = outcome;
      outcomes.inc({ route: endpoint.path, outcome });
    },
    observeSettlement: (seconds) => settlements.observe(seconds),
    setOpen: (count) => open.set(count),
  };
}
