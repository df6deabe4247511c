import { runMain } from "../../../services/shared/process/process.ts";
import { ConfigError } from "../../../services/shared/settings/settings.ts";

/** A program for tests of process.ts and supervisor.ts: prints its pid, then behaves as its argument says. */
const behaviour = process.argv[2];
const report = (event: string) => process.stdout.write(`${JSON.stringify({ event, pid: process.pid })}\n`);

await runMain("child", async () => {
  if (behaviour === "bad-config") throw new ConfigError(["Cannot read PORT: it must be a number"]);
  if (behaviour === "fail") throw new Error("cannot start");
  const alive = setInterval(() => {}, 1_000);
  report("ready");
  if (behaviour === "talk") {
    process.on("message", (message) => report(`told ${JSON.stringify(message)}`));
    process.send?.({ question: 1 });
  }
  if (behaviour === "crash") setTimeout(() => process.exit(3), 1);
  if (behaviour === "reject") void Promise.reject(new Error("forgotten"));
  if (behaviour === "throw")
    setTimeout(() => {
      throw new Error("thrown");
    }, 1);
  return {
    async stop() {
      report("stopping");
      if (behaviour === "hang") await new Promise(() => {});
      if (behaviour === "fail-to-stop") throw new Error("cannot stop");
      clearInterval(alive);
    },
  };
});
