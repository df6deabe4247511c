import type { Hex } from "viem";
import type { Rpc } from "./node/rpc.ts";
import { sendTransactions } from "./node/transactions.ts";
import { type Deployment, deskPools } from "./plan.ts";
import { createRandom } from "./random.ts";
import { createAaveRounds } from "./traders/aave-round.ts";
import { createAerodromeRounds } from "./traders/aerodrome-round.ts";
import { createDeskRounds } from "./traders/desk-round.ts";
import { createEulerRounds } from "./traders/euler-round.ts";
import { createMorphoRounds } from "./traders/morpho-round.ts";
import { deal } from "./traders/round.ts";
import { createSlipstreamRounds } from "./traders/slipstream-round.ts";

export interface TradeOptions {
  /** Unix seconds of the block; absent = now. Moved up where the chain's head is not older. */
  readonly timestamp?: number;
  /** Mean number of swap transactions on Uniswap's pools; absent = 2. Other families add their own. */
  readonly swaps?: number;
}

export interface TradedBlock {
  readonly number: number;
  readonly timestamp: number;
  readonly transactions: readonly Hex[];
}

/** Traders keep no state but their dice: prices, balances and positions are read from the chain, so days and restarts do not matter. */
export interface Traders {
  /** Sends the transactions of one block, each from another account, and mines it. */
  tradeBlock(options?: TradeOptions): Promise<TradedBlock>;
}

/** How many swaps the other kin of Uniswap v3 get, and Aerodrome v2, for each on Uniswap. */
const KIN_SHARE = 0.5;
const AERODROME_SHARE = 0.4;

export function createTraders(rpc: Rpc, deployment: Deployment, options: { seed?: number } = {}): Traders {
  const random = createRandom(options.seed ?? 1);
  const { desk, accounts, tokens, aerodrome, slipstream, aave, morpho, euler } = deployment;
  const pools = deskPools(deployment);
  const share = pools.length > deployment.pools.length ? 1 + KIN_SHARE : 1;
  const deskRound = createDeskRounds(pools, { desk, random });
  const aerodromeRound =
    aerodrome && createAerodromeRounds(aerodrome, { random, rewardUsd: tokens.AERO.usd });
  const slipstreamRound = slipstream && createSlipstreamRounds(slipstream, { random });
  const aaveRound = aave && createAaveRounds(aave, { random });
  const morphoRound = morpho && createMorphoRounds(morpho, { random });
  const eulerRound = euler && createEulerRounds(euler, { random });

  return {
    async tradeBlock({ timestamp, swaps = 2 } = {}) {
      const rounds = [
        // Live, the first pool trades in every block: a second look sees it move.
        deskRound({ swaps: swaps * share, mustTrade: timestamp === undefined }),
        ...(aerodromeRound ? [aerodromeRound({ swaps: swaps * AERODROME_SHARE })] : []),
        ...(slipstreamRound ? [slipstreamRound()] : []),
        ...(aaveRound ? [aaveRound()] : []),
        ...(morphoRound ? [morphoRound()] : []),
        ...(eulerRound ? [eulerRound()] : []),
      ];
      const [head, ...answers] = await rpc.batch<unknown>([
        { method: "eth_getBlockByNumber", params: ["latest", false] },
        ...rounds.flatMap(({ reads }) =>
          reads.map((call) => ({ method: "eth_call", params: [call, "latest"] })),
        ),
      ]);
      const parent = head as { number: Hex; timestamp: Hex };
      const timeS = Math.max(timestamp ?? Math.floor(Date.now() / 1000), Number(parent.timestamp) + 1);
      const planned = rounds.flatMap(({ reads, plan }) =>
        plan(answers.splice(0, reads.length) as Hex[], timeS),
      );
      const dealt = deal(planned, accounts.slice(1), random);
      const transactions = dealt.length > 0 ? await sendTransactions(rpc, dealt) : [];
      await rpc.call("evm_mine", [{ timestamp: timeS, blocks: 1 }]);
      return { number: Number(parent.number) + 1, timestamp: timeS, transactions };
    },
  };
}

export interface RunOptions {
  readonly blockTimeMs: number;
  readonly signal: AbortSignal;
  /** Called after each block. */
  readonly onBlock?: (block: TradedBlock) => void;
}

/** Trades a block every `blockTimeMs` until the signal; a pause of the machine is not made up for. Rejects if the node fails. */
export async function runTraders(
  traders: Traders,
  { blockTimeMs, signal, onBlock }: RunOptions,
): Promise<void> {
  let due = Date.now();
  while (!signal.aborted) {
    onBlock?.(await traders.tradeBlock());
    due = Math.max(due + blockTimeMs, Date.now());
    await sleep(due - Date.now(), signal);
  }
}

function sleep(timeMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, timeMs);
    signal.addEventListener("abort", wake);
  });
}
