import { setTimeout as sleep } from "node:timers/promises";
import { createRandom } from "../../devnet/random.ts";
import type { Layout } from "./layout.ts";
import type { Member } from "./member.ts";

/** What was done to a process, and until when it or those that wait for it may feel it. */
export interface Fault {
  readonly name: string;
  readonly kind: "kill" | "pause" | "reorg" | "fork";
  readonly member: Member | undefined;
  readonly beganMs: number;
  readonly endedMs: number;
}

interface FaultOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Between two faults. */
  readonly restMs: number;
  /** Processes that are paused and never killed; none by default. */
  readonly spares?: (member: Member) => boolean;
  readonly onFault?: (fault: Fault) => void;
}

const LONGEST_PAUSE_MS = 4_000;
const MOST_BLOCKS = 6;
const CHAIN_SHARE = 0.15;

/** Kills and pauses processes at random, and replaces blocks of both chains, one fault after the other. */
export async function disturb(layout: Layout, options: FaultOptions): Promise<Fault[]> {
  const random = createRandom(options.seed);
  const faults: Fault[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const beganMs = performance.now();
    const isChain = random.next() < CHAIN_SHARE;
    const member = isChain ? undefined : random.pick(layout.members);
    const picked = isChain
      ? random.pick(["reorg", "fork"] as const)
      : random.pick(["kill", "pause"] as const);
    const isSpared = member !== undefined && options.spares?.(member) === true;
    const kind = picked === "kill" && isSpared ? "pause" : picked;
    if (kind === "reorg") await layout.reorg(1 + random.below(MOST_BLOCKS));
    if (kind === "fork") layout.solana.fork(1 + random.below(MOST_BLOCKS));
    if (kind === "kill") await killAndStart(member as Member);
    if (kind === "pause") await pause(member as Member, random.below(LONGEST_PAUSE_MS));
    const name = member?.name ?? "chain";
    const fault = { name, kind, member, beganMs, endedMs: performance.now() };
    faults.push(fault);
    options.onFault?.(fault);
    await sleep(random.below(options.restMs));
  }
  return faults;
}

async function killAndStart(member: Member): Promise<void> {
  await member.stop("SIGKILL");
  await member.start();
}

async function pause(member: Member, ms: number): Promise<void> {
  member.signal("SIGSTOP");
  await sleep(ms);
  member.signal("SIGCONT");
}
