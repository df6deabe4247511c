import fc from "fast-check";
import { catalogue } from "../../gateway/catalogue.ts";
import {
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
} from "../../gateway/testkit/gateway.ts";
import type { Cell } from "../../services/shared/contract/column.ts";
import {
  describeParameters,
  minimalRequest,
  selectExamples,
} from "../../services/shared/contract/derive/parameters.ts";
import type { Endpoint, TableResult } from "../../services/shared/contract/endpoint.ts";
import { randomRows } from "../../services/shared/format/testkit/random-rows.ts";
import { createLog } from "../../services/shared/logging/log.ts";
import { createMetrics } from "../../services/shared/metrics/metrics.ts";
import type { AnyHandler } from "../../services/shared/service/handlers.ts";
import { createServiceApp } from "../../services/shared/service/service-app.ts";

/** A gateway before services that check parameters, page and tag as the real ones do, and have rows of every endpoint. */
export interface Served extends TestGateway {
  /** The block that all answers are of; a change gives them another ETag. */
  block: number;
}

/** The path with the parameters that it needs, in the form that clients take them. */
export interface Sample {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly isPaged: boolean;
}

/** A request of every declared endpoint. */
export const SAMPLES: readonly Sample[] = catalogue.map((endpoint) => {
  const docs = describeParameters(endpoint);
  const params = Object.fromEntries(minimalRequest(docs, selectExamples(docs)));
  return { path: endpoint.path, params, isPaged: endpoint.params.limit !== undefined };
});

export async function startServed(options: TestGatewayOptions = {}): Promise<Served> {
  const gateway = await startTestGateway(options);
  const served: Served = Object.assign(gateway, { block: 4_711 });
  const { evmDex, lending, solana } = gateway;
  for (const [family, service] of Object.entries({ "evm-dex": evmDex, lending, solana })) {
    const endpoints = catalogue.filter((endpoint) => endpoint.family === family);
    const app = createServiceApp({
      endpoints,
      handlers: Object.fromEntries(
        endpoints.map((endpoint) => [endpoint.path, answerFrom(endpoint, served)]),
      ),
      log: createLog({ name: family, level: "silent" }),
      metrics: createMetrics({ name: family }),
      deadlineMs: 5_000,
      readiness: async () => ({ ready: true }),
    });
    service.answer = (req, res) => void app(req, res);
  }
  return served;
}

/** Random rows with the ends of every type, the same at every start. */
function answerFrom(endpoint: Endpoint, served: { readonly block: number }): AnyHandler {
  const samples: readonly Cell[][] = fc.sample(randomRows(endpoint), { numRuns: 12, seed: 7 }).flat();
  const rows = endpoint.rowOrder === "one row" ? samples.slice(0, 1) : samples;
  return async (params): Promise<TableResult> => {
    const { limit, offset } = params as { limit?: number; offset?: number };
    const version = {
      block: served.block,
      time: 1_777_636_788,
      blockHash: `0x${served.block}`,
      fromBlock: 7,
    };
    if (limit === undefined || offset === undefined) return { rows, version };
    return { rows: rows.slice(offset, offset + limit), version, total: rows.length };
  };
}
