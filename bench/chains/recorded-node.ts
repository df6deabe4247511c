/**
 * A node that costs next to nothing: it answers JSON-RPC as the node behind it did, from memory, and calls that node only for
 * new requests. For benches of a finished chain: a real node works on its own machine, while anvil on the two
 * cores that are measured takes a fifth of them, which says nothing of the ingest.
 */
import { end } from "../http-load/gateway-process.ts";
import { startScript } from "../script.ts";

export interface RecordedNode {
  readonly url: string;
  /** Requests that the node behind had to answer since the last call. */
  passedOn(): Promise<number>;
  /**
   * Records every block in every form an ingest may choose (which one it takes is a race of a few milliseconds), then
   * every other request of rounds like the measured ones, until a round brings no new request.
   */
  record(options: { headNumber: number; round: () => Promise<unknown> }): Promise<void>;
  stop(): Promise<void>;
}

/** Blocks requested at once while they are recorded. */
const AT_ONCE = 100;
const MOST_ROUNDS = 5;

export async function startRecordedNode(nodeUrl: string): Promise<RecordedNode> {
  const script = new URL("./recorded-server.ts", import.meta.url);
  const { child, firstLine: url } = await startScript(script, { args: [nodeUrl] });
  const passedOn = async () => Number(await (await fetch(url)).text());
  return {
    url,
    passedOn,
    record: async ({ headNumber, round }) => {
      for (let from = 0; from <= headNumber; from += AT_ONCE)
        await recordBlocks(url, { from, to: Math.min(headNumber, from + AT_ONCE - 1) });
      await passedOn();
      for (let i = 0; i < MOST_ROUNDS; i++) {
        await round();
        if ((await passedOn()) === 0) break;
      }
    },
    stop: () => end(child),
  };
}

async function recordBlocks(url: string, { from, to }: { from: number; to: number }): Promise<void> {
  const questions = Array.from({ length: to - from + 1 }, (_, i) => formsOf(from + i)).flat();
  const response = await fetch(url, { method: "POST", body: JSON.stringify(questions) });
  if (!response.ok) throw new Error(`Blocks from ${from} were not recorded: ${await response.text()}`);
  await response.arrayBuffer();
}

/** Header, block with its transactions, receipts. */
function formsOf(number: number) {
  const block = `0x${number.toString(16)}`;
  return [
    { id: 1, method: "eth_getBlockByNumber", params: [block, false] },
    { id: 2, method: "eth_getBlockByNumber", params: [block, true] },
    { id: 3, method: "eth_getBlockReceipts", params: [block] },
  ];
}
