import type { PriceEdge } from "../../services/evm-dex/price/edges.ts";

/** What moves of the edges, in columns: the pools of an ingest are no objects either, which its collector would copy. */
export class EdgeColumns {
  readonly #made: readonly PriceEdge[];
  readonly #price: Float64Array;
  readonly #depth0: Float64Array;
  readonly #depth1: Float64Array;
  readonly #lastTime: Uint32Array;

  constructor(made: readonly PriceEdge[]) {
    this.#made = made;
    this.#price = Float64Array.from(made, (edge) => edge.price);
    this.#depth0 = Float64Array.from(made, (edge) => edge.depth0);
    this.#depth1 = Float64Array.from(made, (edge) => edge.depth1);
    this.#lastTime = Uint32Array.from(made, (edge) => edge.lastTime);
  }

  get(i: number): PriceEdge {
    const { pool, token0, token1, held, aged } = this.#made[i] as PriceEdge;
    return {
      pool,
      token0,
      token1,
      price: this.#price[i] as number,
      depth0: this.#depth0[i] as number,
      depth1: this.#depth1[i] as number,
      held,
      aged,
      lastTime: this.#lastTime[i] as number,
    };
  }

  set(i: number, { price, depth0, depth1, lastTime }: PriceEdge): void {
    this.#price[i] = price;
    this.#depth0[i] = depth0;
    this.#depth1[i] = depth1;
    this.#lastTime[i] = lastTime;
  }
}
