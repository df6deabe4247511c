import type { BlockHeader, EthCall, EvmSource, Hex } from "../../../shared/evm/port.ts";
import { CHAIN_ID, hash } from "./rows.ts";

export interface FakeSource extends EvmSource {
  /** Calls so far, one entry per request. */
  readonly calls: (readonly EthCall[])[];
  readonly headerRequests: (readonly number[])[];
}

/** A source that returns what a test gives it; any other request is an error. */
export function createFakeSource({
  headers = [],
  call,
}: {
  /** The chain's headers by number; the last is the head. */
  headers?: readonly BlockHeader[];
  call?: (call: EthCall) => Hex | null;
}): FakeSource {
  const calls: (readonly EthCall[])[] = [];
  const headerRequests: (readonly number[])[] = [];
  const byNumber = new Map(headers.map((header) => [header.number, header]));
  const refuse = (what: string) => async (): Promise<never> => {
    throw new Error(`The test did not expect ${what}.`);
  };
  return {
    chainId: CHAIN_ID,
    calls,
    headerRequests,
    async head() {
      const last = headers.at(-1);
      if (last === undefined) throw new Error("The fake chain has no head.");
      return last;
    },
    async headers(numbers) {
      headerRequests.push(numbers);
      return numbers.map((number) => byNumber.get(number) ?? null);
    },
    async call(requested) {
      if (call === undefined) throw new Error("The test did not expect a call.");
      calls.push(requested);
      return requested.map(call);
    },
    requireFinal() {},
    async recheck() {},
    finalBlock: refuse("finalBlock"),
    blocks: refuse("blocks"),
    blocksWithLogs: refuse("blocksWithLogs"),
    logs: refuse("logs"),
    verifyEmpty: refuse("verifyEmpty"),
    waitForHead: refuse("waitForHead"),
    async close() {},
  };
}

/** Headers 0 to `last`, `intervalS` apart; those above `forkedAbove` are of another branch. */
export function headersUpTo(
  last: number,
  options: { intervalS?: number; startS?: number; forkedAbove?: number; branch?: number } = {},
): BlockHeader[] {
  const { intervalS = 2, startS = 1_700_000_000, forkedAbove = last, branch = 1 } = options;
  const hashOf = (number: number) => hash(number, number > forkedAbove ? branch : 0);
  return Array.from({ length: last + 1 }, (_, number) => ({
    number,
    hash: hashOf(number),
    parentHash: number === 0 ? hash(0, 99) : hashOf(number - 1),
    timestamp: startS + number * intervalS,
    logsBloom: `0x${"00".repeat(256)}`,
  }));
}
