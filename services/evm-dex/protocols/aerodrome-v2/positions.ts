import { applyStake, applyTransfer, type LpPosition, settle } from "../../metrics/lp-position.ts";
import type { PositionChange } from "../protocol.ts";
import { ZERO_ADDRESS } from "./apply.ts";
import type { V2Event } from "./events.ts";
import type { V2State } from "./state.ts";

/** Owner of the LP tokens that every pool locks for ever. Source: Aerodrome Pool.mint. */
const LOCKED = `0x${"0".repeat(39)}1`;
/** The locked LP tokens, raw units: while the supply is no more, none can move. */
export const MINIMUM_LIQUIDITY = 1_000n;

/**
 * The positions that an event changes, with the state after it. A transfer to oneself is one change; the zero
 * address, the owner of the locked minimum, the pool and its gauge have no positions.
 */
export function positionChanges(
  event: V2Event,
  { state, poolAddress }: { state: V2State; poolAddress: string },
): PositionChange[] {
  return changesOf(event, state).filter(
    ({ wallet }) =>
      wallet !== ZERO_ADDRESS && wallet !== LOCKED && wallet !== poolAddress && wallet !== state.gauge,
  );
}

function changesOf(event: V2Event, state: V2State): PositionChange[] {
  switch (event.kind) {
    case "transfer": {
      const move = (wallet: string, amount: bigint) => ({
        wallet,
        after: (position: LpPosition) =>
          clampNegative(applyTransfer(position, { index0: state.index0, index1: state.index1, amount })),
      });
      return event.from === event.to
        ? [move(event.from, 0n)]
        : [move(event.from, -event.amount), move(event.to, event.amount)];
    }
    case "claim":
      return [{ wallet: event.owner, after: (position) => settle(position, indexOf(state)) }];
    case "deposit":
      return [stake(event.owner, event.amount)];
    case "withdraw":
      return [stake(event.owner, -event.amount)];
    default:
      return [];
  }
}

function stake(wallet: string, amount: bigint): PositionChange {
  return { wallet, after: (position) => clampNegative(applyStake(position, amount)) };
}

function indexOf({ index0, index1 }: V2State) {
  return { index0, index1 };
}

/** Below zero only where the position before the index was unavailable. */
function clampNegative(position: LpPosition): LpPosition {
  if (position.balance >= 0n && position.staked >= 0n) return position;
  return {
    ...position,
    balance: position.balance < 0n ? 0n : position.balance,
    staked: position.staked < 0n ? 0n : position.staked,
  };
}
