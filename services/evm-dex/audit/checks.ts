import { checkCreation, checkGauges } from "./check-creation.ts";
import { checkFeeds } from "./check-feeds.ts";
import { checkFactoryFees } from "./check-fees.ts";
import { checkGetters, checkInactive } from "./check-getters.ts";
import { checkChains, checkIndex } from "./check-index.ts";
import { checkLinks } from "./check-links.ts";
import { checkListing } from "./check-listings.ts";
import { checkLogs } from "./check-logs.ts";
import { checkPositions } from "./check-positions.ts";
import { pricePass } from "./check-prices.ts";
import { rollupPass } from "./check-rollups.ts";
import { checkSenders } from "./check-senders.ts";
import { checkStart } from "./check-start.ts";
import { statePass } from "./check-states.ts";
import { userPass } from "./check-users.ts";
import { v2RollupPass } from "./check-v2-rollups.ts";
import { valuePass } from "./check-values.ts";
import { checkWallets } from "./check-wallets.ts";
import type { Finding } from "./finding.ts";
import { type HourWindow, hourWindows } from "./hours.ts";
import type { AuditRpc } from "./rpc.ts";
import type { ChainScope, PoolPass, PoolScope } from "./scope.ts";

/** Checks of a pool's events, all of them, an hour at a time. The store alone suffices. */
const PASSES = {
  rollups: rollupPass,
  users: userPass,
  values: valuePass,
  states: statePass,
  prices: pricePass,
  "v2-rollups": v2RollupPass,
} satisfies Record<string, (scope: PoolScope) => PoolPass<HourWindow>>;

/** Checks of a pool's other rows. */
const POOL_CHECKS = {
  listings: checkListing,
  gauges: (scope: PoolScope) => checkGauges(scope, scope.rpc),
} satisfies Record<string, (scope: PoolScope) => Promise<Finding[]>>;

/** Checks of a pool's rows against a node. */
const NODE_CHECKS = {
  async *getters(scope, rpc) {
    yield await checkGetters(scope, rpc);
  },
  async *creation(scope, rpc) {
    yield await checkCreation(scope, rpc);
  },
  async *senders(scope, rpc) {
    yield await checkSenders(scope, rpc);
  },
  logs: checkLogs,
} satisfies Record<string, (scope: PoolScope, rpc: AuditRpc) => AsyncGenerator<Finding[]>>;

/** Checks of a chain's rows; with a node where one is given. */
const CHAIN_CHECKS = {
  index: checkIndex,
  chains: checkChains,
  links: checkLinks,
  positions: checkPositions,
  inactive: checkInactive,
  "factory-fees": checkFactoryFees,
  wallets: checkWallets,
  starts: checkStart,
  feeds: checkFeeds,
} satisfies Record<string, (scope: ChainScope) => Promise<Finding[]>>;

export type CheckName =
  | keyof typeof PASSES
  | keyof typeof POOL_CHECKS
  | keyof typeof NODE_CHECKS
  | keyof typeof CHAIN_CHECKS;

type Wanted = (name: CheckName) => boolean;

export async function* checkChain(scope: ChainScope, isWanted: Wanted): AsyncGenerator<Finding[]> {
  for (const name of namesOf(CHAIN_CHECKS)) if (isWanted(name)) yield await CHAIN_CHECKS[name](scope);
}

export async function* checkPool(scope: PoolScope, isWanted: Wanted): AsyncGenerator<Finding[]> {
  const passes = namesOf(PASSES)
    .filter(isWanted)
    .map((name) => PASSES[name](scope));
  if (passes.length > 0)
    for await (const window of hourWindows(scope.store, { ...scope.pool, since: scope.kept.events.time }))
      for (const pass of passes) yield await pass.window(window);
  for (const pass of passes) if (pass.end !== undefined) yield await pass.end();
  for (const name of namesOf(POOL_CHECKS)) if (isWanted(name)) yield await POOL_CHECKS[name](scope);
  if (scope.rpc === undefined) return;
  for (const name of namesOf(NODE_CHECKS)) if (isWanted(name)) yield* NODE_CHECKS[name](scope, scope.rpc);
}

function namesOf<T extends object>(checks: T): (keyof T)[] {
  return Object.keys(checks) as (keyof T)[];
}
