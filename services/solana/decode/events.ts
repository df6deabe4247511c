/** An exchange's own event within an instruction, and whether it agrees with the amounts that moved. */
import { fromHex, hasBytes, readU64 } from "./bytes.ts";
import type { EventAmount, EventLayout } from "./layout.ts";
import type { InstructionScope } from "./transaction/parse-transaction.ts";

/** A program that calls itself to emit an event starts the data with this; the event's discriminator follows. */
const EVENT_CALL = fromHex("e445a52e51cb9a1d");

interface EventLookup {
  readonly discriminator: Uint8Array;
  /** Which of several, from 0. */
  readonly nth: number;
}

/** The event's data after its discriminator; undefined if the program emitted none, or the log was cut. */
export function findEvent(scope: InstructionScope, lookup: EventLookup): Uint8Array | undefined {
  return scope.call.program.layout.events === "cpi"
    ? findCpiEvent(scope, lookup)
    : findLoggedEvent(scope, lookup);
}

function findCpiEvent(
  { parsed, call, end }: InstructionScope,
  { discriminator, nth }: EventLookup,
): Uint8Array | undefined {
  const { instructions } = parsed.flattened;
  const program = instructions[call.instructionIndex]?.programIdIndex;
  let left = nth;
  for (let index = call.instructionIndex + 1; index < end; index++) {
    const data = parsed.instructionData[index];
    if (data === undefined || instructions[index]?.programIdIndex !== program) continue;
    if (!hasBytes(data, 0, EVENT_CALL) || !hasBytes(data, EVENT_CALL.length, discriminator)) continue;
    if (left-- === 0) return data.subarray(EVENT_CALL.length + discriminator.length);
  }
  return undefined;
}

function findLoggedEvent(
  { parsed, call }: InstructionScope,
  { discriminator, nth }: EventLookup,
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

/** Undefined if the event agrees with the amounts that moved; else what it says instead. */
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
  const [firstAmount, secondAmount] = [readEventAmount(first, data), readEventAmount(second, data)];
  return `${event.name} has ${firstAmount} and ${secondAmount}, the vaults moved ${pair[0]} and ${pair[1]}`;
}

function matchesAmount(amount: EventAmount, data: Uint8Array, moved: bigint): boolean {
  const expected = readEventAmount(amount, data);
  if (moved === expected) return true;
  let sums = [0n];
  for (const offset of amount.toleranceOffsets ?? []) {
    if (offset + 8 > data.length) continue;
    const tolerance = readU64(data, offset);
    if (tolerance > 0n) sums = [...sums, ...sums.map((sum) => sum + tolerance)];
  }
  return sums.some((sum) => moved === expected + sum || moved === expected - sum);
}

function readEventAmount({ offset, addedOffsets = [] }: EventAmount, data: Uint8Array): bigint {
  return addedOffsets.reduce((sum, other) => sum + readU64(data, other), readU64(data, offset));
}
