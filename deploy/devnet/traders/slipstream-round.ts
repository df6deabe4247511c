import { encodeFunctionData, type Hex } from "viem";
import { slipstreamFactoryAbi, slipstreamGaugeAbi } from "../contracts/slipstream/abi.ts";
import { type Address, toHex } from "../node/transactions.ts";
import type { Random } from "../random.ts";
import type { SlipstreamDeployment } from "../v3/slipstream.ts";
import type { Planned, Round } from "./round.ts";

const GAS = toHex(1_000_000);

/** Beside what the desk does on its pools: now and then another fee, and fees for a gauge. */
export function createSlipstreamRounds(
  { owner, factory, pools }: SlipstreamDeployment,
  { random }: { random: Random },
): () => Round {
  const call = (to: Address, data: Hex, from?: Address): Planned => ({
    ...(from ? { from } : {}),
    make: (sender) => ({ from: sender, to, data, gas: GAS }),
  });
  const gauges = pools.flatMap(({ gauge }) => gauge ?? []);
  return () => ({
    reads: [],
    plan() {
      const planned: Planned[] = [];
      if (random.next() < 0.03) {
        const { address, fee } = random.pick(pools);
        const args = [address, Math.round(fee * (0.6 + 0.8 * random.next()))] as const;
        const data = encodeFunctionData({ abi: slipstreamFactoryAbi, functionName: "setSwapFee", args });
        planned.push(call(factory, data, owner));
      }
      if (random.next() < 0.03) {
        const data = encodeFunctionData({ abi: slipstreamGaugeAbi, functionName: "claimFees" });
        planned.push(call(random.pick(gauges), data));
      }
      return planned;
    },
  });
}
