import type { MetricObject, Registry } from "prom-client";

/** One finished HTTP request. `route` is the template of the route, never a path made up by a client. */
export interface ObservedRequest {
  readonly route: string;
  readonly method: string;
  readonly status: number;
  readonly seconds: number;
}

const NAME = "http_request_duration_seconds";
const HELP = "Time from a request's headers to the end of its response, by route template and status";
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "other"];
const OTHER = METHODS.length - 1;

interface Series {
  readonly method: string;
  readonly status: number;
  /** By bound, and one more above the last. */
  readonly counts: number[];
  sum: number;
}

/** The histogram as the registry prints it. */
interface HistogramObject extends Pick<MetricObject, "name" | "help"> {
  readonly type: "histogram";
  readonly aggregator: "sum";
  readonly values: readonly { metricName: string; labels: Record<string, string | number>; value: number }[];
}

/**
 * The histogram of requests. prom-client's own joins the labels of each observation into a text, which costs more than
 * all other metrics of a request; this class finds its series by two look-ups.
 */
export class RequestHistogram {
  readonly name = NAME;
  readonly #byRoute = new Map<string, Map<number, Series>>();

  constructor(registry: Registry) {
    // A registry uses only `name` and `get` of a metric, but types metrics as its own classes.
    registry.registerMetric(this as never);
  }

  observe({ route, method, status, seconds }: ObservedRequest): void {
    let seriesOfRoute = this.#byRoute.get(route);
    if (seriesOfRoute === undefined) {
      seriesOfRoute = new Map();
      this.#byRoute.set(route, seriesOfRoute);
    }
    const at = METHODS.indexOf(method);
    const methodAt = at === -1 ? OTHER : at;
    const key = methodAt * 1000 + status;
    let series = seriesOfRoute.get(key);
    if (series === undefined) {
      const counts = new Array<number>(BOUNDS.length + 1).fill(0);
      series = { method: METHODS[methodAt] as string, status, counts, sum: 0 };
      seriesOfRoute.set(key, series);
    }
    let bucket = 0;
    while (bucket < BOUNDS.length && seconds > (BOUNDS[bucket] as number)) bucket += 1;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sum += seconds;
  }

  async get(): Promise<HistogramObject> {
    const values: HistogramObject["values"][number][] = [];
    for (const [route, seriesOfRoute] of this.#byRoute) {
      for (const { method, status, counts, sum } of seriesOfRoute.values()) {
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
