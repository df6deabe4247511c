import { decodePaymentSignatureHeader } from "@x402/core/http";
import { parsePaymentPayload } from "@x402/core/schemas";
import type { PaymentPayload } from "@x402/core/types";
import { z } from "zod";
import { ServiceError } from "../../services/shared/errors.ts";
import type { Hex } from "../../services/shared/evm/port.ts";

/** An authorization of EIP-3009. Addresses are lower-case, times are Unix seconds. */
export interface Authorization {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: bigint;
  readonly validAfter: number;
  readonly validBefore: number;
  readonly nonce: Hex;
}

/** A signed payment as a client sent it; only its form has been checked. */
export interface Payment {
  readonly payload: PaymentPayload;
  readonly authorization: Authorization;
  readonly signature: Hex;
  /** From the extension payment-identifier: a repeated request keeps it, whatever its signature. */
  readonly identifier: string | undefined;
}

const lower = (text: string) => text.toLowerCase() as Hex;
const address = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .transform(lower);
/** A uint256 in decimal digits. */
const uint = z.string().regex(/^(0|[1-9]\d{0,77})$/);
// A time beyond the range of a number counts as the end of that range.
const time = uint.transform((text) => Math.min(Number(text), Number.MAX_SAFE_INTEGER));

const exactPayload = z.object({
  // 65 bytes for a plain wallet; signatures of smart wallets are longer.
  signature: z.string().regex(/^0x(?:[0-9a-fA-F]{2}){65,2048}$/),
  authorization: z.object({
    from: address,
    to: address,
    value: uint.transform(BigInt),
    validAfter: time,
    validBefore: time,
    nonce: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/)
      .transform(lower),
  }),
});

const IDENTIFIER = "payment-identifier";
const identifierExtension = z.object({
  info: z.object({ id: z.string().regex(/^[a-zA-Z0-9_-]{16,128}$/) }),
});

/** Reads the header PAYMENT-SIGNATURE. Throws bad_request for anything but version 2, scheme exact, EIP-3009. */
export function readPayment(header: string): Payment {
  const envelope = decode(header);
  const inner = exactPayload.safeParse(envelope.payload);
  if (!inner.success) throw malformed(`its payload has no well-formed ${placeOf(inner.error)}`);
  const { authorization, signature } = inner.data;
  return {
    payload: envelope,
    authorization,
    signature: signature as Hex,
    identifier: readIdentifier(envelope.extensions),
  };
}

function decode(header: string): PaymentPayload {
  let decoded: unknown;
  try {
    decoded = decodePaymentSignatureHeader(header);
  } catch {
    throw malformed("it is not JSON in base64");
  }
  const parsed = parsePaymentPayload(decoded);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw malformed(`it has no well-formed ${issue?.path.join(".") || "payment of x402"}`);
  }
  if (parsed.data.x402Version !== 2) throw malformed("it is not of version 2");
  return parsed.data as PaymentPayload;
}

function readIdentifier(extensions: Record<string, unknown> | null | undefined): string | undefined {
  const sent = extensions && Object.hasOwn(extensions, IDENTIFIER) ? extensions[IDENTIFIER] : undefined;
  if (!hasId(sent)) return undefined;
  const read = identifierExtension.safeParse(sent);
  if (!read.success) {
    throw malformed("its payment-identifier is not 16 to 128 letters, digits, hyphens and underscores");
  }
  return read.data.info.id;
}

/** A client without an identifier returns the extension as it received it. */
function hasId(extension: unknown): boolean {
  if (typeof extension !== "object" || extension === null || !("info" in extension)) return false;
  const { info } = extension;
  return typeof info === "object" && info !== null && "id" in info && info.id !== undefined;
}

function placeOf(error: z.ZodError): string {
  return error.issues[0]?.path.join(".") || "authorization";
}

function malformed(why: string): ServiceError {
  return new ServiceError("bad_request", `The header PAYMENT-SIGNATURE cannot be read: ${why}.`);
}
