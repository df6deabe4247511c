import { encodeCall, readAddress, readBool, readInt } from "../../shared/evm/abi.ts";
import type { Hex } from "../../shared/evm/port.ts";
import type { Identity, PoolCreatedEvent } from "./protocol.ts";

const TOKEN0 = encodeCall("0x0dfe1681");
const TOKEN1 = encodeCall("0xd21220a7");
const FEE = encodeCall("0xddca3f43");
const TICK_SPACING = encodeCall("0xd0c93a7c");
const STABLE = encodeCall("0x22be3de1");

/** What distinguishes pools of the same tokens, in the words after token0 and token1. */
type Traits = Pick<PoolCreatedEvent, "fee" | "tickSpacing" | "stable">;

function identityBy(options: {
  getters: readonly Hex[];
  read(words: readonly Hex[]): Traits;
  /** getPool(address, address, …) with the last argument's type. */
  getPool: Hex;
  last(created: PoolCreatedEvent): number | boolean;
}): Identity {
  const getters = [TOKEN0, TOKEN1, ...options.getters];
  return {
    calls: (pool, block) => getters.map((data) => ({ to: pool as Hex, data, block })),
    read(pool, results) {
      const words = results.flatMap((result) =>
        typeof result === "string" && result.length >= 66 ? [result] : [],
      );
      const [token0, token1, ...traits] = words;
      if (token0 === undefined || token1 === undefined || words.length < getters.length) return undefined;
      try {
        return {
          pool,
          token0: readAddress(token0, 0),
          token1: readAddress(token1, 0),
          ...options.read(traits),
        };
      } catch (error) {
        if (error instanceof RangeError) return undefined;
        throw error;
      }
    },
    getPool: (created, { factory, block }) => ({
      to: factory as Hex,
      data: encodeCall(options.getPool, [
        created.token0 as Hex,
        created.token1 as Hex,
        options.last(created),
      ]),
      block,
    }),
  };
}

/** Uniswap v3 and PancakeSwap v3. */
export const byFee = identityBy({
  getters: [FEE, TICK_SPACING],
  read: ([fee = "0x", tickSpacing = "0x"]) => ({
    fee: readInt(fee, 0),
    tickSpacing: readInt(tickSpacing, 0),
  }),
  getPool: "0x1698ee82",
  last: ({ fee }) => fee ?? 0,
});

/** Slipstream. */
export const byTickSpacing = identityBy({
  getters: [TICK_SPACING],
  read: ([tickSpacing = "0x"]) => ({ fee: null, tickSpacing: readInt(tickSpacing, 0) }),
  getPool: "0x28af8d0b",
  last: ({ tickSpacing }) => tickSpacing,
});

/** Aerodrome v2. */
export const byCurve = identityBy({
  getters: [STABLE],
  read: ([stable = "0x"]) => ({ fee: null, tickSpacing: 0, stable: readBool(stable, 0) }),
  getPool: "0x79bc57d5",
  last: ({ stable }) => stable ?? false,
});
