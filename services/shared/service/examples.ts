import {
  describeParameters,
  minimalRequest,
  type ParameterDoc,
  selectExamples,
} from "../contract/derive/parameters.ts";
import type { Endpoint, TableResult } from "../contract/endpoint.ts";
import type { ExampleParams, Examples } from "../contract/examples.ts";
import { parseQuery } from "../contract/parse.ts";
import { ServiceError } from "../errors.ts";
import type { Log } from "../logging/log.ts";
import type { AnyHandler, HandlerTable } from "./handlers.ts";

/**
 * Values that parameters may take together, by name: an endpoint uses those that it declares, so that a new endpoint
 * has examples without a word about it here. A parameter that is not named keeps its declaration's example; one that is
 * undefined has none.
 */
export type ExampleCandidate = Readonly<Record<string, string | undefined>>;

/** Scenes out of the stored data for an endpoint, the best first; none where nothing is stored for it. */
export type FindExampleCandidates = (endpoint: Endpoint) => Promise<readonly ExampleCandidate[]>;

export interface ExampleFinderOptions {
  readonly endpoints: readonly Endpoint[];
  readonly handlers: HandlerTable;
  readonly findExampleCandidates: FindExampleCandidates;
  readonly log: Log;
  /** What one endpoint's example may take at the most, in milliseconds: a store that hangs holds up no other. */
  readonly patienceMs?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** Scenes that are tried for one endpoint. */
const MAX_SCENES = 20;
/** One request of an example. A store that takes longer has more to do than examples. */
const DEADLINE_MS = 3_000;
const PATIENCE_MS = 10_000;
/** An example is shown so long before another one is looked for: data go on, and may be taken back. */
const KEPT_MS = 600_000;
/** Least pause between two searches, however often gateways ask. */
const PAUSE_MS = 5_000;

/** Parameters that no row has to fit: what takes no others answers as long as there is anything. */
const FREE_PARAMS: ReadonlySet<string> = new Set(["chain_id", "limit", "offset", "order_asc", "order_desc"]);

/** Finds an example for each endpoint in the service's own data. One search runs at a time; `find` never rejects. */
export class ExampleFinder {
  readonly #options: ExampleFinderOptions;
  readonly #now: () => number;
  readonly #found = new Map<string, { readonly example: ExampleParams; readonly atMs: number }>();
  #lookedMs = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;

  constructor(options: ExampleFinderOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  async find(): Promise<Examples> {
    if (this.#looking === undefined && this.#now() - this.#lookedMs >= PAUSE_MS) {
      this.#looking = this.#look().finally(() => {
        this.#looking = undefined;
        this.#lookedMs = this.#now();
      });
    }
    await this.#looking;
    return Object.fromEntries([...this.#found].map(([path, { example }]) => [path, example]));
  }

  async #look(): Promise<void> {
    const { endpoints, log, patienceMs = PATIENCE_MS } = this.#options;
    for (const endpoint of endpoints) {
      const { path } = endpoint;
      const known = this.#found.get(path);
      if (known !== undefined && this.#now() - known.atMs < KEPT_MS) continue;
      // One after the other: what clients ask for comes first.
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
    for (const scene of (await findExampleCandidates(endpoint)).slice(0, MAX_SCENES)) {
      const example = exampleOf(docs, scene);
      if (isFree || (await hasRows({ endpoint, handler, docs, example }))) return example;
    }
    return undefined;
  }
}

/** Rejects when the time is over, though the work goes on. */
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

function exampleOf(docs: readonly ParameterDoc[], scene: ExampleCandidate): ExampleParams {
  const shown = selectExamples(docs.filter(({ name }) => !(name in scene)));
  for (const { name } of docs) {
    const value = scene[name];
    if (value !== undefined) shown.set(name, value);
  }
  // In the order of the declaration.
  return Object.fromEntries(
    docs.flatMap(({ name }) => (shown.has(name) ? [[name, shown.get(name) ?? ""]] : [])),
  );
}

/** Whether both requests that documents make of an example have rows: that with all parameters, and the least one. */
async function hasRows(of: {
  readonly endpoint: Endpoint;
  readonly handler: AnyHandler;
  readonly docs: readonly ParameterDoc[];
  readonly example: ExampleParams;
}): Promise<boolean> {
  const { docs, example } = of;
  const whole = Object.entries(example);
  const least = minimalRequest(docs, new Map(whole));
  return (await countRows(of, whole)) > 0 && (await countRows(of, least)) > 0;
}

const REFUSALS: ReadonlySet<string> = new Set(["bad_request", "not_found"]);

/** 0 for a request that is refused or of something that is not known. */
async function countRows(
  { endpoint, handler }: { readonly endpoint: Endpoint; readonly handler: AnyHandler },
  pairs: readonly (readonly [name: string, value: string])[],
): Promise<number> {
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  try {
    const { params } = parseQuery(endpoint, query);
    const context = { session: "examples", signal: AbortSignal.timeout(DEADLINE_MS) };
    const answer: TableResult = await handler(params, context);
    return answer.rows.length;
  } catch (error) {
    if (error instanceof ServiceError && REFUSALS.has(error.code)) return 0;
    throw error;
  }
}
