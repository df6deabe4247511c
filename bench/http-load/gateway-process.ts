import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../deploy/check/build.ts";
import { ROOT, run } from "../../deploy/check/command.ts";
import { findFreePort } from "../../deploy/check/servers.ts";
import { SUPERVISED } from "../../services/shared/process/process.ts";
import { IMAGE_FLAGS } from "../image-flags.ts";
import { startScript } from "../script.ts";
import type { Upstream } from "./upstream.ts";

export interface GatewayProcess {
  readonly port: number;
  /** Where /metrics is. */
  readonly adminPort: number;
  readonly pid: number;
  stop(): Promise<void>;
}

/** The built gateway and a key in its store, in a folder of its own. */
export interface BuiltGateway {
  readonly folder: string;
  /** A key with limits that the bench does not reach: they are counted all the same. */
  readonly key: string;
  /** Starts a program of the gateway's with these settings alone, its output in a file of this name. */
  spawn(program: string, env: Settings, logName: string): ChildProcess;
}

type Settings = Readonly<Record<string, string>>;

/** `root` is the source tree, this repository's unless given. */
export async function buildGateway(folder: string, root: string = ROOT): Promise<BuiltGateway> {
  const faults = await build(join(folder, "dist"), { root });
  if (faults.length > 0) throw new Error(`The gateway could not be built: ${faults.join("\n")}`);
  cpSync(join(ROOT, "package.json"), join(folder, "package.json"));
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const store = { DATA_DIR: folder, MONGODB_URL: "", REDIS_URL: "" };
  return {
    folder,
    key: await createKey(folder, store),
    spawn: (program, env, logName) => {
      const log = openSync(join(folder, logName), "w");
      return spawn(process.execPath, [...IMAGE_FLAGS, `dist/gateway/${program}.js`], {
        cwd: folder,
        // Its standard input ends with us, also where we are killed.
        env: { ...process.env, ...store, ...env, [SUPERVISED]: "1" },
        stdio: ["pipe", log, "inherit"],
      });
    },
  };
}

/** A gateway with its transport on undici (gateway/proxy/transport/undici.bench.ts), built from a copy of the sources. */
export async function buildUndiciGateway(folder: string): Promise<BuiltGateway> {
  const root = join(folder, "source");
  for (const name of ["gateway", "services", "proto", "deploy", "package.json"]) {
    cpSync(join(ROOT, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  for (const name of ["pool", "response-receiver"]) {
    writeFileSync(join(root, `gateway/proxy/transport/${name}.ts`), 'export * from "./undici.bench.ts";\n');
  }
  return buildGateway(folder, root);
}

/** The gateway as its image runs it: built, a process of its own, keys, limits, metrics, a log in a file. */
export async function startGatewayProcess(
  built: BuiltGateway,
  { upstream, settings = {} }: { readonly upstream: Upstream; readonly settings?: Settings },
): Promise<GatewayProcess> {
  const [port, adminPort] = [await findFreePort(), await findFreePort()];
  const url = `http://127.0.0.1:${upstream.port}`;
  const env = {
    GATEWAY_PORT: String(port),
    ADMIN_PORT: String(adminPort),
    KEY_RATE: "1000000",
    KEY_BURST: "1000000",
    EVM_DEX_URL: url,
    LENDING_URL: url,
    SOLANA_URL: url,
    EVM_DEX_GRPC: upstream.grpc,
    LENDING_GRPC: upstream.grpc,
    SOLANA_GRPC: upstream.grpc,
    ...settings,
  };
  const child = built.spawn("main", env, `gateway-${port}.log`);
  await untilReady(port, child);
  return { port, adminPort, pid: child.pid as number, stop: () => end(child) };
}

/** What node:http does without us. */
export async function startBareProxy(upstreamPort: number): Promise<Omit<GatewayProcess, "adminPort">> {
  const url = new URL("./bare-proxy.ts", import.meta.url);
  const { child, firstLine } = await startScript(url, { args: [String(upstreamPort)], flags: IMAGE_FLAGS });
  return { port: Number(firstLine), pid: child.pid as number, stop: () => end(child) };
}

export async function end(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

async function createKey(folder: string, env: Settings): Promise<string> {
  const command = [process.execPath, "dist/gateway/cli/keys.js", "create", "--label", "bench", "--json"];
  const { ok, stdout, output } = await run(command, { cwd: folder, env });
  const key = /ct_[A-Za-z0-9_-]{43}_[0-9a-f]{8}/.exec(stdout)?.[0];
  if (!ok || key === undefined) throw new Error(`No key could be created: ${output}`);
  return key;
}

/** Until it says itself that it is ready. */
export async function untilReady(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("The gateway did not become ready.");
}
