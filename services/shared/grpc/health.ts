import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from "@grpc/grpc-js";
import type { HealthRequestMessage, HealthResponseMessage } from "./wire.ts";

type Watcher = ServerWritableStream<HealthRequestMessage, HealthResponseMessage>;
type Status = HealthResponseMessage["status"];

export interface HealthService {
  readonly methods: {
    Check(
      call: ServerUnaryCall<HealthRequestMessage, HealthResponseMessage>,
      callback: sendUnaryData<HealthResponseMessage>,
    ): void;
    Watch(call: Watcher): void;
  };
  /** NOT_SERVING from now on; notifies watchers and ends their streams, so that they do not delay a shutdown. */
  drain(): void;
}

/**
 * grpc.health.v1 over one function, `healthy`: false or a rejection is NOT_SERVING. Polled every `pollMs` while there are
 * watchers.
 */
export function createHealthService(options: {
  /** Full names of the known services, besides "". */
  readonly services: readonly string[];
  readonly healthy: () => Promise<boolean>;
  readonly pollMs: number;
}): HealthService {
  const known = new Set(["", ...options.services]);
  /** The status last sent to each watcher. */
  const watchers = new Map<Watcher, Status | undefined>();
  let draining = false;
  let timer: NodeJS.Timeout | undefined;

  async function currentStatus(): Promise<Status> {
    if (draining) return "NOT_SERVING";
    const healthy = await options.healthy().catch(() => false);
    return healthy && !draining ? "SERVING" : "NOT_SERVING";
  }

  async function notifyWatchers(): Promise<void> {
    const current = await currentStatus();
    for (const [watcher, sent] of watchers) {
      if (sent === current || sent === "SERVICE_UNKNOWN") continue;
      watchers.set(watcher, current);
      watcher.write({ status: current });
    }
  }

  function removeWatcher(watcher: Watcher): void {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    methods: {
      Check(call, callback) {
        if (!known.has(call.request.service)) {
          callback({ code: status.NOT_FOUND, details: "no such service" });
          return;
        }
        void currentStatus().then((current) => callback(null, { status: current }));
      },
      Watch(call) {
        const isUnknown = !known.has(call.request.service);
        // The protocol keeps the stream open, since services may be added elsewhere; here the status is final.
        if (isUnknown) call.write({ status: "SERVICE_UNKNOWN" });
        watchers.set(call, isUnknown ? "SERVICE_UNKNOWN" : undefined);
        call.on("cancelled", () => removeWatcher(call));
        timer ??= setInterval(() => void notifyWatchers(), options.pollMs);
        void notifyWatchers();
      },
    },
    drain() {
      draining = true;
      void notifyWatchers().then(() => {
        for (const watcher of [...watchers.keys()]) {
          removeWatcher(watcher);
          watcher.end();
        }
      });
    },
  };
}
