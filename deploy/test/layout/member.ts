import { setTimeout as sleep } from "node:timers/promises";
import { startProgram, type TestProcess } from "../../../services/shared/testkit/process.ts";

export type Role =
  | "gateway"
  | "evm-dex"
  | "lending"
  | "solana"
  | "evm-dex-ingest"
  | "lending-ingest"
  | "solana-ingest";

export interface MemberPlan {
  readonly role: Role;
  /** Its number among those of its role. */
  readonly index: number;
  /** Its file in the repository. */
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where it says whether it is ready: answers 200 then. */
  readonly readyUrl: string;
  readonly metricsUrl: string;
}

const POLL_MS = 50;

/** One process of the layout, which keeps its ports over restarts. */
export class Member {
  readonly plan: MemberPlan;
  #process: TestProcess | undefined;

  constructor(plan: MemberPlan) {
    this.plan = plan;
  }

  get name(): string {
    return `${this.plan.role} ${this.plan.index}`;
  }

  get pid(): number | undefined {
    return this.#process?.child.pid;
  }

  /** Whether it runs, though it may be paused. */
  get isRunning(): boolean {
    const child = this.#process?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Lines of its log since its last start. */
  get lines(): readonly string[] {
    return this.#process?.lines ?? [];
  }

  /** Resolves when it is ready. Rejects with its log where it ends before that. */
  async start(): Promise<void> {
    const { program, env } = this.plan;
    const started = startProgram(program, { env });
    this.#process = started;
    const ended = started.exited.then(({ code, signal }) => {
      throw new Error(`${this.name} ended with ${code ?? signal}:\n${started.lines.slice(-20).join("\n")}`);
    });
    ended.catch(() => {});
    while (!(await this.isReady())) await Promise.race([sleep(POLL_MS), ended]);
  }

  /** How a load balancer sees it. */
  async isReady(): Promise<boolean> {
    try {
      const response = await fetch(this.plan.readyUrl, { signal: AbortSignal.timeout(1_000) });
      await response.arrayBuffer();
      return response.status === 200;
    } catch {
      return false;
    }
  }

  /** Ends it as Kubernetes does, and starts it again. Returns the code that it ended with. */
  async restart(): Promise<number | null> {
    const exit = await this.stop("SIGTERM");
    await this.start();
    return exit;
  }

  async stop(signal: NodeJS.Signals): Promise<number | null> {
    return (await this.#process?.stop(signal))?.code ?? null;
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.signal(name);
  }
}
