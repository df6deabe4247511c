import { type LogEntry, startProgram, type TestProcess } from "./process.ts";

export interface ServiceProcess extends Pick<TestProcess, "child" | "stop"> {
  readonly httpUrl: string;
  readonly grpcAddress: string;
  /** Entries of its log so far, oldest first. */
  readonly entries: readonly LogEntry[];
}

type Env = Readonly<Record<string, string | undefined>>;

/** Starts a service's main.ts on free ports of its own and waits until it listens. */
export async function startServiceProcess(entry: URL, env: Env = {}): Promise<ServiceProcess> {
  const started = startProgram(entry, { env: { HTTP_PORT: "0", GRPC_PORT: "0", ...env } });
  const { httpUrl, grpcAddress } = await started.logged("listening");
  return {
    httpUrl,
    grpcAddress,
    child: started.child,
    stop: started.stop,
    get entries() {
      return started.lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line));
    },
  };
}

/** Starts an ingest's main.ts; its lease is short, so that the next one need not wait for it. */
export function startIngestProcess(entry: URL, env: Env): TestProcess {
  return startProgram(entry, { env: { LEASE_TTL_MS: "200", ...env } });
}
