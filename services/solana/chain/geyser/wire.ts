import { fileURLToPath } from "node:url";
import { loadPackageDefinition, type ServiceClientConstructor } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

/** Messages of proto/geyser.proto; absent optional fields and messages are absent or null. */

export interface BlockFilterMessage {
  readonly accountInclude: readonly string[];
  readonly includeTransactions: boolean;
  readonly includeAccounts: boolean;
  readonly includeEntries: boolean;
}

export interface TransactionFilterMessage {
  readonly vote?: boolean;
  readonly failed?: boolean;
  readonly accountInclude: readonly string[];
}

export interface SubscribeRequestMessage {
  readonly transactions?: Readonly<Record<string, TransactionFilterMessage>>;
  readonly blocks?: Readonly<Record<string, BlockFilterMessage>>;
  readonly commitment?: "PROCESSED" | "CONFIRMED" | "FINALIZED";
  readonly ping?: { readonly id: number };
  readonly fromSlot?: number;
}

export interface SubscribeUpdateMessage {
  readonly filters: readonly string[];
  readonly transaction?: SlotTransactionMessage | null;
  readonly block?: BlockMessage | null;
  readonly ping?: object | null;
  readonly pong?: { readonly id: number } | null;
}

export interface SlotTransactionMessage {
  readonly transaction?: TransactionInBlockMessage | null;
  readonly slot: number;
}

export interface BlockMessage {
  readonly slot: number;
  readonly blockhash: string;
  readonly blockTime?: { readonly timestamp: number } | null;
  readonly transactions: readonly TransactionInBlockMessage[];
  readonly parentSlot: number;
  readonly parentBlockhash: string;
  readonly executedTransactionCount: number;
  readonly entriesCount: number;
}

export interface TransactionInBlockMessage {
  readonly signature: Uint8Array;
  readonly isVote: boolean;
  readonly transaction?: {
    readonly signatures: readonly Uint8Array[];
    readonly message?: {
      readonly accountKeys: readonly Uint8Array[];
      readonly instructions: readonly InstructionMessage[];
      readonly versioned: boolean;
    } | null;
  } | null;
  readonly meta?: MetaMessage | null;
  readonly index: number;
}

export interface InstructionMessage {
  readonly programIdIndex: number;
  readonly accounts: Uint8Array;
  readonly data: Uint8Array;
  readonly stackHeight?: number;
}

export interface MetaMessage {
  readonly err?: { readonly err: Uint8Array } | null;
  readonly fee: number;
  readonly preBalances: readonly number[];
  readonly postBalances: readonly number[];
  readonly innerInstructions: readonly {
    readonly index: number;
    readonly instructions: readonly InstructionMessage[];
  }[];
  readonly logMessages: readonly string[];
  readonly preTokenBalances: readonly TokenBalanceMessage[];
  readonly postTokenBalances: readonly TokenBalanceMessage[];
  readonly loadedWritableAddresses: readonly Uint8Array[];
  readonly loadedReadonlyAddresses: readonly Uint8Array[];
}

export interface TokenBalanceMessage {
  readonly accountIndex: number;
  readonly mint: string;
  readonly uiTokenAmount?: { readonly decimals: number; readonly amount: string } | null;
  readonly owner: string;
  readonly programId: string;
}

/** A full block of mainnet is some 3 MB; the interface's servers allow as much as this. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

let loaded: ServiceClientConstructor | undefined;

/** The service of proto/geyser.proto, read at first use. */
export function loadGeyser(): ServiceClientConstructor {
  if (loaded !== undefined) return loaded;
  const definition = loadSync("geyser.proto", {
    includeDirs: [fileURLToPath(new URL("../../../../proto/", import.meta.url))],
    // Slots, counts and Unix seconds stay far below 2^53; lamports are rounded as JSON rounds them.
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
  });
  const root = loadPackageDefinition(definition) as unknown as {
    geyser: { Geyser: ServiceClientConstructor };
  };
  loaded = root.geyser.Geyser;
  return loaded;
}
