import { createServer, type Server } from "node:net";
import { describeSystemError } from "../../services/shared/settings/folder.ts";
import { ConfigError, type Environment } from "../../services/shared/settings/settings.ts";
import { isLocal } from "./settings.ts";

export interface WantedPort {
  readonly setting: string;
  /** 0 = any free one. */
  readonly port: number;
  readonly host: string;
}

/** Ports that npm start listens on where people come in, by the settings that choose them. */
export function listPorts(
  given: Environment,
  settings: {
    readonly BIND_HOST: string;
    readonly GATEWAY_PORT: number;
    readonly X402_PORT: number;
    readonly X402_PAY_TO: string | undefined;
    readonly FACILITATOR_PORT: number;
    readonly ADMIN_HOST: string;
    readonly ADMIN_PORT: number | "off" | undefined;
    readonly FACILITATOR_ADMIN_PORT: number | "off" | undefined;
    readonly DEVNET_PORT: number;
  },
): WantedPort[] {
  const host = settings.BIND_HOST;
  const isOnLocalChain = isLocal(given);
  const wanted = [{ setting: "GATEWAY_PORT", port: settings.GATEWAY_PORT, host }];
  const isSelling = isOnLocalChain || settings.X402_PAY_TO !== undefined;
  // See localPayments: a user who leaves one port to the system leaves all of them.
  const isAnyPayPort = isOnLocalChain && settings.GATEWAY_PORT === 0 && !given.X402_PORT?.trim();
  if (isSelling && !isAnyPayPort) wanted.push({ setting: "X402_PORT", port: settings.X402_PORT, host });
  if (given.FACILITATOR_PORT?.trim())
    wanted.push({ setting: "FACILITATOR_PORT", port: settings.FACILITATOR_PORT, host: "127.0.0.1" });
  for (const setting of ["ADMIN_PORT", "FACILITATOR_ADMIN_PORT"] as const) {
    const port = settings[setting];
    if (typeof port === "number") wanted.push({ setting, port, host: settings.ADMIN_HOST });
  }
  if (isOnLocalChain) wanted.push({ setting: "DEVNET_PORT", port: settings.DEVNET_PORT, host: "127.0.0.1" });
  return wanted;
}

/** Shows that every port can be listened on, all at once, so that two settings with one port are noticed too. */
export async function checkPorts(wanted: readonly WantedPort[]): Promise<void> {
  const problems: string[] = [];
  const servers: Server[] = [];
  const taken = new Map<number, string>();
  for (const { setting, port, host } of wanted) {
    if (port === 0) continue;
    const other = taken.get(port);
    if (other !== undefined) {
      problems.push(`Cannot use ${setting}=${port}: ${other} is the same port.`);
      continue;
    }
    taken.set(port, setting);
    try {
      servers.push(await listen(port, host));
    } catch (error) {
      const reason = describeSystemError(error as NodeJS.ErrnoException);
      problems.push(
        `Cannot use ${setting}=${port} on ${host}: ${reason}. Another one is chosen by, for example, ${setting}=${(port % 65_535) + 1}.`,
      );
    }
  }
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  if (problems.length > 0) throw new ConfigError(problems);
}

function listen(port: number, host: string): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve(server));
  });
}
