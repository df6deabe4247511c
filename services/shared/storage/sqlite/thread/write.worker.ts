/** The worker of write-thread.ts: one connection, one transaction a request. */
import { serveThread } from "../../../process/thread-work.ts";
import { ConflictError } from "../../port.ts";
import type { Connection } from "../connection.ts";
import { resultCodeOf } from "../driver.ts";
import { messageOf, openConnection } from "../open-connection.ts";
import { runOperations } from "../operations.ts";
import { unpackOperation } from "./operation-packer.ts";
import type { WriteFailure, WriteRequest, WriteTask } from "./write-thread.ts";

/**
 * It reads only the pages that it changes: mapped ones would count as memory for little. A write changes more of them than fit
 * in any cache, in the order of their keys, so that few are needed again once they are written.
 */
const MEMORY_OF_WRITER = { mappedBytes: 0, cacheKb: 4_096 };

serveThread<WriteTask, WriteRequest>({
  start(task) {
    let opened: Promise<Connection> | undefined;
    return async (request) => {
      opened ??= openConnection({ ...task, ...MEMORY_OF_WRITER });
      const connection = await opened;
      if (request.kind === "close") return connection.close();
      if (request.kind === "change") {
        const { text, params } = request.statement;
        return connection.retrying(() => connection.run(text, params));
      }
      return connection.retrying(() =>
        connection.transaction("write", () =>
          runOperations(connection, request.operations.map(unpackOperation)),
        ),
      );
    };
  },
  toFailure(error): WriteFailure {
    const errcode = resultCodeOf(error);
    const collection = error instanceof ConflictError ? error.collectionName : undefined;
    return {
      message: messageOf(error),
      ...(errcode !== undefined && { errcode }),
      ...(collection !== undefined && { collection }),
    };
  },
});
