import { Ajv } from "ajv";
import type { KubernetesObject } from "./kustomize.ts";

const text = { type: "string", minLength: 1 } as const;
const duration = { type: "string", pattern: "^[0-9]+(ms|s|m|h|d)$" } as const;
const closed = (required: readonly string[], properties: Record<string, unknown>) => ({
  type: "object",
  required,
  properties,
  additionalProperties: false,
});
const texts = { type: "object", additionalProperties: { type: "string" } };

/**
 * The part of the Prometheus operator's kinds (monitoring.coreos.com/v1) that we use: the published models of Kubernetes
 * do not have them. Whatever is not here is a decision, to be made here too.
 */
const SPECS: Readonly<Record<string, object>> = {
  PodMonitor: closed(["selector", "podMetricsEndpoints"], {
    selector: { type: "object", minProperties: 1 },
    podMetricsEndpoints: {
      type: "array",
      minItems: 1,
      items: closed(["port"], {
        port: text,
        path: { type: "string", pattern: "^/" },
        interval: duration,
        honorLabels: { type: "boolean" },
        authorization: closed(["credentials"], {
          credentials: closed(["name", "key"], { name: text, key: text }),
        }),
      }),
    },
  }),
  PrometheusRule: closed(["groups"], {
    groups: {
      type: "array",
      minItems: 1,
      items: closed(["name", "rules"], {
        name: text,
        rules: {
          type: "array",
          minItems: 1,
          items: closed(["alert", "expr"], {
            ...{ alert: text, expr: text, for: duration, labels: texts, annotations: texts },
          }),
        },
      }),
    },
  }),
};

export function isOperatorKind({ apiVersion }: KubernetesObject): boolean {
  return apiVersion === "monitoring.coreos.com/v1";
}

export function findOperatorFaults(object: KubernetesObject): string[] {
  const spec = SPECS[object.kind];
  if (spec === undefined) return [`there is no kind ${object.kind} in ${object.apiVersion}`];
  const schema = closed(["apiVersion", "kind", "metadata", "spec"], {
    ...{ apiVersion: text, kind: text, metadata: { type: "object" }, spec },
  });
  const ajv = new Ajv({ allErrors: true, strict: false });
  if (ajv.validate(schema, object)) return [];
  return (ajv.errors ?? []).map(({ instancePath, message, params }) => {
    const { additionalProperty } = params as { additionalProperty?: string };
    return `${instancePath} ${message}${additionalProperty === undefined ? "" : `: ${additionalProperty}`}`;
  });
}
