import type { Hex } from "../../../shared/chain/evm/port.ts";
import { burn } from "./burn.ts";
import { collect } from "./collect.ts";
import { collectProtocol } from "./collect-protocol.ts";
import type { Decoder, PoolEvent } from "./events.ts";
import { flash } from "./flash.ts";
import { initialize } from "./initialize.ts";
import { mint } from "./mint.ts";
import { setFeeProtocol } from "./set-fee-protocol.ts";
import { swap } from "./swap.ts";

/** Everything a Uniswap-v3-style pool emits that moves its tokens or its state. */
export const POOL_DECODERS: readonly Decoder<PoolEvent>[] = [
  initialize,
  swap,
  mint,
  burn,
  collect,
  collectProtocol,
  flash,
  setFeeProtocol,
];

export const POOL_TOPICS: readonly Hex[] = POOL_DECODERS.map((decoder) => decoder.topic);

const byTopic = new Map<string, Decoder<PoolEvent>>(POOL_DECODERS.map((decoder) => [decoder.topic, decoder]));

/** The pool event of a log, or undefined where the log is none (another event, or another form under the same topic). */
export function decodePoolEvent(log: {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}): PoolEvent | undefined {
  const decoder = byTopic.get(log.topics[0] ?? "");
  return decoder !== undefined && fits(log, decoder) ? decoder.decode(log) : undefined;
}

/** Whether a log has as many topics and data words as its event: the decoders read without further checks. */
export function fits(
  log: { readonly topics: readonly Hex[]; readonly data: Hex },
  decoder: Pick<Decoder<unknown>, "indexed" | "words">,
): boolean {
  return log.topics.length === decoder.indexed + 1 && log.data.length === 2 + 64 * decoder.words;
}
