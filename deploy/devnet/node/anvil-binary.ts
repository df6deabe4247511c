import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const PLATFORM_PACKAGES: Record<string, string> = {
  "linux-x64": "@foundry-rs/anvil-linux-amd64",
  "linux-arm64": "@foundry-rs/anvil-linux-arm64",
  "darwin-x64": "@foundry-rs/anvil-darwin-amd64",
  "darwin-arm64": "@foundry-rs/anvil-darwin-arm64",
  "win32-x64": "@foundry-rs/anvil-win32-amd64",
};

/** Path of the anvil binary that npm installed for this machine. Throws a readable error if it is missing. */
export function findAnvilBinary(platform: string = process.platform, arch: string = process.arch): string {
  const name = PLATFORM_PACKAGES[`${platform}-${arch}`];
  if (!name) {
    const known = Object.keys(PLATFORM_PACKAGES).join(", ");
    throw new Error(`No anvil for ${platform}-${arch} (only ${known}); set EVM_RPC_8453 to use a real node`);
  }
  const require = createRequire(import.meta.url);
  try {
    const root = dirname(require.resolve(`${name}/package.json`));
    return join(root, "bin", platform === "win32" ? "anvil.exe" : "anvil");
  } catch (cause) {
    throw new Error(`${name} is not installed; run npm ci with development and optional dependencies`, {
      cause,
    });
  }
}

// Holds the child for as long as the parent holds stdin open: the pipe closes even when the parent is killed by SIGKILL.
const SUPERVISE = `exec 3<&0
"$@" </dev/null 1>&2 &
child=$!
( read _ <&3; kill -TERM $child; sleep 5; kill -KILL $child ) >/dev/null 2>&1 &
watch=$!
wait $child
code=$?
kill $watch 2>/dev/null
exit $code`;

export interface Supervised {
  readonly process: ChildProcess;
  readonly isRunning: () => boolean;
  /** Resolves when the child has ended, for whatever reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

/** Starts a child that ends with this process, however this process ends. Its output comes on stderr. */
export function spawnSupervised(binary: string, args: readonly string[]): Supervised {
  const windows = process.platform === "win32";
  const child = windows
    ? spawn(binary, args, { stdio: ["pipe", "ignore", "pipe"] })
    : // Detached: a Ctrl-C in the terminal must reach us, not the child, so that we can save the chain first.
      spawn("/bin/sh", ["-c", SUPERVISE, "anvil", binary, ...args], {
        stdio: ["pipe", "ignore", "pipe"],
        detached: true,
      });
  if (windows) process.once("exit", () => child.kill());
  child.stdin.on("error", () => {});

  let running = true;
  const exited = new Promise<void>((resolve) => {
    const finish = () => {
      running = false;
      resolve();
    };
    child.once("exit", finish);
    child.once("error", finish);
  });
  return {
    process: child,
    isRunning: () => running,
    exited,
    stop() {
      if (running) child.stdin.end();
      if (windows) child.kill();
      return exited;
    },
  };
}
