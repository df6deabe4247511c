import type { Log } from "../../../services/shared/logging/log.ts";
import { Counter, Gauge, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import { LIMIT_KINDS, type LimitDecision, type Limiter, type LimitKind } from "./limiter.ts";

/** A limiter that counts what it decides: `gateway_limit_decisions_total` by kind and outcome, read when scraped. */
export function measureDecisions(limiter: Limiter, { registry }: Metrics): Limiter {
  const allowed = countsByKind();
  const limited = countsByKind();
  new Counter({
    name: "gateway_limit_decisions_total",
    help: "Decisions of the limiter, by what is limited and whether the request passed",
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
 * Follows whether Redis decides: `gateway_limiter_shared` (1 or 0), how often it did not, and one line in the log at
 * each change. `isShared` of the first answer is a change only where it is bad news.
 */
export function watchSharing({ log, metrics }: { log: Log; metrics: Metrics }): (isShared: boolean) => void {
  const registers = [metrics.registry];
  let wasShared = true;
  let alone = 0;
  new Gauge({
    name: "gateway_limiter_shared",
    aggregator: "min",
    help: "1 while limits are decided in Redis for all gateways, 0 while this one decides alone since Redis is away",
    registers,
    collect() {
      this.set(wasShared ? 1 : 0);
    },
  });
  new Counter({
    name: "gateway_limiter_fallbacks_total",
    help: "Questions that Redis did not answer, so that this gateway decided alone",
    registers,
    collect() {
      this.reset();
      this.inc(alone);
    },
  });
  return (isShared) => {
    if (!isShared) alone += 1;
    if (isShared === wasShared) return;
    wasShared = isShared;
    if (isShared) log.info("limits are shared through Redis again");
    else log.warn("Redis is away: this gateway keeps its limits alone until it is back");
  };
}
