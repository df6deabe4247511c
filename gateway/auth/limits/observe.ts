import type { Log } from "../../../services/shared/logging/log.ts";
import { Counter, Gauge, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import { LIMIT_KINDS, type LimitDecision, type Limiter, type LimitKind } from "./limiter.ts";

/** Wraps a limiter to count its decisions: `gateway_limit_decisions_total` by kind and outcome, read when scraped. */
export function measureDecisions(limiter: Limiter, { registry }: Metrics): Limiter {
  const allowed = countsByKind();
  const limited = countsByKind();
  new Counter({
    name: "gateway_limit_decisions_total",
    help: "Limiter decisions, by what is limited and whether the request passed",
    labelNames: ["kind", "outcome"],
    registers: [registry],
    collect() {
      this.reset();
      for (const kind of LIMIT_KINDS) {
        this.inc({ kind, outcome: "allowed" }, allowed[kind]);
        this.inc({ kind, outcome: "limited" }, limited[kind]);
      }
    },
  });
  const count = (kind: LimitKind, decision: LimitDecision): LimitDecision => {
    if (decision.isAllowed) allowed[kind] += 1;
    else limited[kind] += 1;
    return decision;
  };
  return {
    ...limiter,
    take(ask) {
      const decision = limiter.take(ask);
      if (!(decision instanceof Promise)) return count(ask.kind, decision);
      return decision.then((late) => count(ask.kind, late));
    },
  };
}

function countsByKind(): Record<LimitKind, number> {
  return Object.fromEntries(LIMIT_KINDS.map((kind) => [kind, 0])) as Record<LimitKind, number>;
}

/**
 * Tracks whether Redis decides: `gateway_limiter_shared` (1 or 0), how often it did not, and one log line at each change.
 * The first result counts as a change only if it is false.
 */
export function watchSharing({ log, metrics }: { log: Log; metrics: Metrics }): (isShared: boolean) => void {
  const registers = [metrics.registry];
  let wasShared = true;
  let fallbacks = 0;
  new Gauge({
    name: "gateway_limiter_shared",
    aggregator: "min",
    help: "1 while Redis decides limits for all gateways, 0 while this one decides alone because Redis is unreachable",
    registers,
    collect() {
      this.set(wasShared ? 1 : 0);
    },
  });
  new Counter({
    name: "gateway_limiter_fallbacks_total",
    help: "Batches that Redis did not answer, so that this gateway decided alone",
    registers,
    collect() {
      this.reset();
      this.inc(fallbacks);
    },
  });
  return (isShared) => {
    if (!isShared) fallbacks += 1;
    if (isShared === wasShared) return;
    wasShared = isShared;
    if (isShared) log.info("Redis is reachable again: limits are shared");
    else log.warn("Redis is unreachable: this gateway enforces its limits alone until it is back");
  };
}
