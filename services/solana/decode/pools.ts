import type { PoolLayout } from "./layout.ts";
import { WRAPPED_SOL } from "./model.ts";
import type { ParsedTransaction } from "./parse-transaction.ts";
import {
  type InstructionScope,
  readAccountIndex,
  readCurveSides,
  readEventSides,
  readVaultSide,
  type Side,
  withCurveReserve,
} from "./sides.ts";

/** A pool that an instruction touched, with what moved through it. */
export interface TouchedPool {
  readonly address: string;
  /** The second one is missing where the instruction does not name it. */
  readonly sides: readonly [Side] | readonly [Side, Side];
  readonly disagreement?: string;
}

/** Pools of an instruction in the order of its legs; a text says why one is missing. */
export function findTouchedPools(
  parsed: ParsedTransaction,
  scope: InstructionScope,
): (TouchedPool | string)[] {
  const { layout, accountsNeeded } = scope.call.instruction;
  const accountCount = parsed.flattened.instructions[scope.call.instructionIndex]?.accounts.length ?? 0;
  if (accountCount < accountsNeeded) {
    return [`${layout.name} came with ${accountCount} accounts, ${accountsNeeded} are needed`];
  }
  if (layout.route === undefined) return layout.pools.map((pool) => readPool(parsed, scope, pool));
  const hops = findRoutePools(parsed, scope);
  return hops.length === 0 ? [`${layout.name}: no pool of its route is known by its transfers`] : hops;
}

/**
 * Pools named in groups among the trailing accounts. Where other accounts lie between the groups, nothing marks where
 * one starts: it is where one of the two vaults received tokens and the other one sent some.
 */
function findRoutePools(parsed: ParsedTransaction, scope: InstructionScope): (TouchedPool | string)[] {
  const { call } = scope;
  const { route } = call.instruction.layout;
  const accounts = parsed.flattened.instructions[call.instructionIndex]?.accounts ?? [];
  const pools: (TouchedPool | string)[] = [];
  if (route === undefined) return pools;
  let start = route.firstAccount;
  while (start + route.groupSize <= accounts.length) {
    const [first, second] = route.vaults.map((vault) => start + vault) as [number, number];
    const hop = readPool(parsed, scope, { pool: start + route.pool, vaults: [first, second] });
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

function readPool(
  parsed: ParsedTransaction,
  scope: InstructionScope,
  layout: PoolLayout,
): TouchedPool | string {
  const { call } = scope;
  const key = (position: number) => readAccountIndex(parsed, call, position) as number;
  const address = parsed.keys[key(layout.pool)] as string;
  const sides: Side[] = [];
  for (const vault of isLamportSide(parsed, scope, layout) ? layout.vaults.slice(0, 1) : layout.vaults) {
    const side = readVaultSide(parsed, scope, key(vault));
    if (side === undefined) return `what vault ${parsed.keys[key(vault)]} holds is not told`;
    sides.push(side);
  }
  const [first, second] = sides as [Side, Side?];
  if (layout.native?.usesEventAmounts) {
    const told = readEventSides(parsed, scope, [first, second]);
    return told === undefined ? "what the curve traded is told by no event" : { address, sides: told };
  }
  if (second !== undefined) {
    const tokens = layout.native === undefined ? first : withCurveReserve(parsed, scope, first);
    return { address, sides: [tokens, second] };
  }
  if (layout.native === undefined || !isLamportSide(parsed, scope, layout))
    return { address, sides: [first] };
  const curve = readCurveSides(parsed, scope, { curve: key(layout.native.account), tokens: first });
  return curve === undefined ? "what lamports the curve paid is not told" : { address, ...curve };
}

/** True if the second side is lamports. */
function isLamportSide(
  parsed: ParsedTransaction,
  { call }: InstructionScope,
  { native }: PoolLayout,
): boolean {
  if (native === undefined) return false;
  if (native.quoteMint === undefined) return true;
  return parsed.keys[readAccountIndex(parsed, call, native.quoteMint) as number] === WRAPPED_SOL;
}
