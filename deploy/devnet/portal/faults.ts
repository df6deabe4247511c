import { createRandom, type Random } from "../random.ts";

/** What can go wrong with a request, each by chance and counted. */
export const PORTAL_FAULTS = [
  /** The request is read and never answered. */
  "hang",
  /** The connection is reset before a byte of the answer. */
  "reset",
  /** HTTP 429 of the public limit. */
  "limited",
  /** HTTP 529: the portal has no capacity. */
  "overloaded",
  /** HTTP 503: no worker has the data. */
  "busy",
  /** HTTP 500: a worker failed. */
  "workerFailure",
  /** HTTP 502 with an HTML page. */
  "badGateway",
  /** /head and /finalized-head: null. */
  "nullHead",
  /** Streams: 204 though there are blocks. */
  "noData",
  /** The answer ends early, at a whole line: not marked. */
  "cut",
  /** It ends in the middle of a line, its gzip is whole. */
  "cutLine",
  /** Its gzip lacks the end, the connection ends in order. */
  "truncatedGzip",
  /** The connection is reset in the body. */
  "resetBody",
  /** The body stops and the connection stays open. */
  "stall",
  /** A 200 or 204 without the headers that name heads. */
  "noHeadHeaders",
  /** The headers name an older finalized block than before. */
  "finalizedBack",
] as const;

export type PortalFault = (typeof PORTAL_FAULTS)[number];
export type PortalFaultCounts = Readonly<Record<PortalFault, number>>;
/** Probability per request that can have the fault; what is absent does not happen. */
export type PortalFaultPlan = Readonly<Partial<Record<PortalFault, number>>>;

/** Where a request goes; each has faults of its own. */
export type FaultPlace = "request" | "head" | "stream";

const PLACES: Readonly<Record<FaultPlace, readonly PortalFault[]>> = {
  request: ["hang", "reset", "limited", "overloaded", "busy", "workerFailure", "badGateway"],
  head: ["nullHead"],
  stream: ["noData", "cut", "cutLine", "truncatedGzip", "resetBody", "stall"],
};

/**
 * The draws of one server. What a request meets follows from the seed, its own words, and how often they came before: it
 * is the same however requests of several streams interleave, and a second try is drawn anew.
 */
export class PortalFaults {
  readonly #seed: number;
  readonly #times = new Map<string, number>();
  readonly #counts = Object.fromEntries(PORTAL_FAULTS.map((name) => [name, 0])) as Record<
    PortalFault,
    number
  >;
  readonly #forced: PortalFault[] = [];
  #plan: PortalFaultPlan;

  constructor(seed: number, plan: PortalFaultPlan) {
    this.#seed = seed;
    this.#plan = plan;
  }

  set plan(plan: PortalFaultPlan) {
    this.#plan = plan;
  }

  get counts(): PortalFaultCounts {
    return { ...this.#counts };
  }

  /** The next requests that can have them meet these, in order, whatever the plan says. */
  force(faults: readonly PortalFault[]): void {
    this.#forced.push(...faults);
  }

  /** All further draws of one request. */
  randomOf(words: string): Random {
    const times = this.#times.get(words) ?? 0;
    this.#times.set(words, times + 1);
    return createRandom(hashOf(`${this.#seed} ${times} ${words}`));
  }

  /** The fault of a request at a place, counted; undefined mostly. They exclude each other. */
  draw(place: FaultPlace, random: Random): PortalFault | undefined {
    const possible = PLACES[place];
    const at = this.#forced.findIndex((fault) => possible.includes(fault));
    const forced = at < 0 ? undefined : this.#forced.splice(at, 1)[0];
    const fault = forced ?? possible.find((each) => random.next() < (this.#plan[each] ?? 0));
    if (fault !== undefined) this.#counts[fault] += 1;
    return fault;
  }

  /** The same for one that may come with others. */
  happens(fault: "noHeadHeaders" | "finalizedBack", random: Random): boolean {
    const at = this.#forced.indexOf(fault);
    if (at >= 0) this.#forced.splice(at, 1);
    const isSo = random.next() < (this.#plan[fault] ?? 0) || at >= 0;
    if (isSo) this.#counts[fault] += 1;
    return isSo;
  }
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
