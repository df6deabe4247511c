import type { SolanaSource } from "../../../services/solana/chain/port.ts";
import { createSolanaSource, type SolanaSourceConfig } from "../../../services/solana/chain/source.ts";
import type { ExpectedTransaction } from "./expected.ts";
import type { MadeBlock } from "./generator.ts";
import { createLiveChain, type LiveChain, type LiveChainOptions } from "./server/live-chain.ts";
import { type RpcServer, startRpcServer } from "./server/rpc-server.ts";

/** A chain of one's own, with as many endpoints as a test needs. */
export interface TestSolana {
  readonly chain: LiveChain;
  /** Endpoints of the one chain, each with faults of its own. */
  readonly servers: readonly RpcServer[];
  readonly urls: readonly string[];
  /** Makes slots, a given time apart; answers the blocks that came of them. `transactions` in a block, votes not counted. */
  produce(slots: number, options?: { stepS?: number; transactions?: number }): MadeBlock[];
  /** Replaces the last slots by others, as a fork that had not been confirmed by all. */
  fork(slots: number): void;
  /** What is to be found in [fromSlot, toSlot], in the order of the chain. */
  expected(fromSlot: number, toSlot: number): ExpectedTransaction[];
  /** A source over all endpoints; closed with the chain. */
  source(config?: Partial<SolanaSourceConfig>): SolanaSource;
  stop(): Promise<void>;
}

export interface TestSolanaOptions extends Partial<LiveChainOptions> {
  /** Default 1. */
  readonly endpoints?: number;
}

/** Default: seed 1, in November 2025 and around slot 300 million. Times go on by half a second a slot. */
export async function createTestSolana({
  endpoints = 1,
  ...options
}: TestSolanaOptions = {}): Promise<TestSolana> {
  const given = { seed: 1, time: 1_763_000_000, slot: 300_000_000, ...options };
  const chain = createLiveChain(given);
  const servers = await Promise.all(Array.from({ length: endpoints }, () => startRpcServer(chain)));
  const urls = servers.map(({ url }) => url);
  const sources: SolanaSource[] = [];
  let time = given.time;
  return {
    chain,
    servers,
    urls,
    produce(slots, { stepS = 0.4, ...slotOptions } = {}) {
      const made: MadeBlock[] = [];
      for (let i = 0; i < slots; i++) {
        time += stepS;
        const block = chain.advance(Math.floor(time), slotOptions);
        if (block !== undefined) made.push(block);
      }
      return made;
    },
    fork: (slots) => chain.fork(slots),
    expected(fromSlot, toSlot) {
      return chain.produced(fromSlot, toSlot).flatMap((slot) => chain.expected(slot) ?? []);
    },
    source(config = {}) {
      const source = createSolanaSource({ urls, ...config });
      sources.push(source);
      return source;
    },
    async stop() {
      await Promise.all(sources.map((source) => source.close()));
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}
