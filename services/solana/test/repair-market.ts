import { INTERVALS } from "../../shared/contract/candle-params.ts";
import type { Store } from "../../shared/storage/port.ts";
import { ohlcvToken, tokenHolders } from "../contract.ts";
import { createHandlers } from "../handlers.ts";
import { createDeps } from "../serve/deps.ts";
import { queryEndpoint } from "./ask.ts";
import { AttackMarket, pair, SOL, type TestPair } from "./attack-market.ts";
import { age, OLD } from "./attacks.ts";
import { deriveAddress, FIRST_TIME, MEME, USDC } from "./random-chain.ts";

/** A token whose one pool is over SOL: all its prices rest on SOL's. */
export const CHILD = deriveAddress("CHILD");
const CHILD_SOL = 0.002;
const AGE_HOURS = 6;

/** What the owner of the old pool, which has two thirds of SOL's weight, does with its price, and when. */
export interface Move {
  readonly name: string;
  /** Times the true price, by minute of the attack; 1 afterwards. */
  readonly factors: readonly number[];
  readonly isDrained?: true;
}

const ramp = (minutes: number, perMinute: number) =>
  Array.from({ length: minutes }, (_, i) => (1 + perMinute) ** (i + 1));

export const MOVES: readonly Move[] = [
  { name: "twice the price until it is followed, and back", factors: Array(80).fill(2) },
  {
    name: "two fifths down until it is followed, and drained",
    factors: Array(60).fill(0.6),
    isDrained: true,
  },
  { name: "up by 0.5 % a minute, and back", factors: ramp(25, 0.005) },
];

/** A market in which the old pool moves; without a move it trades at the true price all the time. */
export class RepairMarket extends AttackMarket {
  readonly #child = pair("child-sol", [CHILD, SOL], [1_000_000, 2_000]);
  readonly #old: TestPair = { ...OLD.pool, reserves: [0, 0] };
  /** Slot of the last block before the move. */
  readonly before: number;

  constructor() {
    super(0);
    age(this, { pools: [this.#old], capitalUsd: 8e6, hours: AGE_HOURS });
    this.#minute(1);
    this.before = this.blocks.at(-1)?.slot ?? 0;
  }

  /** The move, or the true price for as long. */
  move({ factors, isDrained }: Move, isMade: boolean): void {
    for (const factor of factors) this.#minute(isMade ? factor : 1);
    if (isMade && isDrained) this.drain(this.#old, 0.9999);
  }

  /** All pools at the true price. */
  calm(minutes: number, { withOld = true } = {}): void {
    for (let minute = 0; minute < minutes; minute++) this.#minute(withOld ? 1 : undefined);
  }

  /** All other pools come to this price. */
  follow(minutes: number, factor: number): void {
    for (let minute = 0; minute < minutes; minute++) {
      for (const name of ["sol-usdc", "sol-usdc 2", "sol-usdc 3"])
        this.trade(this.honest(name), { tokenIn: USDC, tokenOut: SOL, amounts: [factor * this.solUsd, 1] });
      this.#minute(factor, { isHonestAtRest: true });
    }
  }

  #minute(factor: number | undefined, { isHonestAtRest = false } = {}): void {
    if (factor !== undefined)
      this.trade(this.#old, { tokenIn: USDC, tokenOut: SOL, amounts: [factor * this.solUsd, 1] });
    this.trade(this.#child, { tokenIn: SOL, tokenOut: CHILD, amounts: [CHILD_SOL * 100, 100] });
    if (isHonestAtRest) this.block(60);
    else this.rest(60);
  }
}

/** Open, high, low, close of every candle of a token, by interval and start. */
export async function readAllCandles(
  store: Store,
  { mint, until }: { mint: string; until: number },
): Promise<Map<string, readonly number[]>> {
  const handlers = createHandlers(createDeps(store));
  const found = new Map<string, readonly number[]>();
  for (const interval of INTERVALS) {
    const query = { token_address: mint, interval, after_time: FIRST_TIME, before_time: until };
    const { rows } = await queryEndpoint(handlers, { endpoint: ohlcvToken, query });
    for (const row of rows) found.set(`${interval} at ${row[6]}`, row.slice(0, 4) as number[]);
  }
  return found;
}

/** USD for one SOL, as the worth of its first holder says. */
export async function readHolderPrice(store: Store): Promise<number> {
  const handlers = createHandlers(createDeps(store));
  const { rows } = await queryEndpoint(handlers, { endpoint: tokenHolders, query: { token_address: SOL } });
  const [, , balance, balanceUsd] = rows[0] as number[];
  return (balanceUsd as number) / (balance as number);
}

export const TOKENS: readonly string[] = [SOL, CHILD, MEME];
