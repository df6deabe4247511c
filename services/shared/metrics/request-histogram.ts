import type { MetricObject, Registry } from "prom-client";

/** One finished HTTP request. `route` is the template of the route, never a path a client made up. */
export interface ObservedRequest {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

const NAME = "http_request_duration_seconds";
const HELP = "Time from a request's head to the end of its answer, by route template and status";
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "other"];
const OTHER = METHODS.length - 1;

interface Series {
  readonly method: string;
  readonly status: number;
  /** By bound, and one more for what is above the last. */
  readonly counts: number[];
  sum: number;
}

/** What the registry prints of a histogram. */
interface Printed extends Pick<MetricObject, "name" | "help"> {
  readonly type: "histogram";
  readonly aggregator: "sum";
  readonly values: readonly { metricName: string; labels: Record<string, string | number>; value: number }[];
}

/**
 * The histogram of requests. prom-client's own puts the labels of each observation together into a text, which costs
 * more than everything else that is counted of a request; this finds its series by two look-ups.
 */
export class RequestHistogram {
  readonly name = NAME;
  readonly #byRoute = new Map<string, Map<number, Series>>();

  constructor(registry: Registry) {
    // A registry asks its metrics for nothing but their name and `get`, and types them as its own classes.
    registry.registerMetric(this as never);
  }

  observe({ route, method, status, seconds }: ObservedRequest): void {
    let ofRoute = this.#byRoute.get(route);
    if (ofRoute === undefined) {
      ofRoute = new Map();
      this.#byRoute.set(route, ofRoute);
    }
    const at = METHODS.indexOf(method);
    const methodAt = at === -1 ? OTHER : at;
    const key = methodAt * 1000 + status;
    let series = ofRoute.get(key);
    if (series === undefined) {
      const counts = new Array<number>(BOUNDS.length + 1).fill(0);
      series = { method: METHODS[methodAt] as string, status, counts, sum: 0 };
      ofRoute.set(key, series);
    }
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sum += seconds;
  }

  async get(): Promise<Printed> {
    const values: Printed["values"][number][] = [];
    for (const [route, ofRoute] of this.#byRoute) {
      for (const { method, status, counts, sum } of ofRoute.values()) {
        const labels = { route, method, status };
        let count = 0;
        for (const [place, counted] of counts.entries()) {
          count += counted;
          const le = BOUNDS[place] ?? "+Inf";
          values.push({ metricName: `${NAME}_bucket`, labels: { le, ...labels }, value: count });
        }
        values.push({ metricName: `${NAME}_sum`, labels, value: sum });
        values.push({ metricName: `${NAME}_count`, labels, value: count });
      }
    }
    return { name: NAME, help: HELP, type: "histogram", aggregator: "sum", values };
  }

  reset(): void {
    this.#byRoute.clear();
  }
}
