import type { V2Event } from "../../protocols/aerodrome-v2/events.ts";
import type { GaugeRow } from "../../store/v2-collections.ts";
import { address, CHAIN_ID } from "./rows.ts";

const E18 = 10n ** 18n;
const ZERO = address(0);
const LOCKED = address(1);
const VOTER = address(0x707e);

const gaugeOf = (pool: string) => address(Number(pool) + 0x1_000);

/** What a pool's first liquidity provider does. */
export function firstEvents(wallet: string): V2Event[] {
  return [{ kind: "transfer", from: ZERO, to: LOCKED, amount: 1_000n }, ...mintOf(wallet, 20_000n * E18)];
}

function mintOf(wallet: string, amount: bigint): V2Event[] {
  return [
    { kind: "transfer", from: ZERO, to: wallet, amount },
    { kind: "sync", reserve0: 20_000n * E18 + amount, reserve1: 20_000n * E18 + amount },
    { kind: "mint", amount0: amount, amount1: amount },
  ];
}

/** A user's actions on a pool, by kind; wallets differ from senders, as they do on a chain. */
export function v2Events(
  { pool, kind, size, user }: { pool: string; kind: number; size: number; user: number },
  hasGauge: boolean,
): V2Event[] {
  const amount = BigInt(size) * 100n * E18;
  const [wallet, other] = [address(0xb00 + user), address(0xb00 + ((user + 1) % 3))];
  const gauge = gaugeOf(pool);
  switch (kind) {
    case 0:
      return mintOf(wallet, amount);
    case 1:
      return [
        { kind: "transfer", from: wallet, to: pool, amount },
        { kind: "transfer", from: pool, to: ZERO, amount },
        { kind: "sync", reserve0: 19_000n * E18, reserve1: 19_000n * E18 + amount },
        { kind: "burn", amount0: amount, amount1: amount },
      ];
    case 2:
      return [{ kind: "transfer", from: wallet, to: other, amount }];
    case 3:
      return hasGauge
        ? [
            { kind: "transfer", from: wallet, to: gauge, amount },
            { kind: "deposit", owner: size % 2 === 0 ? wallet : other, amount },
          ]
        : [{ kind: "gauge_created", gauge }];
    case 4:
      return hasGauge
        ? [
            { kind: "transfer", from: gauge, to: wallet, amount },
            { kind: "withdraw", owner: wallet, amount },
          ]
        : [{ kind: "claim", owner: wallet }];
    case 5:
      return size < 5
        ? [{ kind: "set_custom_fee", fee: size === 1 ? 420 : size * 10 - 20 }]
        : [{ kind: "sync", reserve0: 21_000n * E18, reserve1: 20_500n * E18 }];
    case 6:
      return hasGauge
        ? [{ kind: "notify_reward", amount: amount * 10_000n }]
        : [{ kind: "claim", owner: wallet }];
    default:
      return swapOf(kind, amount);
  }
}

function swapOf(kind: number, amount: bigint): V2Event[] {
  const isZeroForOne = kind % 2 === 0;
  const fee = (amount * 30n) / 10_000n;
  return [
    { kind: "fees", amount0: isZeroForOne ? fee : 0n, amount1: isZeroForOne ? 0n : fee },
    { kind: "sync", reserve0: 20_000n * E18 + amount, reserve1: 20_000n * E18 - amount },
    {
      kind: "swap",
      amount0In: isZeroForOne ? amount : 0n,
      amount1In: isZeroForOne ? 0n : amount,
      amount0Out: isZeroForOne ? 0n : amount,
      amount1Out: isZeroForOne ? amount : 0n,
    },
  ];
}

export function gaugeRow(pool: string, createdBlock: number): GaugeRow {
  return { chainId: CHAIN_ID, gauge: gaugeOf(pool), poolAddress: pool, voter: VOTER, createdBlock };
}
