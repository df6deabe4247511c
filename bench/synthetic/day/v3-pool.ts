import type { Random } from "../../../deploy/devnet/random.ts";
import { addressTopic, dataOf, type Emitted, numberTopic, raw } from "./encode.ts";
import { type DayPool, stepOf, usdAt } from "./market.ts";
import { TOPICS } from "./topics.ts";

const Q96 = 2 ** 96;
const LOG_TICK = Math.log(1.0001);
const MAX_TICK = 887_272;
/** PancakeSwap's share of the fee. */
const PANCAKE_SHARE = 0.32;

/** A pool of concentrated liquidity whose positions all span the whole range: amounts follow from price and liquidity. */
export class V3DayPool {
  readonly pool: DayPool;
  #liquidity: number;
  /** Raw token1 per raw token0, its root. */
  #root: number;
  /** The latest position that was added on top, to be taken out again. */
  #added = 0;

  constructor(pool: DayPool, block: number) {
    this.pool = pool;
    this.#root = Math.sqrt(this.#fairPrice(block));
    const half = pool.depthUsd / 2 / usdAt(pool.token1, block);
    this.#liquidity = (half * 10 ** pool.token1.decimals) / this.#root;
  }

  create(owner: string): Emitted[] {
    const { factory, token0, token1, fee, tickSpacing, address } = this.pool;
    const tokens = [addressTopic(token0.address), addressTopic(token1.address)];
    const poolWord = BigInt(address);
    const created: Emitted =
      factory.kind === "slipstream"
        ? {
            address: factory.address,
            topics: [TOPICS.slipstreamCreated, ...tokens, numberTopic(tickSpacing)],
            data: dataOf(poolWord),
          }
        : {
            address: factory.address,
            topics: [TOPICS.v3Created, ...tokens, numberTopic(fee)],
            data: dataOf(tickSpacing, poolWord),
          };
    const initialize: Emitted = {
      address,
      topics: [TOPICS.initialize],
      data: dataOf(this.#rootX96, this.#tick),
    };
    return [created, initialize, this.#mint(owner, this.#liquidity)];
  }

  /** Towards what the tokens are worth elsewhere, with some noise. */
  swap({
    random,
    block,
    sender,
    recipient,
  }: {
    random: Random;
    block: number;
    sender: string;
    recipient: string;
  }): Emitted {
    const { pool } = this;
    const gap = Math.log(this.#fairPrice(block)) / 2 - Math.log(this.#root);
    const noise = (random.normal() * stepOf(pool)) / 2;
    const step = Math.max(-0.02, Math.min(0.02, 0.5 * gap + noise));
    const before = this.#root;
    this.#root = before * Math.exp(step === 0 ? 1e-6 : step);
    const grown = 1 / (1 - pool.fee / 1e6);
    const moved0 = this.#liquidity * (1 / this.#root - 1 / before);
    const moved1 = this.#liquidity * (this.#root - before);
    const isSell = moved0 > 0;
    const amount0 = isSell ? raw(moved0 * grown) : -raw(-moved0);
    const amount1 = isSell ? -raw(-moved1) : raw(moved1 * grown);
    const topics = [TOPICS.v3Swap, addressTopic(sender), addressTopic(recipient)];
    const words = [amount0, amount1, this.#rootX96, raw(this.#liquidity), this.#tick];
    if (pool.factory.kind !== "pancake-v3") return { address: pool.address, topics, data: dataOf(...words) };
    const fee = (Number(isSell ? amount0 : amount1) * pool.fee * PANCAKE_SHARE) / 1e6;
    const taken = BigInt(Math.floor(fee));
    const data = dataOf(...words, isSell ? taken : 0n, isSell ? 0n : taken);
    return { address: pool.address, topics: [TOPICS.pancakeSwap, ...topics.slice(1)], data };
  }

  /** Liquidity comes, or what came before leaves with its tokens. */
  changeLiquidity(random: Random, owner: string): Emitted[] {
    if (this.#added === 0) {
      this.#added = this.#liquidity * 0.02 * random.next();
      this.#liquidity += this.#added;
      return [this.#mint(owner, this.#added)];
    }
    const liquidity = this.#added;
    this.#added = 0;
    this.#liquidity -= liquidity;
    const [amount0, amount1] = this.#amounts(liquidity);
    const range = [numberTopic(-this.#edge), numberTopic(this.#edge)];
    const { address } = this.pool;
    const burn = {
      address,
      topics: [TOPICS.v3Burn, addressTopic(owner), ...range],
      data: dataOf(raw(liquidity), amount0, amount1),
    };
    const data = dataOf(BigInt(owner), amount0, amount1);
    return [burn, { address, topics: [TOPICS.v3Collect, addressTopic(owner), ...range], data }];
  }

  #mint(owner: string, liquidity: number): Emitted {
    const topics = [TOPICS.v3Mint, addressTopic(owner), numberTopic(-this.#edge), numberTopic(this.#edge)];
    const data = dataOf(BigInt(owner), raw(liquidity), ...this.#amounts(liquidity));
    return { address: this.pool.address, topics, data };
  }

  #amounts(liquidity: number): [bigint, bigint] {
    return [raw(liquidity / this.#root), raw(liquidity * this.#root)];
  }

  get #edge(): number {
    const { tickSpacing } = this.pool;
    return Math.floor(MAX_TICK / tickSpacing) * tickSpacing;
  }

  get #rootX96(): bigint {
    return BigInt(Math.floor(this.#root * Q96));
  }

  get #tick(): number {
    return Math.floor((2 * Math.log(this.#root)) / LOG_TICK);
  }

  #fairPrice(block: number): number {
    const { token0, token1 } = this.pool;
    return (usdAt(token0, block) / usdAt(token1, block)) * 10 ** (token1.decimals - token0.decimals);
  }
}
