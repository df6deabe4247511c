import { ServiceError } from "../../shared/errors.ts";
import type { PriceSource } from "../../shared/rpc/types.ts";
import { getTokenPrices } from "../store/queries.ts";
import type { StoreDeps } from "./deps.ts";
import { readAtHead } from "./head.ts";

/** USD prices at the indexed head, for the peers that ask over gRPC. */
export function createPriceSource({ store, chains }: StoreDeps): PriceSource {
  return {
    async getPrices({ chainId, tokens, block }) {
      if (!chains.some((chain) => chain.chainId === chainId)) {
        throw new ServiceError("not_found", `Chain ${chainId} is not indexed.`);
      }
      const found = await readAtHead(store, {
        chainId,
        read: async () => getTokenPrices(store, { chainId, tokens: [...new Set(tokens)] }),
      });
      if (found === undefined) {
        throw new ServiceError("unavailable", `Chain ${chainId} has no indexed block yet.`, {
          retryAfterSeconds: 5,
        });
      }
      const { checkpoint, value } = found;
      if (block !== undefined && block !== checkpoint.blockNumber) {
        throw new ServiceError(
          "not_found",
          `Prices of chain ${chainId} stand at block ${checkpoint.blockNumber}; those of block ${block} are not kept.`,
        );
      }
      const rowOf = new Map(value.map((row) => [row.token, row]));
      return {
        block: checkpoint.blockNumber,
        blockTime: checkpoint.blockTime,
        prices: tokens.map((token) => {
          const row = rowOf.get(token);
          if (row === undefined) return { token, usd: null, hops: 0, depthUsd: null };
          return { token, usd: row.usd, hops: row.hops, depthUsd: row.hops === 0 ? null : row.depthUsd };
        }),
      };
    },
  };
}
