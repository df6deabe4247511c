/**
 * A node that costs next to nothing: it answers JSON-RPC as the node behind it did, from memory, and asks it only what
 * nobody asked before. For benches of a finished chain: a real node works on its own machine, while anvil on the two
 * cores that are measured takes a fifth of them, which says nothing of the ingest.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { end } from "./http-load/gateway-process.ts";

export interface RecordedNode {
  readonly url: string;
  /** Questions that the node behind had to answer since this was last asked. */
  passedOn(): Promise<number>;
  stop(): Promise<void>;
}

export async function startRecordedNode(nodeUrl: string): Promise<RecordedNode> {
  const file = fileURLToPath(new URL("./recorded-server.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", file, nodeUrl], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  const [url] = (await Promise.race([
    once(lines, "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`The recorded node ended with ${code}.`);
    }),
  ])) as [string];
  return {
    url,
    passedOn: async () => Number(await (await fetch(url)).text()),
    stop: () => end(child),
  };
}
