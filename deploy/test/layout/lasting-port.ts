import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that a system gives to outgoing connections: a process that is down for a moment finds its port again. */
const [FIRST, LAST] = [20_000, 30_000];
const taken = new Set<number>();

/** A port for a process that is stopped and started again, each time another one. */
export async function findLastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST);
    if (taken.has(port) || !(await isFree(port))) continue;
    taken.add(port);
    return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
