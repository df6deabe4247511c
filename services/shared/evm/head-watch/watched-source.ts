import { type Clock, systemClock } from "../../rpc-client/endpoint/clock.ts";
import type { EvmSource } from "../port.ts";
import { HeadWatch } from "./head-watch.ts";
import type { HeadProbe } from "./port.ts";
import { takeSharedHeads } from "./shared-heads.ts";

export interface WatchedSourceOptions {
  /** Least milliseconds between two looks at the head. */
  readonly pollMs: number;
  /** Whether the senders of transactions are wanted: then the head's whole block is read, once. */
  readonly withSenders: boolean;
  readonly clock?: Clock;
  readonly log?: ((message: string, fields: Record<string, unknown>) => void) | undefined;
}

/**
 * A source whose head is followed by a HeadWatch: `head` answers from memory while the next block is not due, `blocks`
 * for the head alone from the look that found it. Where the process that started this one watches heads too, that one
 * does the looking.
 */
export function watchHeads(
  source: EvmSource & { readonly probe: HeadProbe },
  options: WatchedSourceOptions,
): EvmSource {
  const { chainId } = source;
  const watch = new HeadWatch({
    head: source.head,
    probe: source.probe,
    clock: options.clock ?? systemClock,
    pollMs: options.pollMs,
    withSenders: options.withSenders,
    onPreconfirmations: () =>
      options.log?.(
        "heads are replaced within a block's time: an endpoint gives preconfirmations as blocks",
        {
          chainId,
          advice:
            "Blocks are looked at later now. Name an endpoint without preconfirmations to see them at once.",
        },
      ),
  });
  const knownOf = (numbers: readonly number[]) =>
    numbers.length === 1 ? watch.known(numbers[0] as number) : undefined;
  let stopSharing: (() => void) | undefined;
  const watched: EvmSource = {
    ...source,
    head: () => watch.head(),
    waitForHead(timeoutMs, signal) {
      // Not before the index follows the head: nobody else may want it watched.
      stopSharing ??= takeSharedHeads(watch, { chainId });
      return watch.wait(timeoutMs, signal);
    },
    recheck() {
      watch.forget();
      return source.recheck();
    },
    async blocks(numbers) {
      const known = knownOf(numbers);
      return known === undefined ? source.blocks(numbers) : [known];
    },
    async blocksWithLogs(numbers, filter) {
      return knownOf(numbers) === undefined ? source.blocksWithLogs(numbers, filter) : undefined;
    },
    async close() {
      stopSharing?.();
      await source.close();
    },
  };
  return watched;
}
