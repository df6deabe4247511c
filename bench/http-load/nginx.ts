import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isOnPath } from "../../deploy/check/command.ts";
import { findFreePort } from "../../deploy/check/servers.ts";

export interface Nginx {
  readonly port: number;
  /** Of the worker, which does the work. */
  readonly pid: number;
  stop(): Promise<void>;
}

export async function hasNginx(): Promise<boolean> {
  return isOnPath("nginx");
}

/** nginx as a reverse proxy as it is meant to be set up: one worker, kept connections to the upstream, its access log. */
export async function startNginx(folder: string, upstreamPort: number): Promise<Nginx> {
  const port = await findFreePort();
  const home = join(folder, "nginx");
  mkdirSync(home);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${home}/${name};`,
  );
  writeFileSync(
    join(home, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${home}/pid; error_log ${home}/error.log;
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
  const pid = await findWorker(master.pid as number);
  return {
    port,
    pid,
    async stop() {
      master.kill("SIGQUIT");
      await ended;
    },
  };
}

async function findWorker(master: number): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    const children = readFileSync(`/proc/${master}/task/${master}/children`, "utf8").trim();
    if (children !== "") return Number(children.split(" ")[0]);
  }
  throw new Error("nginx started no worker.");
}
