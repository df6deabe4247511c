import type { Random } from "../../../deploy/devnet/random.ts";
import { addressTopic, dataOf, type Emitted, numberTopic, raw } from "./encode.ts";
import { type DayPool, stepOf, usdAt } from "./market.ts";
import { TOPICS } from "./topics.ts";

const ZERO = `0x${"0".repeat(40)}`;
const MINIMUM_LIQUIDITY = 1_000n;

/** Aerodrome's volatile pool: x · y = k, the fee of each swap leaves at once, LP tokens are the pool's own. */
export class V2DayPool {
  readonly pool: DayPool;
  #reserve0 = 0n;
  #reserve1 = 0n;
  #supply = 0n;
  readonly #holders: { owner: string; amount: bigint }[] = [];

  constructor(pool: DayPool) {
    this.pool = pool;
  }

  create(owner: string, block: number): Emitted[] {
    const { factory, token0, token1, address, depthUsd } = this.pool;
    const created: Emitted = {
      address: factory.address,
      topics: [TOPICS.v2Created, addressTopic(token0.address), addressTopic(token1.address), numberTopic(0)],
      data: dataOf(BigInt(address), 1),
    };
    const amountOf = (token: typeof token0) =>
      raw((depthUsd / 2 / usdAt(token, block)) * 10 ** token.decimals);
    const [amount0, amount1] = [amountOf(token0) + 10_000n, amountOf(token1) + 10_000n];
    const liquidity = BigInt(Math.floor(Math.sqrt(Number(amount0) * Number(amount1)))) - MINIMUM_LIQUIDITY;
    this.#supply = MINIMUM_LIQUIDITY;
    const locked = this.#transfer(ZERO, ZERO.replace(/.$/, "1"), MINIMUM_LIQUIDITY);
    return [created, locked, ...this.#add(owner, { amount0, amount1, liquidity })];
  }

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
  }): Emitted[] {
    const { address, fee, token0, token1 } = this.pool;
    const fair = (usdAt(token0, block) / usdAt(token1, block)) * 10 ** (token1.decimals - token0.decimals);
    const gap = Math.log(fair) - Math.log(Number(this.#reserve1) / Number(this.#reserve0));
    const step = Math.max(-0.02, Math.min(0.02, 0.25 * gap + random.normal() * stepOf(this.pool)));
    // A fall of the price sells token0.
    const isSell = step < 0;
    const [reserveIn, reserveOut] = isSell
      ? [this.#reserve0, this.#reserve1]
      : [this.#reserve1, this.#reserve0];
    const amountIn = raw(Number(reserveIn) * Math.abs(step)) + 1_000n;
    const taken = (amountIn * BigInt(fee)) / 1_000_000n;
    const net = amountIn - taken;
    const amountOut = (net * reserveOut) / (reserveIn + net);
    this.#reserve0 += isSell ? net : -amountOut;
    this.#reserve1 += isSell ? -amountOut : net;
    const [from, to] = [addressTopic(sender), addressTopic(recipient)];
    const words = isSell ? [amountIn, 0n, 0n, amountOut] : [0n, amountIn, amountOut, 0n];
    return [
      { address, topics: [TOPICS.v2Fees, from], data: isSell ? dataOf(taken, 0n) : dataOf(0n, taken) },
      this.#sync(),
      { address, topics: [TOPICS.v2Swap, from, to], data: dataOf(...words) },
    ];
  }

  changeLiquidity(random: Random, owner: string): Emitted[] {
    // The first holder stays.
    if (this.#holders.length < 2 || random.next() < 0.5) {
      const share = BigInt(1 + random.below(10_000));
      const part = (amount: bigint) => (amount * share) / 1_000_000n + 1n;
      return this.#add(owner, {
        amount0: part(this.#reserve0),
        amount1: part(this.#reserve1),
        liquidity: part(this.#supply),
      });
    }
    const { owner: leaver, amount } = this.#holders.pop() as { owner: string; amount: bigint };
    const { address } = this.pool;
    const [amount0, amount1] = [this.#reserve0, this.#reserve1].map(
      (each) => (each * amount) / this.#supply,
    ) as [bigint, bigint];
    this.#reserve0 -= amount0;
    this.#reserve1 -= amount1;
    this.#supply -= amount;
    const who = addressTopic(leaver);
    return [
      this.#transfer(leaver, address, amount),
      this.#transfer(address, ZERO, amount),
      this.#sync(),
      { address, topics: [TOPICS.v2Burn, who, who], data: dataOf(amount0, amount1) },
    ];
  }

  #add(
    owner: string,
    { amount0, amount1, liquidity }: { amount0: bigint; amount1: bigint; liquidity: bigint },
  ): Emitted[] {
    this.#reserve0 += amount0;
    this.#reserve1 += amount1;
    this.#supply += liquidity;
    this.#holders.push({ owner, amount: liquidity });
    const mint = {
      address: this.pool.address,
      topics: [TOPICS.v2Mint, addressTopic(owner)],
      data: dataOf(amount0, amount1),
    };
    return [this.#transfer(ZERO, owner, liquidity), this.#sync(), mint];
  }

  #transfer(from: string, to: string, amount: bigint): Emitted {
    const topics = [TOPICS.transfer, addressTopic(from), addressTopic(to)];
    return { address: this.pool.address, topics, data: dataOf(amount) };
  }

  #sync(): Emitted {
    return {
      address: this.pool.address,
      topics: [TOPICS.v2Sync],
      data: dataOf(this.#reserve0, this.#reserve1),
    };
  }
}
