import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Exit,
  type Output,
  runProgram,
  startProgram,
  type TestProcess,
} from "../../services/shared/testkit/process.ts";
import { until } from "./until.ts";
import { type FakeUpstream, startFakeUpstream } from "./upstream.ts";

/** Gateways in processes of their own, over one folder of data and fake services. */
export interface GatewayProcesses {
  /** Fake evm-dex, lending and solana. */
  readonly services: readonly [FakeUpstream, FakeUpstream, FakeUpstream];
  /** Answers when it is ready. */
  start(env?: Readonly<Record<string, string>>): Promise<GatewayProcess>;
  /** `npm run keys`, over the same store. */
  keys(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Exit & Output>;
  /** Kills what runs and leaves nothing behind. */
  remove(): Promise<void>;
}

export interface GatewayProcess extends TestProcess {
  readonly url: string;
  /** Where operators read /metrics. */
  readonly adminUrl: string;
  get(path: string, key: string): Promise<Response>;
}

export async function createGatewayProcesses(): Promise<GatewayProcesses> {
  const folder = await mkdtemp(join(tmpdir(), "gateways-"));
  const services = await Promise.all([startFakeUpstream(), startFakeUpstream(), startFakeUpstream()]);
  const names = ["EVM_DEX", "LENDING", "SOLANA"];
  const addresses = Object.fromEntries(
    services.flatMap(({ url, grpc }, place) => [
      [`${names[place]}_URL`, url],
      [`${names[place]}_GRPC`, grpc],
    ]),
  );
  const running: TestProcess[] = [];
  return {
    services,
    async start(env = {}) {
      const settings = { GATEWAY_PORT: "0", DATA_DIR: folder, ...addresses, ...env };
      const child = startProgram("gateway/main.ts", { env: settings });
      running.push(child);
      const urlOf = (msg: string): string | undefined => {
        const line = child
          .stdout()
          .split("\n")
          .find((text) => text.includes(`"${msg}"`));
        return line === undefined ? undefined : JSON.parse(line).url;
      };
      await until(() => urlOf("listening") !== undefined);
      const url = urlOf("listening") as string;
      await until(async () => (await fetch(`${url}/readyz`)).status === 200);
      const get = (path: string, key: string) => fetch(`${url}${path}`, { headers: { "X-API-KEY": key } });
      return { ...child, url, adminUrl: urlOf("serving metrics") as string, get };
    },
    keys: (args, env = {}) => runProgram("gateway/cli/keys.ts", { args, env: { DATA_DIR: folder, ...env } }),
    async remove() {
      for (const child of running) child.signal("SIGKILL");
      await Promise.all(running.map((child) => child.finished));
      await Promise.all(services.map((service) => service.stop()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
