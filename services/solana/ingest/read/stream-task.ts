import type { SourceLog } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import type { SubscriptionOptions } from "../../chain/geyser/subscription.ts";
import type { SolanaSource } from "../../chain/port.ts";
import { METADATA_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { programs } from "../../decode/programs/index.ts";
import { BlockStream, type BlockStreamOptions, type StreamState } from "./block-stream.ts";
import { type BlockReader, toDecodedBlock } from "./decoded-block.ts";
import { createStreamedReader, type StreamedReaderOptions } from "./streamed-reader.ts";

/** The stream of blocks that a reader uses: plain data, for the reading thread. */
export interface StreamTask
  extends Pick<BlockStreamOptions, "endpoint" | "patienceMs" | "asideMs">,
    Pick<SubscriptionOptions, "backoffMs" | "maxBackoffMs" | "silenceMs">,
    Pick<StreamedReaderOptions, "proofEvery"> {
  /** Whether all transactions of tokens are wanted, or those of the exchanges alone. */
  readonly withHolders: boolean;
}

/** Accounts that the wanted transactions name. */
export function listStreamedAccounts({ withHolders }: { withHolders: boolean }): string[] {
  const exchanges = programs.map(({ layout }) => layout.address);
  // Every transfer, mint and burn is a call of a token program.
  return withHolders ? [...exchanges, TOKEN_PROGRAM, TOKEN_2022_PROGRAM, METADATA_PROGRAM] : exchanges;
}

/** A reader that reads from a stream where it can, and else from `reader`. */
export function openStreamedReader(
  task: StreamTask,
  at: {
    reader: BlockReader;
    source: Pick<SolanaSource, "link">;
    log: SourceLog;
    onState: (state: StreamState) => void;
  },
): BlockReader & { close(): Promise<void> } {
  const { withHolders, proofEvery, ...options } = task;
  const { reader, source, log, onState } = at;
  const stream = new BlockStream({
    ...options,
    accounts: listStreamedAccounts(task),
    log,
    onState,
    decode: (block) => toDecodedBlock(block, { withHolders }),
  });
  return {
    ...createStreamedReader({ stream, reader, source, log, ...(proofEvery !== undefined && { proofEvery }) }),
    close: () => stream.close(),
  };
}
