import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Settings of this machine must make no difference. */
const SETTINGS = /^(EVM_|SOLANA_|START_BLOCK_|MONGODB_|REDIS_|DATA_DIR|LOG_|GATEWAY_|X402_|KEY_|OTEL_)/;

/** A command in a terminal of its own, as far as a person sees it. */
export interface Screen {
  readonly child: ChildProcess;
  /** Both streams, in the order of their arrival. */
  text(): string;
  /** Standard output alone. */
  output(): string;
  /** Waits until the screen shows it; rejects with all that it shows when the command ends before. */
  shows(what: RegExp): Promise<RegExpExecArray>;
  /** What a terminal does at Ctrl-C: every process of the command gets the signal. */
  ctrlC(): void;
  readonly ended: Promise<number | null>;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Runs a line such as "npm start". */
export function type(line: string, env: Env = {}): Screen {
  const clean = Object.entries(process.env).filter(([name]) => !SETTINGS.test(name) && !/^npm_/i.test(name));
  const [command = "", ...args] = line.split(" ");
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...Object.fromEntries(clean), ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let text = "";
  let output = "";
  const looks = new Set<() => void>();
  const take = (chunk: Buffer) => {
    text += chunk.toString();
    for (const look of looks) look();
  };
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  return {
    child,
    text: () => text,
    output: () => output,
    ended,
    shows(what) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = what.exec(text);
          if (found === null) return;
          looks.delete(look);
          resolve(found);
        };
        looks.add(look);
        look();
        void ended.then((code) => reject(new Error(`${line} ended with ${code} before ${what}:\n${text}`)));
      });
    },
    ctrlC: () => signalGroup(child, "SIGINT"),
  };
}

/** The command's end: exit code and all that it showed. */
export async function run(line: string, env: Env = {}): Promise<{ code: number | null; screen: Screen }> {
  const screen = type(line, env);
  return { code: await screen.ended, screen };
}

export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
