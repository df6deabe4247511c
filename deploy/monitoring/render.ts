import { stringify } from "yaml";
import { ALERTS, type Alert } from "./alerts.ts";
import { DASHBOARDS, type Dashboard, type Panel } from "./panels.ts";

/** Where an alert is explained, from the repository's root; put in front of it what serves your copy. */
export const RUNBOOK = "docs/alerts.md";

const NOTE = "# Made from deploy/monitoring/alerts.ts by npm run generate.\n";

function ruleOf({ name, expr, for: duration, severity, summary }: Alert) {
  return {
    alert: name,
    expr,
    for: duration,
    labels: { severity },
    annotations: { summary, runbook_url: `${RUNBOOK}#${name.toLowerCase()}` },
  };
}

const groups = [{ name: "chaintables", rules: ALERTS.map(ruleOf) }];

/** For Prometheus' own rule_files. */
export function renderRules(): string {
  return `${NOTE}${stringify({ groups }, { lineWidth: 0 })}`;
}

/** The same for the Prometheus operator. */
export function renderPrometheusRule(): string {
  const metadata = { name: "chaintables" };
  const object = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata,
    spec: { groups },
  };
  return `${NOTE}${stringify(object, { lineWidth: 0 })}`;
}

const WIDTH = 8;
const HEIGHT = 7;
const A_ROW = 24 / WIDTH;
const DATASOURCE = { type: "prometheus", uid: "prometheus" };

function panelOf({ title, queries, unit }: Panel, at: number) {
  return {
    id: at + 1,
    type: "timeseries",
    title,
    datasource: DATASOURCE,
    gridPos: { x: (at % A_ROW) * WIDTH, y: Math.floor(at / A_ROW) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: 0, custom: { fillOpacity: 10 } }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: Object.entries(queries).map(([legendFormat, expr], query) => ({
      refId: String.fromCharCode(65 + query),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

/** Grafana's model of a dashboard, as its provisioning reads it. */
export function renderDashboard({ name, title, panels }: Dashboard): string {
  const model = {
    uid: `chaintables-${name}`,
    title: `chaintables · ${title}`,
    tags: ["chaintables"],
    timezone: "utc",
    schemaVersion: 39,
    refresh: "30s",
    time: { from: "now-3h", to: "now" },
    panels: panels.map(panelOf),
  };
  return `${JSON.stringify(model, null, 2)}\n`;
}

/** Every generated file, by its path below deploy/monitoring. */
export function renderAll(): ReadonlyMap<string, string> {
  return new Map([
    ["rules.yml", renderRules()],
    ["prometheus-rule.yaml", renderPrometheusRule()],
    ...DASHBOARDS.map((each) => [`dashboards/${each.name}.json`, renderDashboard(each)] as const),
  ]);
}

/** Queries of alerts and panels, with where they stand. */
export function listQueries(): readonly { readonly place: string; readonly expr: string }[] {
  return [
    ...ALERTS.map(({ name, expr }) => ({ place: `alert ${name}`, expr })),
    ...DASHBOARDS.flatMap(({ name, panels }) =>
      panels.flatMap(({ title, queries }) =>
        Object.values(queries).map((expr) => ({ place: `${name}: ${title}`, expr })),
      ),
    ),
  ];
}
