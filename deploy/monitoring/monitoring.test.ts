import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { before, describe, it } from "mocha";
import { stringify } from "yaml";
import { createMetrics } from "../../services/shared/metrics/metrics.ts";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { isOnPath, ROOT, run } from "../check/command.ts";
import { ALERTS } from "./alerts.ts";
import { listQueries, RUNBOOK, renderAll } from "./render.ts";
import { FIRING } from "./testkit/firing.ts";

/** Series of metrics that the sources declare, and those that every Node process has. */
async function listSeries(): Promise<ReadonlySet<string>> {
  const series = new Set(["up"]);
  const add = (kind: string, name: string) => {
    const ends = kind.toLowerCase() === "histogram" ? ["_bucket", "_sum", "_count"] : [""];
    for (const end of ends) series.add(`${name}${end}`);
  };
  for (const folder of ["services", "gateway"]) {
    for (const file of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
      if (!file.endsWith(".ts") || file.endsWith(".test.ts")) continue;
      const text = readFileSync(join(ROOT, folder, file), "utf8");
      for (const [, kind = "", name = ""] of text.matchAll(
        /new (Gauge|Counter|Histogram)\(\{\s*name: "(\w+)"/g,
      ))
        add(kind, name);
      for (const [, name = ""] of text.matchAll(/= counter\(\s*"(\w+)"/g)) add("counter", name);
    }
  }
  const metrics = createMetrics({ name: "test" });
  metrics.observeRequest({ route: "/", method: "GET", status: 200, seconds: 1 });
  for (const [, name = ""] of (await metrics.render()).matchAll(/^(\w+)[{ ]/gm)) series.add(name);
  return series;
}

/** Names of series in PromQL: words that are no function, keyword, label or text. */
function seriesOf(expr: string): string[] {
  const bare = expr
    .replace(/"[^"]*"/g, '""')
    .replace(/\b(?:by|on|without|group_left|group_right|ignoring)\s*\([^)]*\)/g, "")
    .replace(/\{[^}]*\}/g, "")
    .replace(/\[[^\]]*\]/g, "");
  const words = [...bare.matchAll(/\b([a-z_][a-z0-9_]*)\b(?!\s*\()/gi)].map(([word]) => word);
  const keywords = ["and", "or", "unless", "by", "on", "bool", "sum", "min", "max", "count", "e9"];
  return words.filter((word) => !keywords.includes(word));
}

describe("rules and dashboards", () => {
  it("are what their source makes of them", () => {
    for (const [name, text] of renderAll())
      expect(readFileSync(join(ROOT, "deploy/monitoring", name), "utf8"), name).to.equal(text);
  });

  it("name metrics only that the processes have", async () => {
    const known = await listSeries();
    for (const name of ["ingest_lag_seconds", "solana_disagreements_total", "process_open_fds"])
      expect([...known]).to.include(name);
    const queries = listQueries();
    expect(queries).to.have.length.above(50);
    for (const { place, expr } of queries) {
      const names = seriesOf(expr);
      expect(names, `${place}: ${expr}`).not.to.have.length(0);
      expect(
        names.filter((name) => !known.has(name)),
        place,
      ).to.deep.equal([]);
    }
  });

  it("have a paragraph of the runbook for each alert, which says what to do, and no other", () => {
    const text = readFileSync(join(ROOT, RUNBOOK), "utf8");
    const paragraphs = new Map(
      text
        .split(/^### /m)
        .slice(1)
        .map((part) => [part.slice(0, part.indexOf("\n")), part.slice(part.indexOf("\n")).trim()]),
    );
    expect([...paragraphs.keys()]).to.have.members(ALERTS.map(({ name }) => name));
    for (const [name, paragraph] of paragraphs) expect(paragraph, name).to.have.length.above(120);
    for (const { name } of ALERTS)
      expect(renderAll().get("rules.yml"), name).to.contain(`${RUNBOOK}#${name.toLowerCase()}`);
  });
});

describeWithProcesses("alerts under promtool", () => {
  let folder: string;
  before("find promtool (Debian: prometheus)", async function () {
    if (!(await isOnPath("promtool"))) {
      console.log("      pending: promtool is not on PATH (apt-get install prometheus)");
      this.skip();
    }
    folder = mkdtempSync(join(tmpdir(), "rules-"));
    writeFileSync(join(folder, "rules.yml"), renderAll().get("rules.yml") as string);
  });

  it("fire on what they are for, and on nothing else that is tried", async () => {
    expect(FIRING.map(({ alert }) => alert)).to.have.members(ALERTS.map(({ name }) => name));
    const tests = (cases: typeof FIRING) =>
      cases.flatMap(({ alert, after, bad, good }) => {
        const { for: duration } = ALERTS.find(({ name }) => name === alert) as (typeof ALERTS)[number];
        const check = (series: Readonly<Record<string, string>>, fires: boolean) => ({
          interval: "1m",
          input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
          // promtool wants all labels and texts of an alert that fires: ALERTS as a series has the former only.
          promql_expr_test: [
            {
              expr: `count(ALERTS{alertname="${alert}",alertstate="firing"})`,
              eval_time: after,
              exp_samples: fires ? [{ labels: "{}", value: 1 }] : [],
            },
          ],
        });
        expect(duration).to.match(/^\d+[mh]$/);
        return [check(bad, true), check(good, false)];
      });
    // Hours are looked at every ten minutes.
    for (const [every, cases] of [
      ["1m", FIRING.filter(({ after }) => after.endsWith("m"))],
      ["10m", FIRING.filter(({ after }) => after.endsWith("h"))],
    ] as const) {
      expect(cases).not.to.have.length(0);
      writeFileSync(
        join(folder, `tests-${every}.yml`),
        stringify({ rule_files: ["rules.yml"], evaluation_interval: every, tests: tests(cases) }),
      );
    }
    const { ok, output } = await run([
      "promtool",
      "test",
      "rules",
      join(folder, "tests-1m.yml"),
      join(folder, "tests-10m.yml"),
    ]);
    rmSync(folder, { recursive: true });
    expect(ok, output).to.equal(true);
    expect(output).to.contain("SUCCESS");
  });
});
