/** Writes rules and dashboards from alerts.ts and panels.ts. With --check it only compares. */
import { readFileSync, writeFileSync } from "node:fs";
import { renderAll } from "./render.ts";

const isCheck = process.argv.includes("--check");
for (const [name, text] of renderAll()) {
  const file = new URL(name, import.meta.url);
  if (!isCheck) writeFileSync(file, text);
  else if (readFileSync(file, "utf8") !== text) {
    console.error(`deploy/monitoring/${name} is not what its source makes of it: run npm run generate.`);
    process.exitCode = 1;
  }
}
