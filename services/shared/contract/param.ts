import { z } from "zod";
import { evmChainName, listAddedChainIds } from "../evm/chains.ts";
import { isSolanaAddress } from "./base58.ts";
import { formatValue } from "./parameter-error.ts";

/**
 * Parameter schemas: from the text on the wire to a typed value. They are strict (one spelling for each value), and
 * their error messages are phrases that follow the value: `"1e3" is not an integer in plain decimal digits`.
 * z.toJSONSchema with io "input" reads type, bounds, pattern, enum and default from them.
 */
export interface ParamDocs {
  readonly description: string;
  /** A value that the parameter accepts, as sent. */
  readonly example?: string;
  /**
   * A default that the specification names and that is not applied (`after_time`, `before_time`); the description says what
   * applies instead. Not `default` in OpenAPI: a client that fills in defaults would request two days of January 2025.
   */
  readonly documentedDefault?: number;
}

const INTEGER = /^-?(?:0|[1-9]\d*)$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
export const EVM_ADDRESS = /^0x[a-fA-F0-9]{40}$/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
/** 9999-12-31T23:59:59Z: accepts "far in the future" and rejects milliseconds sent as seconds. */
export const LAST_UNIX_SECOND = 253_402_300_799;
const TEXT_LIMIT = 256;

type Context = z.core.$RefinementCtx;

function number(pattern: RegExp, rule: string): (value: unknown, context: Context) => unknown {
  return (value, context) => {
    if (typeof value === "string" && value !== "-0" && pattern.test(value)) {
      const read = Number(value);
      if (Number.isFinite(read)) return read;
    }
    context.addIssue(rule);
    return z.NEVER;
  };
}

const readInteger = number(INTEGER, "is not an integer in plain decimal digits");
const readDecimal = number(DECIMAL, "is not a number in plain decimal digits");

function readBoolean(value: unknown, context: Context): unknown {
  if (value === "true") return true;
  if (value === "false") return false;
  context.addIssue("is neither true nor false");
  return z.NEVER;
}

/** Bounds of an integer, both inclusive. */
export interface Bounds {
  readonly min: number;
  readonly max?: number;
}

function bounded({ min, max }: Bounds) {
  const schema = z.int().min(min);
  return max === undefined ? schema : schema.max(max);
}

export function integer(bounds: Bounds, docs: ParamDocs) {
  return z.preprocess(readInteger, bounded(bounds)).meta({ ...docs });
}

/** A decimal number from 0 up. */
export function nonNegativeNumber(docs: ParamDocs) {
  return z.preprocess(readDecimal, z.number().min(0)).meta({ ...docs });
}

export function boolean(docs: ParamDocs) {
  return z.preprocess(readBoolean, z.boolean()).meta({ ...docs });
}

export function oneOf<const V extends readonly [string, ...string[]]>(values: V, docs: ParamDocs) {
  return z.enum(values).meta({ ...docs });
}

/** Free text, not empty. */
export function text(docs: ParamDocs) {
  return z
    .string()
    .min(1)
    .max(TEXT_LIMIT, `is longer than ${TEXT_LIMIT} characters`)
    .meta({ ...docs });
}

const evmItem = z
  .string()
  .regex(EVM_ADDRESS, "is not 0x followed by 40 hexadecimal digits")
  .transform((address) => address.toLowerCase() as `0x${string}`);

const solanaItem = z
  .string()
  .regex(BASE58, "is not 32 to 44 base58 characters")
  .refine(isSolanaAddress, "does not decode to the 32 bytes of a Solana address");

/** Any letter case in, lower case out. */
export function evmAddress(docs: ParamDocs) {
  return evmItem.meta({ ...docs });
}

export function solanaAddress(docs: ParamDocs) {
  return solanaItem.meta({ ...docs });
}

/** Addresses of a list at most, as over gRPC. Percent-encoded commas included, so many fit into the longest URL that is taken. */
export const MAX_LIST_ADDRESSES = 500;

/** A comma-separated list of addresses in one value. */
export function evmAddresses(docs: ParamDocs) {
  return listOf(evmItem, docs);
}

export function solanaAddresses(docs: ParamDocs) {
  return listOf(solanaItem, docs);
}

function listOf<I extends z.ZodType>(item: I, docs: ParamDocs) {
  const list = z.array(item).min(1).max(MAX_LIST_ADDRESSES);
  return z.preprocess((value, context) => readList(item, value, context), list).meta({ ...docs });
}

/** The items as they were sent. A wrong one is named: the list itself may be thousands of characters long. */
function readList(item: z.ZodType, value: unknown, context: Context): unknown {
  if (typeof value !== "string") {
    context.addIssue("is not a comma-separated list");
    return z.NEVER;
  }
  const items = value.split(",", MAX_LIST_ADDRESSES + 1);
  if (items.length > MAX_LIST_ADDRESSES) {
    context.addIssue(`has more than ${MAX_LIST_ADDRESSES} items`);
    return z.NEVER;
  }
  for (const [at, one] of items.entries()) {
    const rule = item.safeParse(one).error?.issues.at(-1)?.message;
    if (rule === undefined) continue;
    context.addIssue(`has item ${at + 1}, ${formatValue(one)}, which ${rule}`);
    return z.NEVER;
  }
  return items;
}

export function unixTime(docs: ParamDocs) {
  return integer({ min: 0, max: LAST_UNIX_SECOND }, docs);
}

/**
 * The chain ids an endpoint takes; 8453 where none is sent. Of the specification's chains those that it names, and every
 * chain that the deployments add: these may become known after the declaration was made.
 */
export function chainId(specified: readonly number[]) {
  const listAllowed = () => [...specified, ...listAddedChainIds()];
  const schema = z.unknown().superRefine((id, { addIssue }) => {
    const values = listAllowed();
    if (!values.includes(id as number)) addIssue({ code: "invalid_value", values, input: id });
  }) as z.ZodType<number>;
  return z
    .preprocess(
      readInteger,
      schema.meta({
        type: "integer",
        get enum() {
          return listAllowed();
        },
      }),
    )
    .default(8453)
    .meta({
      example: "8453",
      get description() {
        return `EVM chain ID: ${listAllowed()
          .map((id) => `${id} (${evmChainName(id)})`)
          .join(" or ")}.`;
      },
    });
}

/** `limit` and `offset` of a paged list: both start at their specified defaults. */
export function page<const D extends number>({
  limit,
  maxLimit,
  maxOffset,
}: {
  limit: D;
  maxLimit: number;
  maxOffset: number;
}) {
  return {
    limit: z
      .preprocess(readInteger, z.int().min(1).max(maxLimit))
      .default(limit)
      .meta({ description: "Number of rows to return at most.", example: "10" }),
    offset: z
      .preprocess(readInteger, z.int().min(0).max(maxOffset))
      .default(0)
      .meta({ description: "Number of rows to skip before the first returned one.", example: "0" }),
  } as const;
}

export function evmPage() {
  return page({ limit: 100, maxLimit: 10_000, maxOffset: 100_000_000 });
}

export function solanaPage() {
  return page({ limit: 100, maxLimit: 1_000, maxOffset: 100_000 });
}
