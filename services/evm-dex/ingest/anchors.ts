import { encodeCall, readInt, readUint } from "../../shared/chain/evm/abi.ts";
import type { EvmSource, Hex } from "../../shared/chain/evm/port.ts";
import { balanceCalls, readBalance } from "./balances.ts";
import type { PoolEntry } from "./state/pool-book.ts";
import { EMPTY_STATE, type PoolState } from "./state/pool-state.ts";

const SLOT0 = encodeCall("0x3850c7bd");
const LIQUIDITY = encodeCall("0x1a686502");
const CALLS_A_POOL = 4;

/**
 * The state of pools that are older than the index, just before their first indexed event: slot0, liquidity and
 * balances at the block before it. Where no node has that state any more, the balances of `head` stand in for the
 * reserves and price and liquidity are unknown until the first swap tells them.
 */
export async function readAnchors(
  source: EvmSource,
  of: { pools: readonly { entry: PoolEntry; block: number }[]; head: number },
): Promise<void> {
  const { pools, head } = of;
  if (pools.length === 0) return;
  const answers = await source.call(
    pools.flatMap(({ entry, block }) => {
      const to = entry.row.poolAddress as Hex;
      const before = block - 1;
      return [
        { to, data: SLOT0, block: before },
        { to, data: LIQUIDITY, block: before },
        ...balanceCalls(entry.row, before),
      ];
    }),
  );
  const without: PoolEntry[] = [];
  pools.forEach(({ entry }, i) => {
    const anchor = toAnchor(answers.slice(i * CALLS_A_POOL, (i + 1) * CALLS_A_POOL));
    if (anchor === undefined) without.push(entry);
    else setAnchor(entry, anchor);
  });
  const balances = await source.call(without.flatMap((entry) => balanceCalls(entry.row, head)));
  without.forEach((entry, i) => {
    const reserve0 = readBalance(balances[2 * i]) ?? 0n;
    const reserve1 = readBalance(balances[2 * i + 1]) ?? 0n;
    setAnchor(entry, { ...EMPTY_STATE, reserve0, reserve1 });
  });
}

function setAnchor(entry: PoolEntry, anchor: PoolState): void {
  entry.anchor = anchor;
  entry.state = anchor;
}

/** slot0 returns (sqrtPriceX96, tick, observationIndex, observationCardinality, observationCardinalityNext, feeProtocol, unlocked). */
function toAnchor(answers: readonly (Hex | null | undefined)[]): PoolState | undefined {
  const [slot0, liquidity] = answers;
  const reserve0 = readBalance(answers[2]);
  const reserve1 = readBalance(answers[3]);
  if (typeof slot0 !== "string" || slot0.length < 2 + 7 * 64 || typeof liquidity !== "string")
    return undefined;
  if (liquidity.length < 66 || reserve0 === null || reserve1 === null) return undefined;
  return {
    sqrtPriceX96: readUint(slot0, 0),
    tick: readInt(slot0, 1),
    feeProtocol: readInt(slot0, 5),
    liquidity: readUint(liquidity, 0),
    reserve0,
    reserve1,
  };
}
