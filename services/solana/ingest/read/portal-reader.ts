import { createPortalClient, type PortalOptions } from "../../../shared/portal/client.ts";
import type { SourceLog } from "../../../shared/rpc-client/endpoint/endpoint.ts";
import type { SolanaSource } from "../../chain/port.ts";
import { toPortalQuery } from "../../chain/portal/request.ts";
import { programs } from "../../decode/programs/index.ts";
import type { BlockReader } from "./decoded-block.ts";
import { PortalHistory, type PortalHistoryOptions } from "./portal-history.ts";
import { listStreamedAccounts } from "./stream-task.ts";

/** The portal that a reader uses: plain data, for the reading thread. */
export interface PortalTask
  extends Pick<PortalHistoryOptions, "withHolders" | "proofEvery" | "pieceBlocks" | "asideMs">,
    Pick<PortalOptions, "gapMs" | "pace" | "idleMs" | "timeoutMs"> {
  /** The dataset's base URL. */
  readonly url: string;
}

/**
 * A reader that reads final slots from a portal where that has them, and everything else from `reader`: whose stream is
 * open only while it is asked.
 */
export function openPortalReader(
  task: PortalTask,
  at: {
    whole: BlockReader;
    reader: BlockReader;
    source: Pick<SolanaSource, "head" | "link">;
    log: SourceLog;
  },
): BlockReader {
  const { url, withHolders, proofEvery, pieceBlocks, asideMs, ...options } = task;
  const { whole, reader, source, log } = at;
  const logging = programs.filter(({ layout }) => layout.events !== "cpi");
  const history = new PortalHistory({
    client: createPortalClient(url, options),
    query: toPortalQuery({
      called: listStreamedAccounts({ withHolders }),
      logging: logging.map(({ layout }) => layout.address),
    }),
    ...{ withHolders, whole, source, log },
    ...(proofEvery !== undefined && { proofEvery }),
    ...(pieceBlocks !== undefined && { pieceBlocks }),
    ...(asideMs !== undefined && { asideMs }),
  });
  let isFollowing = false;
  let isStreaming = false;

  return {
    async blocks(range) {
      const found = await history.take(range);
      if (found === undefined) {
        if (isFollowing && !isStreaming) reader.follow?.(range.fromSlot);
        isStreaming = isFollowing;
        return reader.blocks(range);
      }
      if (isStreaming) reader.follow?.(undefined);
      isStreaming = false;
      return found;
    },
    follow(fromSlot) {
      isFollowing = fromSlot !== undefined;
      if (!isFollowing) history.stop();
      if (isStreaming || !isFollowing) reader.follow?.(fromSlot);
      isStreaming &&= isFollowing;
    },
    distrust: () => reader.distrust?.(),
  };
}
