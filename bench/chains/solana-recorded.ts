import { gzipSync } from "node:zlib";
import type { MethodDefinition } from "@grpc/grpc-js";
import { listAccounts, toTransactionMessage } from "../../deploy/devnet/solana/geyser/to-message.ts";
import {
  loadGeyser,
  type SubscribeRequestMessage,
  type SubscribeUpdateMessage,
} from "../../services/solana/chain/geyser/wire.ts";
import { findMalformedTransaction } from "../../services/solana/chain/validate-transaction.ts";
import { hasRecorded, readRecordedTransactions } from "../../services/solana/decode/test/recorded.ts";
import { listStreamedAccounts } from "../../services/solana/ingest/read/stream-task.ts";

/**
 * Of recorded mainnet transactions that name an exchange and succeeded, the bytes of their messages beside those of their
 * JSON, each message by itself as a stream has it. Undefined where they are not beside the repository.
 */
export function weighRecordedTrades(): { message: number; gzipMessage: number } | undefined {
  if (!hasRecorded()) return undefined;
  const { responseSerialize } = loadGeyser().service.Subscribe as MethodDefinition<
    SubscribeRequestMessage,
    SubscribeUpdateMessage
  >;
  const wanted = new Set(listStreamedAccounts({ withHolders: false }));
  let [json, message, gzipMessage] = [0, 0, 0];
  for (const { transaction } of readRecordedTransactions()) {
    if (findMalformedTransaction(transaction) !== undefined || transaction.meta?.err !== null) continue;
    if (!listAccounts(transaction).some((account) => wanted.has(account))) continue;
    const update = { slot: 300_000_000, transaction: toTransactionMessage(transaction, 1_000) };
    const bytes = responseSerialize({ filters: ["transactions"], transaction: update });
    json += Buffer.byteLength(JSON.stringify(transaction));
    message += bytes.length;
    gzipMessage += gzipSync(bytes).length;
  }
  return json === 0 ? undefined : { message: message / json, gzipMessage: gzipMessage / json };
}
