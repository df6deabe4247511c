import { setTimeout as sleep } from "node:timers/promises";
import type { x402ResourceServer } from "@x402/core/server";
import type { SettleResponse } from "@x402/core/types";
import { parseHash } from "../../../services/shared/evm/hex.ts";
import type { Hex } from "../../../services/shared/evm/port.ts";
import type { Log } from "../../../services/shared/logging/log.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { PaymentRecord } from "../ledger/payment-record.ts";
import type { PaymentChain, Transfer, TransferStatus } from "./chain.ts";
import { FacilitatorError } from "./facilitator-client.ts";
import { describeReason } from "./reasons.ts";

/** How an attempt to settle ended; `record` is the payment as it stands now. */
export type SettlementResult =
  | { readonly outcome: "settled"; readonly record: PaymentRecord }
  /** Neither settled nor impossible: nobody has seen the transfer yet. */
  | { readonly outcome: "pending"; readonly record: PaymentRecord }
  /** The facilitator refused and the chain has nothing. It stays open: refusals have been wrong before. */
  | { readonly outcome: "refused"; readonly record: PaymentRecord; readonly reason: string }
  /** The facilitator was never reached, so nothing can come of it. */
  | { readonly outcome: "unreached"; readonly record: PaymentRecord }
  | { readonly outcome: "void"; readonly record: PaymentRecord };

/** Brings payments to an end. What counts is what the chain has; what a facilitator says is a hint. */
export interface Settlement {
  /** Has the open payment settled. Never rejects. */
  settle(record: PaymentRecord): Promise<SettlementResult>;
  /** Looks what has become of an open payment; others stay as they are. Rejects where chain or store cannot be asked. */
  resolve(record: PaymentRecord): Promise<PaymentRecord>;
}

export interface SettlementDeps {
  readonly server: Pick<x402ResourceServer, "settlePayment">;
  readonly chain: PaymentChain;
  readonly ledger: Ledger;
  readonly log: Log;
  /** How long the chain is watched for a transfer that was, or may have been, sent. */
  readonly watchMs: number;
}

/** Why such a payment is void. */
export const EXPIRED_UNUSED = "the authorization has expired unused";

const LOOK_EVERY_MS = [50, 100, 200, 400];

export function createSettlement({ server, chain, ledger, log, watchMs }: SettlementDeps): Settlement {
  /** Looks until the transfer is there or cannot come any more; undefined when the time is over. */
  const watch = async (
    record: PaymentRecord,
    transaction: Hex | undefined,
  ): Promise<TransferStatus | undefined> => {
    const untilMs = performance.now() + watchMs;
    for (let round = 0; ; round += 1) {
      const sighting = await lookAt(record, transaction).catch((err: unknown) => {
        log.warn({ err }, "the chain cannot be asked for a payment");
        return undefined;
      });
      if (sighting?.kind === "paid" || sighting?.kind === "spent") return sighting;
      const pauseMs = LOOK_EVERY_MS[Math.min(round, LOOK_EVERY_MS.length - 1)] as number;
      if (performance.now() + pauseMs > untilMs) return sighting;
      await sleep(pauseMs);
    }
  };
  const lookAt = (record: PaymentRecord, transaction?: Hex) =>
    chain.readTransferStatus(toTransfer(record), { fromBlock: record.fromBlock, transaction });

  /** Writes down what was seen. The chain remembers it anyway, so a store that is away now stops nothing. */
  const conclude = async (
    record: PaymentRecord,
    sighting: TransferStatus | undefined,
  ): Promise<PaymentRecord> => {
    const write = async () => {
      if (sighting?.kind === "paid") return ledger.markSettled(record, sighting.transaction);
      if (sighting?.kind === "spent") return ledger.markVoid(record, "the authorization was used otherwise");
      const isOver = sighting?.kind === "unused" && sighting.time > record.validBefore;
      return isOver ? ledger.markVoid(record, EXPIRED_UNUSED) : record;
    };
    try {
      return await write();
    } catch (err) {
      log.error({ err, payment: record.key }, "what became of a payment could not be stored");
      return sighting?.kind === "paid"
        ? { ...record, state: "settled", transaction: sighting.transaction }
        : record;
    }
  };

  /** What the facilitator says; undefined where it may have the payment and gave no answer. */
  const ask = async (record: PaymentRecord): Promise<SettleResponse | "unreached" | undefined> => {
    try {
      return await server.settlePayment(record.payload, record.requirements);
    } catch (err) {
      log.warn({ err, payment: record.key }, "the facilitator gave no answer to a settlement");
      return err instanceof FacilitatorError && !err.mayHaveArrived ? "unreached" : undefined;
    }
  };
  const note = (record: PaymentRecord, reason: string) =>
    ledger.noteReason(record, reason).catch(() => record);

  return {
    async resolve(record) {
      if (record.state !== "open") return record;
      return conclude(record, await lookAt(record));
    },

    async settle(record) {
      const said = await ask(record);
      if (said === "unreached") return { outcome: "unreached", record };
      // A plain refusal is looked at once: there is no transaction to wait for.
      const isRefused = said?.success === false && parseHash(said.transaction) === undefined;
      const sighting = isRefused
        ? await lookAt(record).catch(() => undefined)
        : await watch(record, parseHash(said?.transaction));
      const concluded = await conclude(record, sighting);
      if (said?.success === true && concluded.state !== "settled") {
        log.error(
          { payment: record.key },
          "the facilitator claims a settlement that the chain does not have",
        );
      }
      if (concluded.state !== "open") return { outcome: concluded.state, record: concluded };
      // Where the chain cannot be asked, a refusal may as well be wrong.
      if (!isRefused || sighting?.kind !== "unused") {
        return { outcome: "pending", record: await note(concluded, "not seen on the chain yet") };
      }
      log.warn({ payment: record.key, reason: said?.errorReason }, "settlement was refused");
      const reason = describeReason(said?.errorReason);
      return { outcome: "refused", record: await note(concluded, reason), reason };
    },
  };
}

/** A payment as the chain knows it. */
export function toTransfer({ asset, payer, payTo, amount, nonce }: PaymentRecord): Transfer {
  return {
    asset: asset as Hex,
    from: payer as Hex,
    to: payTo.toLowerCase() as Hex,
    value: BigInt(amount),
    nonce: nonce as Hex,
  };
}
