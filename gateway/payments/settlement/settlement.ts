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

/** The outcome of an attempt to settle; `record` is the payment as it is now. */
export type SettlementResult =
  | { readonly outcome: "settled"; readonly record: PaymentRecord }
  /** Neither settled nor impossible: the transfer is not on the chain yet. */
  | { readonly outcome: "pending"; readonly record: PaymentRecord }
  /** The facilitator refused and the chain has no transfer. Stays open: refusals have been wrong before. */
  | { readonly outcome: "refused"; readonly record: PaymentRecord; readonly reason: string }
  /** The facilitator was not reached, so the payment cannot be settled. */
  | { readonly outcome: "unreached"; readonly record: PaymentRecord }
  | { readonly outcome: "void"; readonly record: PaymentRecord };

/** Settles payments. The chain decides; a facilitator's response is only a hint. */
export interface Settlement {
  /** Requests the settlement of an open payment. Never rejects. */
  settle(record: PaymentRecord): Promise<SettlementResult>;
  /** Reads the outcome of an open payment; others stay as they are. Rejects if chain or store are unreachable. */
  resolve(record: PaymentRecord): Promise<PaymentRecord>;
}

interface SettlementDeps {
  readonly server: Pick<x402ResourceServer, "settlePayment">;
  readonly chain: PaymentChain;
  readonly ledger: Ledger;
  readonly log: Log;
  /** How long to poll the chain for a transfer that was, or may have been, sent. */
  readonly watchMs: number;
}

/** The reason of an expired payment. */
export const EXPIRED_UNUSED = "the authorization has expired unused";

const POLL_INTERVALS_MS = [50, 100, 200, 400];

export function createSettlement({ server, chain, ledger, log, watchMs }: SettlementDeps): Settlement {
  /** Polls until the transfer is on the chain or impossible; undefined after the time limit. */
  const pollStatus = async (
    record: PaymentRecord,
    transaction: Hex | undefined,
  ): Promise<TransferStatus | undefined> => {
    const untilMs = performance.now() + watchMs;
    for (let round = 0; ; round += 1) {
      const status = await readStatus(record, transaction).catch((err: unknown) => {
        log.warn({ err }, "the status of a payment cannot be read from the chain");
        return undefined;
      });
      if (status?.kind === "paid" || status?.kind === "spent") return status;
      const pauseMs = POLL_INTERVALS_MS[Math.min(round, POLL_INTERVALS_MS.length - 1)] as number;
      if (performance.now() + pauseMs > untilMs) return status;
      await sleep(pauseMs);
    }
  };
  const readStatus = (record: PaymentRecord, transaction?: Hex) =>
    chain.readTransferStatus(toTransfer(record), { fromBlock: record.fromBlock, transaction });

  /** Stores the status. The chain keeps it anyway, so an unreachable store stops nothing. */
  const storeOutcome = async (
    record: PaymentRecord,
    status: TransferStatus | undefined,
  ): Promise<PaymentRecord> => {
    const write = async () => {
      if (status?.kind === "paid") return ledger.markSettled(record, status.transaction);
      if (status?.kind === "spent")
        return ledger.markVoid(record, "the authorization was used for another transfer or cancelled");
      const isOver = status?.kind === "unused" && status.time > record.validBefore;
      return isOver ? ledger.markVoid(record, EXPIRED_UNUSED) : record;
    };
    try {
      return await write();
    } catch (err) {
      log.error({ err, payment: record.key }, "the outcome of a payment could not be stored");
      return status?.kind === "paid"
        ? { ...record, state: "settled", transaction: status.transaction }
        : record;
    }
  };

  /** The facilitator's response; undefined if it may have the payment but did not respond. */
  const requestSettlement = async (
    record: PaymentRecord,
  ): Promise<SettleResponse | "unreached" | undefined> => {
    try {
      return await server.settlePayment(record.payload, record.requirements);
    } catch (err) {
      log.warn({ err, payment: record.key }, "the facilitator did not respond to a settlement");
      return err instanceof FacilitatorError && !err.mayHaveArrived ? "unreached" : undefined;
    }
  };
  const storeReason = (record: PaymentRecord, reason: string) =>
    ledger.noteReason(record, reason).catch(() => record);

  return {
    async resolve(record) {
      if (record.state !== "open") return record;
      return storeOutcome(record, await readStatus(record));
    },

    async settle(record) {
      const response = await requestSettlement(record);
      if (response === "unreached") return { outcome: "unreached", record };
      // A plain refusal is checked once: there is no transaction to wait for.
      const isRefused = response?.success === false && parseHash(response.transaction) === undefined;
      const status = isRefused
        ? await readStatus(record).catch(() => undefined)
        : await pollStatus(record, parseHash(response?.transaction));
      const concluded = await storeOutcome(record, status);
      if (response?.success === true && concluded.state !== "settled") {
        log.error(
          { payment: record.key },
          "the facilitator claims a settlement that the chain does not have",
        );
      }
      if (concluded.state !== "open") return { outcome: concluded.state, record: concluded };
      // If the chain is unreachable, a refusal may be wrong.
      if (!isRefused || status?.kind !== "unused") {
        return { outcome: "pending", record: await storeReason(concluded, "not seen on the chain yet") };
      }
      log.warn({ payment: record.key, reason: response?.errorReason }, "settlement was refused");
      const reason = describeReason(response?.errorReason);
      return { outcome: "refused", record: await storeReason(concluded, reason), reason };
    },
  };
}

/** The payment as the chain identifies it. */
export function toTransfer({ asset, payer, payTo, amount, nonce }: PaymentRecord): Transfer {
  return {
    asset: asset as Hex,
    from: payer as Hex,
    to: payTo.toLowerCase() as Hex,
    value: BigInt(amount),
    nonce: nonce as Hex,
  };
}
