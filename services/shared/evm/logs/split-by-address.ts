import { expectedFalsePositives } from "../bloom.ts";
import type { EvmSource, Hex, LogFilter, LogRange, RawLog } from "../port.ts";
import { compareLogs } from "../source/parse.ts";

/** What scanLogs needs of a source. */
export type LogSource = Pick<EvmSource, "logs" | "headers" | "verifyEmpty">;

/** Blooms that suspect one in so many blocks without cause are believed; fuller ones tell nothing. */
export const MAX_FALSE_POSITIVES = 0.1;

/**
 * A source whose logs may be asked of more contracts than one eth_getLogs takes: as many requests as it needs, one
 * answer. Blocks whose bloom is too full to tell anything of so many contracts are not looked at again: every one of
 * them would be suspected, and asking for their receipts would cost more than the scan.
 */
export function splitByAddress(source: LogSource, maxAddresses: number): LogSource {
  return {
    headers: source.headers,
    async logs(range: LogRange, filter: LogFilter): Promise<RawLog[]> {
      const { addresses = [] } = filter;
      if (addresses.length === 0) return [];
      const parts = splitInto(addresses, maxAddresses).map((part) =>
        source.logs(range, { ...filter, addresses: part }),
      );
      const answers = await Promise.all(parts);
      return answers.length === 1 ? (answers[0] ?? []) : answers.flat().sort(compareLogs);
    },
    async verifyEmpty(headers, answer) {
      const count = answer.filter.addresses?.length ?? 0;
      const telling = headers.filter(
        ({ logsBloom }) => expectedFalsePositives(logsBloom, count) < MAX_FALSE_POSITIVES,
      );
      return telling.length === 0 ? [...answer.logs] : source.verifyEmpty(telling, answer);
    },
  };
}

function splitInto(addresses: readonly Hex[], most: number): Hex[][] {
  const parts: Hex[][] = [];
  for (let at = 0; at < addresses.length; at += most) parts.push(addresses.slice(at, at + most));
  return parts;
}
