import type { Log } from "../../../services/shared/logging/log.ts";
import { Gauge, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import type { OnStateChange, UpstreamGroup } from "./upstream.ts";

/** Publishes of each replica whether it serves, how many requests it is answering, and its breaker; read when scraped. */
export function measureUpstreams(groups: Iterable<UpstreamGroup>, { registry }: Metrics): void {
  const members = [...groups].flatMap((group) => group.members);
  const registers = [registry];
  new Gauge({
    name: "gateway_upstream_serving",
    aggregator: "min",
    help: "1 while the replica says it serves, else 0",
    labelNames: ["upstream"],
    registers,
    collect() {
      for (const { name, state } of members) this.set({ upstream: name }, state === "serving" ? 1 : 0);
    },
  });
  new Gauge({
    name: "gateway_upstream_in_flight",
    help: "Requests the replica is answering",
    labelNames: ["upstream"],
    registers,
    collect() {
      for (const { name, inFlight } of members) this.set({ upstream: name }, inFlight);
    },
  });
  new Gauge({
    name: "gateway_upstream_breaker_open",
    aggregator: "max",
    help: "1 while the replica gets no requests, or a single one to try, since it failed several in a row",
    labelNames: ["upstream"],
    registers,
    collect() {
      for (const { name, breaker } of members)
        this.set({ upstream: name }, breaker.state === "closed" ? 0 : 1);
    },
  });
}

/** Logs a replica's change of state: recovery as information, loss as a warning with its cause. */
export function logStateChanges(log: Log): OnStateChange {
  return ({ name, state }, { before, error }) => {
    if (state === "serving") log.info({ upstream: name, before }, "upstream serves");
    else log.warn({ upstream: name, before, state, err: error }, "upstream does not serve");
  };
}
