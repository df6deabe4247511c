import { endpoints as evmDex } from "../services/evm-dex/contract.ts";
import { endpoints as lending } from "../services/lending/contract.ts";
import type { Endpoint } from "../services/shared/contract/endpoint.ts";
import { endpoints as solana } from "../services/solana/contract.ts";

/** Every public endpoint of every service. */
export const catalogue: readonly Endpoint[] = [...evmDex, ...lending, ...solana];
