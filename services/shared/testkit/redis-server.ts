import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Redis server that a test may break: nothing is stored on disk, and the port stays the same over restarts. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  start(): Promise<void>;
  kill(): Promise<void>;
  /** Freezes it, connections open: it neither answers nor refuses. */
  freeze(): void;
  thaw(): void;
  /** Kills it and cleans up. */
  remove(): Promise<void>;
}

/** Why a test cannot have a server; undefined where it can. */
export function noRedisServer(): string | undefined {
  const { status } = spawnSync("redis-server", ["--version"]);
  return status === 0 ? undefined : "the program redis-server is not installed";
}

/** For a hook: a server that is not started yet. Where there can be none, the tests of the hook are pending. */
export function createRedisOrSkip(context: Mocha.Context): Promise<RedisServer> {
  const reason = noRedisServer();
  if (reason === undefined) return createRedisServer();
  console.log(`      pending: ${reason}`);
  return context.skip();
}

/** The same, started. */
export async function startRedisOrSkip(context: Mocha.Context): Promise<RedisServer> {
  const server = await createRedisOrSkip(context);
  await server.start();
  return server;
}

/** Not started yet. */
export async function createRedisServer(): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), "redis-"));
  const port = await freePort();
  let server: ChildProcess | undefined;
  // By number: the kill method of a child works once only on Deno.
  const signal = (name: NodeJS.Signals): void => {
    if (server?.pid !== undefined) process.kill(server.pid, name);
  };
  const kill = async (): Promise<void> => {
    const child = server;
    if (child === undefined) return;
    server = undefined;
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const args = `--port ${port} --bind 127.0.0.1 --save  --appendonly no --dir`.split(" ");
      const child = spawn("redis-server", [...args, dir], { stdio: ["ignore", "pipe", "inherit"] });
      server = child;
      for await (const chunk of child.stdout)
        if (String(chunk).includes("Ready to accept connections")) break;
    },
    kill,
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async remove() {
      await kill();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
