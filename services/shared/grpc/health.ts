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
  /** From now on NOT_SERVING; watchers are told and their streams end, so that they do not hold up a shutdown. */
  drain(): void;
}

/**
 * grpc.health.v1 over one question: can this process answer? A rejected or false answer is NOT_SERVING.
 * While somebody watches, the question is asked every `pollMs`.
 */
export function createHealthService(options: {
  /** Full names of the services that can be asked for, besides "". */
  readonly services: readonly string[];
  readonly healthy: () => Promise<boolean>;
  readonly pollMs: number;
}): HealthService {
  const known = new Set(["", ...options.services]);
  /** What each watcher was last told. */
  const watchers = new Map<Watcher, Status | undefined>();
  let draining = false;
  let timer: NodeJS.Timeout | undefined;

  async function currentStatus(): Promise<Status> {
    if (draining) return "NOT_SERVING";
    const healthy = await options.healthy().catch(() => false);
    return healthy && !draining ? "SERVING" : "NOT_SERVING";
  }

  async function tellWatchers(): Promise<void> {
    const current = await currentStatus();
    for (const [watcher, told] of watchers) {
      if (told === current || told === "SERVICE_UNKNOWN") continue;
      watchers.set(watcher, current);
      watcher.write({ status: current });
    }
  }

  function forget(watcher: Watcher): void {
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
        const stranger = !known.has(call.request.service);
        // The protocol keeps the stream open, since elsewhere services come and go; here the answer is final.
        if (stranger) call.write({ status: "SERVICE_UNKNOWN" });
        watchers.set(call, stranger ? "SERVICE_UNKNOWN" : undefined);
        call.on("cancelled", () => forget(call));
        timer ??= setInterval(() => void tellWatchers(), options.pollMs);
        void tellWatchers();
      },
    },
    drain() {
      draining = true;
      void tellWatchers().then(() => {
        for (const watcher of [...watchers.keys()]) {
          forget(watcher);
          watcher.end();
        }
      });
    },
  };
}
