import { SpendLimitError } from "./errors.ts";

/** One way to pay, as x402 version 2 has it. */
export interface PaymentRequirements {
  readonly scheme: string;
  /** `eip155:8453` is Base. */
  readonly network: `${string}:${string}`;
  /** In base units of the asset: 50000 are 0.05 USDC. */
  readonly amount: string;
  /** Address of the token. */
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  readonly extra: Record<string, unknown>;
}

/** What a 402 asks for. */
export interface PaymentOffer {
  readonly x402Version: number;
  readonly resource: { readonly url: string };
  /** The one way to pay that the limits were held against. */
  readonly accepts: [PaymentRequirements];
  readonly extensions?: Record<string, unknown>;
}

/** Pays for requests, within limits that are held before anything is signed. */
export interface PaymentOptions {
  /** Signs a payment of the offer, and returns the text for the header PAYMENT-SIGNATURE. */
  readonly pay: (offer: PaymentOffer) => Promise<string> | string;
  /** The only network and asset that are paid with. */
  readonly network: string;
  readonly asset: string;
  /** The most that one request may cost, in base units of the asset. */
  readonly maxPerRequest: bigint;
  /** The most that this client may sign for in all. */
  readonly maxTotal: bigint;
}

/** USDC on Base, which has six decimals. */
export const USDC_ON_BASE = {
  network: "eip155:8453",
  asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
} as const;

/** A client's spending. */
export class Wallet {
  readonly #options: PaymentOptions;
  #signed = 0n;

  constructor(options: PaymentOptions) {
    this.#options = options;
  }

  /** What was signed for so far. A payment that was refused counts: it can be settled until it expires. */
  get signed(): bigint {
    return this.#signed;
  }

  /** The header that pays what the body of a 402 asks for; throws a SpendLimitError where that is too much. */
  async pay(body: unknown): Promise<string> {
    const { offer, amount } = this.#choose(body);
    const { maxPerRequest, maxTotal, pay } = this.#options;
    if (amount > maxPerRequest)
      throw new SpendLimitError(
        `The request costs ${amount}, more than the ${maxPerRequest} of maxPerRequest.`,
      );
    if (this.#signed + amount > maxTotal)
      throw new SpendLimitError(
        `The request costs ${amount}, and ${this.#signed} of the ${maxTotal} of maxTotal are signed for.`,
      );
    // Before the signer is waited for: requests that are made together share the limit.
    this.#signed += amount;
    try {
      return await pay(offer);
    } catch (error) {
      this.#signed -= amount;
      throw error;
    }
  }

  /** The first way to pay with our asset. The signer sees no other, so that it cannot sign one that was not looked at. */
  #choose(body: unknown): { offer: PaymentOffer; amount: bigint } {
    const { network, asset } = this.#options;
    const terms = body as Partial<PaymentOffer> | undefined;
    const ways: readonly Partial<PaymentRequirements>[] = Array.isArray(terms?.accepts) ? terms.accepts : [];
    const chosen = ways.find(
      (way) =>
        way.scheme === "exact" &&
        way.network === network &&
        String(way.asset).toLowerCase() === asset.toLowerCase() &&
        // A negative amount would raise what is left.
        /^\d{1,78}$/.test(String(way.amount)),
    ) as PaymentRequirements | undefined;
    if (terms?.x402Version !== 2 || terms.resource === undefined || chosen === undefined)
      throw new SpendLimitError(`The request cannot be paid for with ${asset} on ${network}.`);
    const { x402Version, resource, extensions } = terms;
    const offer = { x402Version, resource, accepts: [chosen], ...(extensions && { extensions }) };
    return { offer: offer as PaymentOffer, amount: BigInt(chosen.amount) };
  }
}
