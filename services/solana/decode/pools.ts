import { readCurveSides, readEventSides, withCurveReserve } from "./curve-sides.ts";
import type { PoolLayout } from "./layout.ts";
import { WRAPPED_SOL } from "./model.ts";
import { readVaultSide, type Side } from "./sides.ts";
import { type InstructionScope, readAccountIndex } from "./transaction/parse-transaction.ts";

/** A pool that an instruction touched, with what moved through it. */
export interface TouchedPool {
  readonly address: string;
  /** The second one is missing where the instruction does not name it. */
  readonly sides: readonly [Side] | readonly [Side, Side];
  readonly disagreement?: string;
}

/** Pools of an instruction in the order of its legs; a text is the reason why one is missing. */
export function findTouchedPools(scope: InstructionScope): (TouchedPool | string)[] {
  const { layout, accountsNeeded } = scope.call.instruction;
  const accountCount = listAccounts(scope).length;
  if (accountCount < accountsNeeded) {
    return [`${layout.name} came with ${accountCount} accounts, ${accountsNeeded} are needed`];
  }
  if (layout.route === undefined) return layout.pools.map((pool) => readPool(scope, pool));
  const hops = findRoutePools(scope);
  return hops.length === 0 ? [`${layout.name}: no pool of its route matches its transfers`] : hops;
}

function listAccounts({ parsed, call }: InstructionScope): readonly number[] {
  return parsed.flattened.instructions[call.instructionIndex]?.accounts ?? [];
}

/**
 * Pools named in groups among the trailing accounts. Where other accounts lie between the groups, nothing marks where
 * one starts: it is where one of the two vaults received tokens and the other one sent some.
 */
function findRoutePools(scope: InstructionScope): (TouchedPool | string)[] {
  const { route } = scope.call.instruction.layout;
  const accounts = listAccounts(scope);
  const pools: (TouchedPool | string)[] = [];
  if (route === undefined) return pools;
  let start = route.firstAccount;
  while (start + route.groupSize <= accounts.length) {
    const [first, second] = route.vaults.map((vault) => start + vault) as [number, number];
    const hop = readPool(scope, { pool: start + route.pool, vaults: [first, second] });
    const isHop = typeof hop !== "string" && hop.sides.some(isGaining) && hop.sides.some(isLosing);
    if (isHop || route.isContiguous) pools.push(hop);
    start += isHop || route.isContiguous ? route.groupSize : 1;
  }
  return pools;
}

function isGaining({ in: received, out }: Side): boolean {
  return received > out;
}

function isLosing({ in: received, out }: Side): boolean {
  return received < out;
}

function readPool(scope: InstructionScope, layout: PoolLayout): TouchedPool | string {
  const { keys } = scope.parsed;
  const accountAt = (position: number) => readAccountIndex(scope, position) as number;
  const address = keys[accountAt(layout.pool)] as string;
  const hasLamportSide = isLamportSide(scope, layout);
  const sides: Side[] = [];
  for (const vault of hasLamportSide ? layout.vaults.slice(0, 1) : layout.vaults) {
    const side = readVaultSide(scope, accountAt(vault));
    if (side === undefined) return `the token of vault ${keys[accountAt(vault)]} is unknown`;
    sides.push(side);
  }
  const [first, second] = sides as [Side, Side?];
  if (layout.native?.usesEventAmounts) {
    const eventSides = readEventSides(scope, [first, second]);
    return eventSides === undefined ? "the curve's trade has no event" : { address, sides: eventSides };
  }
  if (second !== undefined) {
    const tokens = layout.native === undefined ? first : withCurveReserve(scope, first);
    return { address, sides: [tokens, second] };
  }
  if (layout.native === undefined || !hasLamportSide) return { address, sides: [first] };
  const curve = readCurveSides(scope, { curve: accountAt(layout.native.account), tokens: first });
  return curve === undefined ? "the lamports that the curve paid are unknown" : { address, ...curve };
}

/** True if the second side is lamports. */
function isLamportSide(scope: InstructionScope, { native }: PoolLayout): boolean {
  if (native === undefined) return false;
  if (native.quoteMint === undefined) return true;
  return scope.parsed.keys[readAccountIndex(scope, native.quoteMint) as number] === WRAPPED_SOL;
}
