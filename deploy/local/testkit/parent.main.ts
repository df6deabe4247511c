import { createLog } from "../../../services/shared/logging/log.ts";
import { runMain } from "../../../services/shared/process/process.ts";
import { superviseProcess } from "../supervisor.ts";

/** A program for supervisor.test.ts: supervises a program of this repository and another one, and prints their pids. */
await runMain("parent", async () => {
  const log = createLog({ name: "parent", level: "warn", destination: 2 });
  const child = new URL("./child.main.ts", import.meta.url);
  const own = superviseProcess({
    name: "own",
    program: { entry: child },
    log,
    onLine: (line) => process.stdout.write(`${line}\n`),
  });
  const foreign = superviseProcess({
    name: "foreign",
    program: {
      command: "/bin/sh",
      args: ["-c", 'echo \'{"event":"foreign","pid":\'$$\'}\'; exec sleep 600'],
    },
    log,
    stopTimeoutMs: 2_000,
    onLine: (line) => process.stdout.write(`${line}\n`),
  });
  return {
    async stop() {
      await Promise.all([own.stop(), foreign.stop()]);
    },
  };
});
