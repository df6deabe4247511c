import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOnPath } from "../../deploy/check/command.ts";
import { findFreePort } from "../../deploy/check/servers.ts";
import { childrenOf } from "../process-cost.ts";

export interface Nginx {
  readonly port: number;
  /** Of the master; the workers, which do the work, are its children. */
  readonly pid: number;
  stop(): Promise<void>;
}

export async function hasNginx(): Promise<boolean> {
  return isOnPath("nginx");
}

/** nginx as a reverse proxy in its recommended setup: kept-alive connections to the upstream, its access log. */
export async function startNginx(
  folder: string,
  { upstreamPort, workers }: { readonly upstreamPort: number; readonly workers: number },
): Promise<Nginx> {
  const port = await findFreePort();
  const home = join(folder, "nginx");
  mkdirSync(home);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${home}/${name};`,
  );
  writeFileSync(
    join(home, "nginx.conf"),
    `daemon off; worker_processes ${workers}; pid ${home}/pid; error_log ${home}/error.log;
events { worker_connections 4096; }
http {
  ${temporary.join(" ")}
  access_log ${home}/access.log combined;
  keepalive_requests 1000000000;
  upstream service { server 127.0.0.1:${upstreamPort}; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://service; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`,
  );
  const master = spawn("nginx", ["-c", join(home, "nginx.conf"), "-e", join(home, "error.log")], {
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => master.once("exit", resolve));
  const pid = master.pid as number;
  await untilWorking(pid);
  return {
    port,
    pid,
    async stop() {
      master.kill("SIGQUIT");
      await ended;
    },
  };
}

async function untilWorking(master: number): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (childrenOf(master).length > 0) return;
  }
  throw new Error("nginx started no worker.");
}
