import { ServiceError } from "../errors.ts";
import { formatDateTime } from "./cells.ts";
import { integer, unixTime } from "./param.ts";
import { formatValue, parameterError } from "./parameter-error.ts";

/** An earlier block that a table is asked for. Without both it is the head's. */
export interface AsOf {
  readonly at_block?: number | undefined;
  readonly at_time?: number | undefined;
}

/**
 * Parameters of tables that can be told as they were at an earlier block. Their endpoint must `checkAsOf`. Without examples:
 * the examples of an endpoint are one request together, and no block is known on every instance.
 */
export const asOfParams = {
  at_block: integer(
    { min: 0, max: Number.MAX_SAFE_INTEGER },
    {
      description:
        "An addition to the specification: the answer as of the end of this block, of those that are indexed and still kept. Not together with at_time, nor with a stream. Without both, the answer is of the indexed head.",
    },
  ).optional(),
  at_time: unixTime({
    description:
      "An addition to the specification: as at_block, of the last block at or before this time, in Unix seconds.",
  }).optional(),
} as const;

/** Throws bad_request where both were sent. */
export function checkAsOf({ at_block, at_time }: AsOf): void {
  if (at_block === undefined || at_time === undefined) return;
  throw parameterError("at_time", "it was sent together with at_block");
}

export function isAsOf({ at_block, at_time }: AsOf): boolean {
  return at_block !== undefined || at_time !== undefined;
}

/** Its parameter as it was sent. */
export function sentAsOf({ at_block, at_time }: AsOf): { name: "at_block" | "at_time"; value: number } {
  return at_block === undefined
    ? { name: "at_time", value: at_time as number }
    : { name: "at_block", value: at_block };
}

/** The 404 for a block that the store cannot tell (any more); `rule` starts with a verb. */
export function notKeptError(asOf: AsOf, rule: string): ServiceError {
  const { name, value } = sentAsOf(asOf);
  return new ServiceError("not_found", `Cannot answer ${name}: ${formatValue(String(value))} ${rule}.`);
}

interface NamedBlock {
  readonly block: number;
  /** Unix seconds. */
  readonly time: number;
}

/** Throws that 404 for what lies beyond the indexed head. */
export function requireIndexed(asOf: AsOf, head: NamedBlock): void {
  const { name, value } = sentAsOf(asOf);
  if (value > (name === "at_block" ? head.block : head.time))
    throw notKeptError(asOf, `is above the indexed head, ${blockText(head)}`);
}

/** A block as the sentences of these errors name it. */
export function blockText({ block, time }: NamedBlock): string {
  return `block ${block} (${time}, ${formatDateTime(time)})`;
}

/** Whether a message is that of such a 404. */
export function isNotKept(message: string): boolean {
  return /^Cannot answer (at_block|at_time): /.test(message);
}
