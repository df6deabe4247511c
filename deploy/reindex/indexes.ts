import { COLLECTIONS as evmDex } from "../../services/evm-dex/store/collections.ts";
import { COLLECTIONS as lending } from "../../services/lending/store/collections.ts";
import { listEvmChains } from "../../services/shared/evm/chains.ts";
import { type ChainIndex, partsOfIndex } from "../../services/shared/ingest/reindex.ts";
import { ingestStatus } from "../../services/shared/ingest-status/status-row.ts";
import type { ServiceName } from "../../services/shared/settings/settings.ts";
import type { Collection } from "../../services/shared/storage/collection.ts";
import { COLLECTIONS as solana } from "../../services/solana/store/collections.ts";

/** Names of --chain: ids of EVM chains, and "solana". */
export function listChains(): readonly string[] {
  return [...listEvmChains().map(({ id }) => String(id)), "solana"];
}
export type ChainName = string;

/** A chain's index in the store of one service. */
export interface ServiceIndex extends ChainIndex {
  readonly service: ServiceName;
}

const EVM: readonly (readonly [ServiceName, readonly Collection[]])[] = [
  ["evm-dex", evmDex],
  ["lending", lending],
];

/** The indexes of a chain, of one service or of all that have it. */
export function indexesOf(chain: ChainName, service?: ServiceName): ServiceIndex[] {
  const all: ServiceIndex[] =
    chain === "solana"
      ? [
          {
            service: "solana",
            name: "solana-ingest",
            parts: partsOfIndex([...solana, ingestStatus], undefined),
          },
        ]
      : EVM.map(([each, collections]) => ({
          service: each,
          name: `${each}-ingest-${chain}`,
          parts: partsOfIndex([...collections, ingestStatus], Number(chain)),
        }));
  return all.filter((index) => service === undefined || index.service === service);
}
