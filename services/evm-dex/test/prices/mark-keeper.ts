import type { MarkedPrices, PriceGraph } from "../../price/graph.ts";

/** What prices were at the last full five minutes, for tests that continue with another graph. */
export class MarkKeeper {
  #mark = Number.NEGATIVE_INFINITY;
  #usd: ReadonlyMap<string, number> = new Map();

  /** To be called before each block, with the graph as it is after the one before. */
  beforeBlock(graph: PriceGraph, now: number): MarkedPrices {
    const mark = now - (now % 300);
    if (mark > this.#mark) {
      this.#mark = mark;
      this.#usd = new Map(graph.tokens().map((token) => [token, graph.usd(token) as number]));
    }
    return { now, usd: this.#usd };
  }
}
