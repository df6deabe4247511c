import type { FacilitatorClient } from "@x402/core/server";
import { parseAddress } from "../../../services/shared/evm/hex.ts";
import type { Hex } from "../../../services/shared/evm/port.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import { Gauge, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import { NETWORK } from "../network.ts";
import type { PaymentChain } from "./chain.ts";

interface FacilitatorWatchOptions {
  readonly facilitator: Pick<FacilitatorClient, "getSupported">;
  readonly chain: Pick<PaymentChain, "balanceOf">;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

export interface FacilitatorWatch {
  /** Resolves when the first check is over; never rejects. */
  readonly started: Promise<void>;
  stop(): void;
}

const EVERY_MS = 60_000;
/** Wallets whose balance is read: a facilitator names a few. */
const MAX_WALLETS = 8;

type Health = "usable" | "unsupported" | "unreachable";

/**
 * Checks the facilitator every minute and logs faults that would stop every payment. Exports `gateway_facilitator_usable`,
 * and `gateway_facilitator_balance_ether` of the wallets that it names (/supported), as read from the chain.
 */
export function watchFacilitator(options: FacilitatorWatchOptions): FacilitatorWatch {
  const { facilitator, chain, log, metrics, everyMs = EVERY_MS } = options;
  const registers = [metrics.registry];
  let health: Health | undefined;
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;

  const usable = new Gauge({
    name: "gateway_facilitator_usable",
    aggregator: "min",
    help: "1 while the facilitator responds and settles on the payment network, else 0",
    registers,
  });
  const balances = new Gauge({
    name: "gateway_facilitator_balance_ether",
    aggregator: "max",
    help: "Balance of the facilitator's wallets for gas, if it names them; absent while the chain is unreachable",
    labelNames: ["address"],
    registers,
  });

  const report = (now: Health, err?: unknown): void => {
    usable.set(now === "usable" ? 1 : 0);
    const before = health;
    health = now;
    if (now === before) return;
    if (now === "unreachable")
      log.warn({ err }, "the facilitator is unreachable: payments are refused until it is back");
    else if (now === "unsupported")
      log.error({ network: NETWORK }, "the facilitator does not settle payments on this network");
    else if (before !== undefined) log.info("the facilitator settles payments again");
  };

  const readBalances = async (wallets: readonly Hex[]): Promise<void> => {
    const read = await Promise.all(
      wallets.map(async (address) => {
        const wei = await chain.balanceOf(address).catch(() => undefined);
        return { address, wei };
      }),
    );
    balances.reset();
    for (const { address, wei } of read) {
      if (wei !== undefined) balances.set({ address }, Number(wei) / 1e18);
    }
  };

  const check = async (): Promise<void> => {
    try {
      const { kinds, signers } = await facilitator.getSupported();
      const isSupported = kinds.some(
        ({ x402Version, scheme, network }) => x402Version === 2 && scheme === "exact" && network === NETWORK,
      );
      report(isSupported ? "usable" : "unsupported");
      await readBalances(walletsOf(signers));
    } catch (err) {
      report("unreachable", err);
    }
  };
  const repeat = async (): Promise<void> => {
    await check();
    if (isStopped) return;
    timer = setTimeout(() => void repeat(), everyMs);
    timer.unref();
  };
  return {
    started: repeat(),
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** Wallets of the network, or of a family of networks such as eip155:*. */
function walletsOf(signers: Readonly<Record<string, readonly string[]>>): Hex[] {
  const family = `${NETWORK.split(":")[0]}:*`;
  const named = [...(signers[NETWORK] ?? []), ...(signers[family] ?? [])];
  const wallets = named.flatMap((text) => parseAddress(text.toLowerCase()) ?? []);
  return [...new Set(wallets)].slice(0, MAX_WALLETS);
}
