import type { Laid } from "./lay.ts";
import type { PoolLayout } from "./layout.ts";
import { WRAPPED_SOL } from "./model.ts";
import { accountAt, type Beneath, curveSides, forSale, type Side, toldSides, vaultSide } from "./sides.ts";

/** A pool that an instruction touched, with what moved through it. */
export interface TouchedPool {
  readonly address: string;
  /** The second one is missing where the instruction does not name it. */
  readonly sides: readonly [Side] | readonly [Side, Side];
  readonly disagreement?: string;
}

/** Pools of an instruction in the order of its legs; a text says why one is missing. */
export function touchedPools(laid: Laid, beneath: Beneath): (TouchedPool | string)[] {
  const { layout, accountsNeeded } = beneath.found.instruction;
  const accountCount = laid.flat.instructions[beneath.found.at]?.accounts.length ?? 0;
  if (accountCount < accountsNeeded) {
    return [`${layout.name} came with ${accountCount} accounts, ${accountsNeeded} are needed`];
  }
  if (layout.route === undefined) return layout.pools.map((pool) => touch(laid, beneath, pool));
  const hops = routePools(laid, beneath);
  return hops.length === 0 ? [`${layout.name}: no pool of its route is known by its transfers`] : hops;
}

/**
 * Pools named in groups among the trailing accounts. Where other accounts lie between the groups, nothing marks where
 * one starts: it is where one of the two vaults received tokens and the other one sent some.
 */
function routePools(laid: Laid, beneath: Beneath): (TouchedPool | string)[] {
  const { found } = beneath;
  const { route } = found.instruction.layout;
  const accounts = laid.flat.instructions[found.at]?.accounts ?? [];
  const pools: (TouchedPool | string)[] = [];
  if (route === undefined) return pools;
  let start = route.from;
  while (start + route.size <= accounts.length) {
    const [first, second] = route.vaults.map((vault) => start + vault) as [number, number];
    const hop = touch(laid, beneath, { pool: start + route.pool, vaults: [first, second] });
    const isHop = typeof hop !== "string" && hop.sides.some(gains) && hop.sides.some(loses);
    if (isHop || route.isDense) pools.push(hop);
    start += isHop || route.isDense ? route.size : 1;
  }
  return pools;
}

function gains({ in: received, out }: Side): boolean {
  return received > out;
}

function loses({ in: received, out }: Side): boolean {
  return received < out;
}

function touch(laid: Laid, beneath: Beneath, layout: PoolLayout): TouchedPool | string {
  const { found } = beneath;
  const key = (position: number) => accountAt(laid, found, position) as number;
  const address = laid.keys[key(layout.pool)] as string;
  const sides: Side[] = [];
  for (const vault of isNative(laid, beneath, layout) ? layout.vaults.slice(0, 1) : layout.vaults) {
    const side = vaultSide(laid, beneath, key(vault));
    if (side === undefined) return `what vault ${laid.keys[key(vault)]} holds is not told`;
    sides.push(side);
  }
  const [first, second] = sides as [Side, Side?];
  if (layout.native?.isEventTaken) {
    const told = toldSides(laid, beneath, [first, second]);
    return told === undefined ? "what the curve traded is told by no event" : { address, sides: told };
  }
  if (second !== undefined) {
    const tokens = layout.native === undefined ? first : forSale(laid, beneath, first);
    return { address, sides: [tokens, second] };
  }
  if (layout.native === undefined || !isNative(laid, beneath, layout)) return { address, sides: [first] };
  const curve = curveSides(laid, beneath, { curve: key(layout.native.account), tokens: first });
  return curve === undefined ? "what lamports the curve paid is not told" : { address, ...curve };
}

/** True if the second side is lamports. */
function isNative(laid: Laid, { found }: Beneath, { native }: PoolLayout): boolean {
  if (native === undefined) return false;
  if (native.quoteMint === undefined) return true;
  return laid.keys[accountAt(laid, found, native.quoteMint) as number] === WRAPPED_SOL;
}
