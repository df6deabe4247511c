import { errorResponses, errorResponsesOf } from "./openapi-components.ts";

const text = (description: string) => ({ type: "string", description });
const nullable = (properties: Record<string, unknown>, description: string) => ({
  type: "object",
  nullable: true,
  description,
  properties,
});

function jsonResponse(description: string, properties: Record<string, unknown>) {
  return { description, content: { "application/json": { schema: { type: "object", properties } } } };
}

const status = (...values: string[]) => ({ type: "string", enum: values });

/** The gateway's operations besides tables, for the OpenAPI document (OpenApiOptions.hostPaths). */
export const HOST_PATHS: Readonly<Record<string, unknown>> = {
  "/usage": {
    get: {
      operationId: "getUsage",
      tags: ["gateway"],
      summary: "Limits and usage of the key of the request",
      description: "Counts against the key's rate, not against its daily quota.",
      responses: {
        200: jsonResponse("The key, its limits, what remains of them, and its requests by UTC day.", {
          key: { type: "object", description: "Who the key is: id, label, owner, scopes, times." },
          limits: nullable(
            {
              ratePerSecond: { type: "number" },
              burst: { type: "integer" },
              dailyQuota: { type: "integer", nullable: true },
            },
            "Null for a key without limits.",
          ),
          remaining: nullable(
            {
              burst: { type: "integer" },
              daily: { type: "integer", nullable: true },
              dayEndsAt: text("End of the UTC day, ISO 8601."),
            },
            "Null for a key without limits.",
          ),
          usage: {
            type: "array",
            description: "Days with requests, the latest first.",
            items: { type: "object" },
          },
        }),
        ...errorResponses(false),
      },
    },
  },
  "/status": {
    get: {
      operationId: "getStatus",
      tags: ["gateway"],
      summary: "How far each chain is indexed, by service; versions",
      description:
        "What the gateway last heard of the services. Counts against the limit of the client's address.",
      security: [],
      responses: {
        200: jsonResponse("Always 200: it judges nothing.", {
          version: text("Of the gateway."),
          time: text("Of this answer, ISO 8601."),
          draining: { type: "boolean", description: "Whether the gateway is about to stop." },
          services: { type: "object", description: "By name: replicas, those that serve, version." },
          chains: {
            type: "object",
            description:
              "By chain id, or solana; then by service: block, head, finalBlock (the last indexed one that the chain has finalized), lagBlocks, lagSeconds, fromBlock, blocksPerSecond, and what is left of the first read.",
          },
        }),
        ...errorResponsesOf("bad_request", "rate_limited"),
      },
    },
  },
  "/readyz": {
    get: {
      operationId: "getReadiness",
      tags: ["gateway"],
      summary: "Whether every service can be reached, service by service",
      description:
        "For load balancers: a gateway that is not ready gets no requests. Not counted against any limit.",
      security: [],
      responses: {
        200: jsonResponse("Ready.", {
          status: status("ready"),
          services: { type: "object", description: "By name of the service." },
        }),
        503: jsonResponse("Not ready, or about to stop.", {
          status: status("not_ready", "draining"),
          services: { type: "object", description: "By name of the service." },
        }),
        ...errorResponsesOf("bad_request"),
      },
    },
  },
  "/livez": {
    get: {
      operationId: "getLiveness",
      tags: ["gateway"],
      summary: "Whether the gateway's process answers",
      description:
        "For supervisors: a process that does not answer is started anew. Not counted against any limit.",
      security: [],
      responses: {
        200: jsonResponse("It does.", { status: status("ok") }),
        ...errorResponsesOf("bad_request"),
      },
    },
  },
};
