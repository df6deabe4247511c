/** An exchange's own event scope an instruction, and whether it tells of the amounts that moved. */
import { fromHex, hasBytes, readU64 } from "./bytes.ts";
import type { EventAmount, EventLayout } from "./layout.ts";
import type { ExchangeCall, ParsedTransaction } from "./parse-transaction.ts";

/** A program that calls itself to tell an event starts the data with this; the event's discriminator follows. */
const EVENT_CALL = fromHex("e445a52e51cb9a1d");

export interface EventLookup {
  readonly call: ExchangeCall;
  /** End of what the instruction called. */
  readonly end: number;
  readonly discriminator: Uint8Array;
  /** Which of several, from 0. */
  readonly nth: number;
}

/** The event's data after its discriminator; undefined where the program did not tell it, or the log was cut. */
export function findEvent(parsed: ParsedTransaction, query: EventLookup): Uint8Array | undefined {
  return query.call.program.layout.events === "cpi"
    ? findCpiEvent(parsed, query)
    : findLoggedEvent(parsed, query);
}

function findCpiEvent(
  parsed: ParsedTransaction,
  { call, end, discriminator, nth }: EventLookup,
): Uint8Array | undefined {
  const { instructions } = parsed.flattened;
  const program = instructions[call.instructionIndex]?.programIdIndex;
  let left = nth;
  for (let at = call.instructionIndex + 1; at < end; at++) {
    const data = parsed.instructionData[at];
    if (data === undefined || instructions[at]?.programIdIndex !== program) continue;
    if (!hasBytes(data, 0, EVENT_CALL) || !hasBytes(data, EVENT_CALL.length, discriminator)) continue;
    if (left-- === 0) return data.subarray(EVENT_CALL.length + discriminator.length);
  }
  return undefined;
}

function findLoggedEvent(
  parsed: ParsedTransaction,
  { call, discriminator, nth }: EventLookup,
): Uint8Array | undefined {
  const source = call.program.layout.events;
  let left = nth;
  for (const logged of parsed.loggedData()) {
    if (logged.instructionIndex !== call.instructionIndex || logged.source !== source) continue;
    const data = Buffer.from(logged.text, "base64");
    if (hasBytes(data, 0, discriminator) && left-- === 0) return data.subarray(discriminator.length);
  }
  return undefined;
}

/** Amounts that moved: into and out of the pool, and of its first and second vault. */
export interface MovedAmounts {
  readonly inOut: readonly [bigint, bigint];
  readonly vaults: readonly [bigint, bigint];
}

/** Undefined if the event tells the amounts that moved; else what it tells instead. */
export function compareEvent(event: EventLayout, data: Uint8Array, moved: MovedAmounts): string | undefined {
  const [first, second] = event.amounts;
  const last = Math.max(
    ...[first, second].flatMap(({ offset, addedOffsets = [] }) => [offset, ...addedOffsets]),
  );
  if (data.length < last + 8) return `${event.name} has ${data.length} bytes, its amounts end at ${last + 8}`;
  const fits = (pair: readonly [bigint, bigint]) =>
    matchesAmount(first, data, pair[0]) && matchesAmount(second, data, pair[1]);
  const pair = event.order === "vaults" ? moved.vaults : moved.inOut;
  if (fits(pair) || (event.order === "any" && fits([pair[1], pair[0]]))) return undefined;
  return `${event.name} tells ${readEventAmount(first, data)} and ${readEventAmount(second, data)}, the vaults moved ${pair[0]} and ${pair[1]}`;
}

function matchesAmount(amount: EventAmount, data: Uint8Array, moved: bigint): boolean {
  const expected = readEventAmount(amount, data);
  if (moved === expected) return true;
  let sums = [0n];
  for (const at of amount.toleranceOffsets ?? []) {
    if (at + 8 > data.length) continue;
    const give = readU64(data, at);
    if (give > 0n) sums = [...sums, ...sums.map((sum) => sum + give)];
  }
  return sums.some((sum) => moved === expected + sum || moved === expected - sum);
}

function readEventAmount({ offset, addedOffsets = [] }: EventAmount, data: Uint8Array): bigint {
  return addedOffsets.reduce((sum, other) => sum + readU64(data, other), readU64(data, offset));
}
