/**
 * Preloaded into a gateway that runs from source (`--import`): counts, at its parent's request, which functions V8 ran.
 * "reset" starts a new count, "take" returns the functions since then as `file:offset name`.
 */
import { type Profiler, Session } from "node:inspector";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });

function takeCoverage(): string[] {
  const called: string[] = [];
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error !== null) throw error;
    for (const script of coverage.result) called.push(...calledFunctionsOf(script));
  });
  return called;
}

function calledFunctionsOf({ url, functions }: Profiler.ScriptCoverage): string[] {
  const path = url.startsWith("file:") ? fileURLToPath(url) : "";
  const file = path.slice(ROOT.length);
  if (!path.startsWith(ROOT) || !/^(gateway|services)\//.test(file)) return [];
  return functions.flatMap(({ functionName, ranges: [range] }) => {
    // The loader's own helper is in every file.
    if (range === undefined || range.count === 0 || functionName === "__name") return [];
    return [`${file}:${range.startOffset} ${functionName || "(anonymous)"}`];
  });
}

process.on("message", (message) => {
  if (message !== "reset" && message !== "take") return;
  process.send?.({ coverage: takeCoverage() });
});
