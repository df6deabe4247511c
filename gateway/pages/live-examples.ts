import type { Endpoint, Family } from "../../services/shared/contract/endpoint.ts";
import { EXAMPLES_PATH, type ExampleParams, type Examples } from "../../services/shared/contract/examples.ts";
import { parseQuery } from "../../services/shared/contract/parse.ts";
import type { Log } from "../../services/shared/logging/log.ts";
import { bearer, TOKEN_HEADER } from "../../services/shared/service/service-token.ts";
import type { UpstreamGroup } from "../proxy/upstream/upstream.ts";

/** What documents are rendered with. A new object whenever the examples change, so that identity is their version. */
export interface LiveExamples {
  readonly examples: Examples;
}

export interface LiveExamplesOptions {
  readonly catalogue: readonly Endpoint[];
  readonly groups: ReadonlyMap<Family, UpstreamGroup>;
  readonly serviceToken?: string | undefined;
  readonly log: Log;
  /** Polling interval once every service has returned some. */
  readonly intervalMs?: number;
  /** First pause while a service has returned none; doubles up to `intervalMs`. */
  readonly firstMs?: number;
}

const TIMEOUT_MS = 20_000;
const MAX_BYTES = 262_144;
const MAX_VALUE_LENGTH = 256;

/**
 * Polls the services for examples out of their data (EXAMPLES_PATH) and keeps them in memory: no request waits for a
 * service. While a service is away its last examples stay, since its data has not changed.
 */
export class LiveExampleWatch {
  readonly #options: LiveExamplesOptions;
  readonly #stopping = new AbortController();
  readonly #byFamily = new Map<Family, Examples>();
  #current: LiveExamples = { examples: {} };
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LiveExamplesOptions) {
    this.#options = options;
  }

  current(): LiveExamples {
    return this.#current;
  }

  start(): void {
    const { intervalMs = 60_000, firstMs = 1_000 } = this.#options;
    const repeat = async (pauseMs: number): Promise<void> => {
      const isComplete = await this.#look();
      if (this.#stopping.signal.aborted) return;
      const next = isComplete ? intervalMs : Math.min(pauseMs * 2, intervalMs);
      this.#timer = setTimeout(() => void repeat(next), isComplete ? intervalMs : pauseMs);
    };
    void repeat(firstMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#stopping.abort();
  }

  /** Resolves to whether every service has returned some. */
  async #look(): Promise<boolean> {
    const { groups } = this.#options;
    const before = JSON.stringify(this.#current.examples);
    await Promise.all([...groups.values()].map((group) => this.#ask(group)));
    const examples: Examples = Object.assign({}, ...this.#byFamily.values());
    if (JSON.stringify(examples) !== before) this.#current = { examples };
    return [...groups.keys()].every((family) => Object.keys(this.#byFamily.get(family) ?? {}).length > 0);
  }

  /** The first replica that answers; none does while the service is away. */
  async #ask({ family, members }: UpstreamGroup): Promise<void> {
    const { log } = this.#options;
    for (const { url, state, name } of members) {
      if (state !== "serving") continue;
      try {
        this.#byFamily.set(family, this.#checked(family, await this.#fetch(url)));
        return;
      } catch (err) {
        if (this.#stopping.signal.aborted) return;
        log.debug({ err, upstream: name }, "examples could not be read");
      }
    }
  }

  async #fetch(url: string): Promise<unknown> {
    const { serviceToken } = this.#options;
    const answer = await fetch(`${url}${EXAMPLES_PATH}`, {
      signal: AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      redirect: "error",
      headers: serviceToken === undefined ? {} : { [TOKEN_HEADER]: bearer(serviceToken) },
    });
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of answer.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    if (!answer.ok) throw new Error(`the service answered ${answer.status}`);
    return JSON.parse(Buffer.concat(chunks).toString());
  }

  /** Keeps what this gateway would accept itself: a service of another version may have other parameters. */
  #checked(family: Family, body: unknown): Examples {
    if (typeof body !== "object" || body === null) throw new Error("the answer is not an object");
    const endpoints = this.#options.catalogue.filter((endpoint) => endpoint.family === family);
    return Object.fromEntries(
      endpoints.flatMap((endpoint) => {
        const params = (body as Record<string, unknown>)[endpoint.path];
        return isAccepted(endpoint, params) ? [[endpoint.path, params]] : [];
      }),
    );
  }
}

function isAccepted(endpoint: Endpoint, params: unknown): params is ExampleParams {
  if (typeof params !== "object" || params === null) return false;
  const pairs = Object.entries(params);
  if (pairs.some(([, value]) => typeof value !== "string" || value.length > MAX_VALUE_LENGTH)) return false;
  const query = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  try {
    return parseQuery(endpoint, query.join("&")).ignored.length === 0;
  } catch {
    return false;
  }
}
