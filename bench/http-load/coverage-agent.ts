/**
 * Preloaded into a gateway that runs from source (`--import`): counts, at its parent's request, which functions V8 ran.
 * "reset" starts a new count, "take" returns the functions since then as `file:offset name`.
 */
import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";

const HOUSE = fileURLToPath(new URL("../../", import.meta.url));
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

function takeCoverage(): string[] {
  const called: string[] = [];
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error !== null) throw error;
    for (const { url, functions } of coverage.result) {
      const path = url.startsWith("file:") ? fileURLToPath(url) : "";
      if (!path.startsWith(HOUSE)) continue;
      const file = path.slice(HOUSE.length);
      if (!/^(gateway|services)\//.test(file)) continue;
      for (const { functionName, ranges } of functions) {
        const range = ranges[0];
        // The loader's own helper stands in every file.
        if (range === undefined || range.count === 0 || functionName === "__name") continue;
        called.push(`${file}:${range.startOffset} ${functionName || "(anonymous)"}`);
      }
    }
  });
  return called;
}

process.on("message", (message) => {
  if (message !== "reset" && message !== "take") return;
  process.send?.({ coverage: takeCoverage() });
});
