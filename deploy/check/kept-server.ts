import { freemem, loadavg } from "node:os";
import { isListening, type Server } from "./servers.ts";
import type { Tally } from "./step.ts";

/** How often a server is looked at; it has gone when two looks in turn find nothing. */
const LOOK_MS = 2_000;

/**
 * A server that is started again at its address when it has gone: a crash of a third program is no verdict on tests. What
 * ran meanwhile is told by `restarts`, and has to run again: a server that a test itself ends goes in that run too.
 */
export class KeptServer {
  readonly #name: string;
  readonly #server: Server;
  readonly #timer: NodeJS.Timeout;
  #missed = 0;
  /** One look after the other. */
  #looking = Promise.resolve();
  #isLooking = false;
  #restarts = 0;
  /** Undefined where it is not ours to start, or cannot be started any more. */
  #restart: Server["restart"];

  constructor(name: string, server: Server, { lookMs = LOOK_MS }: { lookMs?: number } = {}) {
    this.#name = name;
    this.#server = server;
    this.#restart = server.restart;
    this.#timer = setInterval(() => {
      if (!this.#isLooking) void this.#look(2);
    }, lookMs);
    this.#timer.unref();
  }

  get url(): string {
    return this.#server.url;
  }

  /** How often it had gone and was started again, now looked at once more. */
  async restarts(): Promise<number> {
    await this.#look(1);
    return this.#restarts;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#server.stop();
  }

  /** @param most looks in turn that may find nothing before it has gone */
  #look(most: number): Promise<void> {
    this.#looking = this.#looking.then(() => this.#lookNow(most));
    return this.#looking;
  }

  async #lookNow(most: number): Promise<void> {
    const restart = this.#restart;
    if (restart === undefined) return;
    this.#isLooking = true;
    this.#missed = (await isListening(Number(new URL(this.url).port))) ? 0 : this.#missed + 1;
    if (this.#missed >= most) await this.#startAgain(restart);
    this.#isLooking = false;
  }

  async #startAgain(restart: () => Promise<void>): Promise<void> {
    this.#missed = 0;
    const free = Math.round(freemem() / 1e6);
    const load = loadavg()[0]?.toFixed(1);
    try {
      await restart();
      this.#restarts++;
      console.log(`${this.#name} had gone and was started again (${free} MB were free, load ${load})`);
    } catch (error) {
      clearInterval(this.#timer);
      this.#restart = undefined;
      console.log(`${this.#name} has gone and cannot be started again: ${(error as Error).message}`);
    }
  }
}

/** Runs a suite once more when a server that it may have used had gone: see KeptServer. */
export async function runBesideServers<Verdict extends { readonly tally: Tally }>(
  servers: readonly Pick<KeptServer, "restarts">[],
  runOnce: () => Promise<Verdict>,
): Promise<Verdict> {
  const countRestarts = async () => (await Promise.all(servers.map((server) => server.restarts()))).join();
  const before = await countRestarts();
  const verdict = await runOnce();
  if (verdict.tally.failed === 0 || (await countRestarts()) === before) return verdict;
  console.log("a server had gone meanwhile: the suite runs once more");
  return runOnce();
}
