import {
  describeParameters,
  minimalRequest,
  type ParameterDoc,
  selectExamples,
} from "../contract/derive/parameters.ts";
import type { Endpoint, TableResult } from "../contract/endpoint.ts";
import type { ExampleParams, Examples } from "../contract/examples.ts";
import { FORMAT_PARAM } from "../contract/format.ts";
import { parseQuery } from "../contract/parse.ts";
import { ServiceError } from "../errors.ts";
import type { Log } from "../logging/log.ts";
import type { AnyHandler, HandlerTable } from "./handlers.ts";

/**
 * Values for parameters, by name: an endpoint uses those of its parameters, so that a new endpoint has examples without
 * code of its own. A parameter that is not named keeps its declaration's example; one that is undefined has none.
 */
export type ExampleCandidate = Readonly<Record<string, string | undefined>>;

/** Candidates from the stored data for an endpoint, the best first; empty without data. */
export type FindExampleCandidates = (endpoint: Endpoint) => Promise<readonly ExampleCandidate[]>;

export interface ExampleFinderOptions {
  readonly endpoints: readonly Endpoint[];
  readonly handlers: HandlerTable;
  readonly findExampleCandidates: FindExampleCandidates;
  readonly log: Log;
  /** Most milliseconds for one endpoint's example: a store that hangs delays no other endpoint. */
  readonly patienceMs?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** Candidates tried for one endpoint. */
const MAX_CANDIDATES = 20;
/** Time for one request of an example: a slower store has more important work. */
const DEADLINE_MS = 3_000;
const TIMEOUT_MS = 10_000;
/** An example is searched again after this time: data change, and a reorg may remove them. */
const EXAMPLE_TTL_MS = 600_000;
/** Least pause between two searches, however often gateways send requests. */
const PAUSE_MS = 5_000;

/** Parameters that match any row: an endpoint with no others has rows as soon as there is data. */
const FREE_PARAMS: ReadonlySet<string> = new Set([
  "chain_id",
  "limit",
  "offset",
  "order_asc",
  "order_desc",
  FORMAT_PARAM,
]);

/**
 * Finds an example for each endpoint in the service's own data: requests that its handler answers with rows, with all
 * parameters and with the fewest. One search runs at a time; `find` never rejects.
 */
export class ExampleFinder {
  readonly #options: ExampleFinderOptions;
  readonly #now: () => number;
  readonly #found = new Map<string, { readonly example: ExampleParams; readonly atMs: number }>();
  #searchedMs = Number.NEGATIVE_INFINITY;
  #search: Promise<void> | undefined;

  constructor(options: ExampleFinderOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async find(): Promise<Examples> {
    if (this.#search === undefined && this.#now() - this.#searchedMs >= PAUSE_MS) {
      this.#search = this.#searchAll().finally(() => {
        this.#search = undefined;
        this.#searchedMs = this.#now();
      });
    }
    await this.#search;
    return Object.fromEntries([...this.#found].map(([path, { example }]) => [path, example]));
  }

  async #searchAll(): Promise<void> {
    const { endpoints, log, patienceMs = TIMEOUT_MS } = this.#options;
    for (const endpoint of endpoints) {
      const { path } = endpoint;
      const known = this.#found.get(path);
      if (known !== undefined && this.#now() - known.atMs < EXAMPLE_TTL_MS) continue;
      // One after the other: requests of clients have priority.
      const example = await within(patienceMs, this.#findFor(endpoint)).catch((err) => {
        log.debug({ err, path }, "no example could be found");
        return undefined;
      });
      if (example === undefined) this.#found.delete(path);
      else this.#found.set(path, { example, atMs: this.#now() });
    }
  }

  async #findFor(endpoint: Endpoint): Promise<ExampleParams | undefined> {
    const { handlers, findExampleCandidates } = this.#options;
    const handler = handlers[endpoint.path];
    if (handler === undefined) return undefined;
    const docs = describeParameters(endpoint);
    const isFree = docs.every(({ name }) => FREE_PARAMS.has(name));
    for (const candidate of (await findExampleCandidates(endpoint)).slice(0, MAX_CANDIDATES)) {
      const example = exampleOf(docs, candidate);
      if (isFree || (await hasRows({ endpoint, handler, docs, example }))) return example;
    }
    return undefined;
  }
}

/** Rejects when the time is over; the work continues. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No example was found within ${timeoutMs} ms.`)), timeoutMs);
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}

function exampleOf(docs: readonly ParameterDoc[], candidate: ExampleCandidate): ExampleParams {
  const shown = selectExamples(docs.filter(({ name }) => !(name in candidate)));
  for (const { name } of docs) {
    const value = candidate[name];
    if (value !== undefined) shown.set(name, value);
  }
  // In the order of the declaration.
  return Object.fromEntries(
    docs.flatMap(({ name }) => (shown.has(name) ? [[name, shown.get(name) ?? ""]] : [])),
  );
}

/** Whether both requests that documents show of an example have rows: with all parameters, and with the fewest. */
async function hasRows(target: {
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler;
  readonly docs: readonly ParameterDoc[];
  readonly example: ExampleParams;
}): Promise<boolean> {
  const { docs, example } = target;
  const whole = Object.entries(example);
  const least = minimalRequest(docs, new Map(whole));
  return (await countRows(target, whole)) > 0 && (await countRows(target, least)) > 0;
}

const CLIENT_ERRORS: ReadonlySet<string> = new Set(["bad_request", "not_found"]);

/** 0 for a request that is rejected or finds nothing. */
async function countRows(
  { endpoint, handler }: { readonly endpoint: Endpoint; readonly handler: AnyHandler },
  pairs: readonly (readonly [name: string, value: string])[],
): Promise<number> {
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  try {
    const { params } = parseQuery(endpoint, query);
    const context = { session: "examples", signal: AbortSignal.timeout(DEADLINE_MS) };
    const result: TableResult = await handler(params, context);
    return result.rows.length;
  } catch (error) {
    if (error instanceof ServiceError && CLIENT_ERRORS.has(error.code)) return 0;
    throw error;
  }
}
