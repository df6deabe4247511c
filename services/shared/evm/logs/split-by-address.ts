import { expectedFalsePositives } from "../bloom.ts";
import type { EvmSource, Hex, LogFilter, LogRange, RawLog } from "../port.ts";
import { compareLogs } from "../source/parse.ts";

/** The part of a source that scanLogs needs. */
export type LogSource = Pick<EvmSource, "logs" | "headers" | "verifyEmpty" | "history">;

/** Blooms with more expected false positives than this are ignored. */
export const MAX_FALSE_POSITIVES = 0.1;

/**
 * A source that takes more contracts than one eth_getLogs does: it splits them over several requests and joins the
 * logs. It does not verify blocks whose bloom is too full for so many contracts: all of them would be suspect, and
 * their receipts would cost more than the scan.
 */
export function splitByAddress(source: LogSource, maxAddresses: number): LogSource {
  return {
    headers: source.headers,
    // Takes any number of contracts.
    ...(source.history && { history: source.history }),
    async logs(range: LogRange, filter: LogFilter): Promise<RawLog[]> {
      const { addresses = [] } = filter;
      if (addresses.length === 0) return [];
      const parts = splitInto(addresses, maxAddresses).map((part) =>
        source.logs(range, { ...filter, addresses: part }),
      );
      const responses = await Promise.all(parts);
      return responses.length === 1 ? (responses[0] ?? []) : responses.flat().sort(compareLogs);
    },
    async verifyEmpty(headers, response) {
      const count = response.filter.addresses?.length ?? 0;
      const telling = headers.filter(
        ({ logsBloom }) => expectedFalsePositives(logsBloom, count) < MAX_FALSE_POSITIVES,
      );
      return telling.length === 0 ? [...response.logs] : source.verifyEmpty(telling, response);
    },
  };
}

function splitInto(addresses: readonly Hex[], most: number): Hex[][] {
  const parts: Hex[][] = [];
  for (let at = 0; at < addresses.length; at += most) parts.push(addresses.slice(at, at + most));
  return parts;
}
