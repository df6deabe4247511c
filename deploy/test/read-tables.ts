import { setTimeout as sleep } from "node:timers/promises";
import type { Stack } from "./stack.ts";

/** An operation of OpenAPI that answers with a table. */
export interface Operation {
  readonly tags: readonly string[];
  readonly parameters?: readonly { readonly name: string; readonly example?: unknown }[];
  readonly responses: Record<string, { content: Record<string, unknown> }>;
  readonly "x-examples-of"?: string;
}

const WAIT_MS = 60_000;

/** The tables of OpenAPI with their examples, once all have one from this instance's data. */
export async function readTables({ url, key }: Stack): Promise<[path: string, Operation][]> {
  const deadlineMs = performance.now() + WAIT_MS;
  for (;;) {
    const answer = await fetch(`${url}/openapi.json`, { headers: { "X-API-KEY": key } });
    const { paths } = (await answer.json()) as { paths: Record<string, { get: Operation }> };
    const tables = Object.entries(paths)
      .map(([path, { get }]): [string, Operation] => [path, get])
      .filter(([, { tags }]) => !tags.includes("gateway"));
    const isLive = tables.every(([, each]) => each["x-examples-of"] === "this instance");
    if (isLive || performance.now() > deadlineMs) return tables;
    await sleep(250);
  }
}
