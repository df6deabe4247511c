import type { Log } from "../../../services/shared/logging/log.ts";
import { Gauge, type Metrics } from "../../../services/shared/metrics/metrics.ts";
import type { Wallet } from "./wallet.ts";

interface BalanceWatchOptions {
  readonly wallet: Pick<Wallet, "address" | "balance">;
  /** Ether below which the log warns; 0 = never. */
  readonly lowEther: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  /** While it stays low, the warning repeats after this time. */
  readonly remindMs?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

export interface BalanceWatch {
  /** Resolves when the first check is over; never rejects. */
  readonly started: Promise<void>;
  stop(): void;
}

const EVERY_MS = 60_000;
const REMIND_MS = 3_600_000;

/**
 * Exports the wallet's balance for gas, `facilitator_balance_ether`, read when scraped, and warns while it is low: a
 * facilitator without gas settles nothing.
 */
export function watchBalance(options: BalanceWatchOptions): BalanceWatch {
  const { wallet, lowEther, log, metrics, everyMs = EVERY_MS, remindMs = REMIND_MS } = options;
  const now = options.now ?? (() => performance.now());
  const { address } = wallet;
  let warnedAtMs: number | undefined;

  const warnIfLow = (ether: number): void => {
    if (ether >= lowEther) {
      if (warnedAtMs !== undefined)
        log.info({ address, ether }, "the wallet has enough to pay for gas again");
      warnedAtMs = undefined;
      return;
    }
    if (warnedAtMs !== undefined && now() - warnedAtMs < remindMs) return;
    warnedAtMs = now();
    log.warn({ address, ether, lowEther }, "the wallet has little left to pay for gas: send it some ether");
  };
  /** Undefined while the chain is unreachable. */
  const read = async (): Promise<number | undefined> => {
    try {
      const ether = Number(await wallet.balance()) / 1e18;
      warnIfLow(ether);
      return ether;
    } catch (err) {
      log.warn({ err }, "the wallet's balance cannot be read");
      return undefined;
    }
  };

  new Gauge({
    name: "facilitator_balance_ether",
    help: "Balance of the wallet for gas; absent while the chain is unreachable",
    labelNames: ["address"],
    registers: [metrics.registry],
    async collect() {
      const ether = await read();
      // Absent rather than 0, which would raise an alarm.
      this.reset();
      if (ether !== undefined) this.set({ address }, ether);
    },
  });
  const started = read().then(() => {});
  const timer = setInterval(() => void read(), everyMs);
  timer.unref();
  return { started, stop: () => clearInterval(timer) };
}
