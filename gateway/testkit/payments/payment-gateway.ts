import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type PaymentChain, startPaymentChain } from "../../../deploy/devnet/usdc/testkit.ts";
import { createLog } from "../../../services/shared/logging/log.ts";
import type { Environment } from "../../../services/shared/settings/settings.ts";
import { startProgram } from "../../../services/shared/testkit/process.ts";
import type { GatewayConfig, PaymentConfig } from "../../config.ts";
import { readFacilitatorConfig, startFacilitator } from "../../payments/facilitator/service.ts";
import type { PayHostParts } from "../../payments/flow/pay-host.ts";
import { startTestGateway, type TestGateway } from "../gateway.ts";
import { until } from "../until.ts";
import { type FacilitatorProxy, startFacilitatorProxy } from "./facilitator-proxy.ts";
import { createPayer, type Payer } from "./payer.ts";

/** USDC's chain, the built-in facilitator behind a proxy that can fail, and the address that is paid. */
export interface PaymentEnvironment {
  readonly chain: PaymentChain;
  readonly facilitatorProxy: FacilitatorProxy;
  /** The address that is paid. */
  readonly payTo: `0x${string}`;
  /** The wallet that pays for gas. */
  readonly facilitatorAddress: `0x${string}`;
  readonly folder: string;
  /** What a gateway needs to sell here; changes on top. */
  config(changes?: Partial<PaymentConfig>): PaymentConfig;
  createPayers(count: number, amount?: bigint): Promise<Payer[]>;
  createPayer(amount?: bigint): Promise<Payer>;
  /** Received so far. */
  received(): Promise<bigint>;
  /** Asserts that the work moves so many payments from this payer to the paid address, and nothing else of either. */
  expectPaid<T>(payer: Payer, payments: number, work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export const PRICE = 50_000n;
export const PAID_PATH = "/api/v1/solana/token-transactions";
export const PAID_QUERY = "token_address=So11111111111111111111111111111111111111112&days=1";

/** `ownProcess` runs the facilitator apart, as users do: fifty signatures to check at once would hold up this process. */
export async function startPaymentEnvironment({
  ownProcess = false,
  facilitator: more = {},
}: {
  readonly ownProcess?: boolean;
  /** Settings of the facilitator. */
  readonly facilitator?: Readonly<Record<string, string>>;
} = {}): Promise<PaymentEnvironment> {
  const chain = await startPaymentChain();
  const [gas, payee] = await Promise.all([chain.createWallet(), chain.createWallet()]);
  const settings = {
    BIND_HOST: "127.0.0.1",
    FACILITATOR_PORT: "0",
    FACILITATOR_PRIVATE_KEY: gas.key,
    X402_PAY_TO: payee.address,
    EVM_RPC_8453: chain.url,
    ...more,
  };
  const facilitator = await (ownProcess ? startFacilitatorProcess(settings) : startHere(settings));
  const facilitatorProxy = await startFacilitatorProxy(facilitator.url);
  const folder = await mkdtemp(join(tmpdir(), "payments-"));
  const received = () => chain.balanceOf(payee.address);
  const createPayers = async (count: number, amount?: bigint) =>
    (await chain.createPayers(count, amount)).map(createPayer);
  return {
    chain,
    facilitatorProxy,
    payTo: payee.address,
    facilitatorAddress: gas.address,
    folder,
    config: (changes = {}) => ({
      port: 0,
      payTo: payee.address,
      facilitatorUrl: facilitatorProxy.url,
      prices: new Map(),
      rpcUrls: [chain.url],
      // No test is about how fast a busy machine is.
      settleTimeoutMs: 20_000,
      answersKeptMs: 3_600_000,
      ...changes,
    }),
    createPayers,
    createPayer: async (amount) => (await createPayers(1, amount))[0] as Payer,
    received,
    async expectPaid(payer, payments, work) {
      const before = [await chain.balanceOf(payer.address), await received()] as const;
      const result = await work();
      const after = [await chain.balanceOf(payer.address), await received()] as const;
      const paid = PRICE * BigInt(payments);
      expect(before[0] - after[0], "what the payer has paid").to.equal(paid);
      expect(after[1] - before[1], "what has been received").to.equal(paid);
      return result;
    },
    async stop() {
      await facilitatorProxy.stop();
      await facilitator.stop();
      await chain.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function startHere(settings: Environment): Promise<{ url: string; stop(): Promise<void> }> {
  const log = createLog({ name: "facilitator", level: "silent" });
  return startFacilitator(readFacilitatorConfig(settings), { log });
}

async function startFacilitatorProcess(settings: Readonly<Record<string, string>>) {
  const child = startProgram("gateway/payments/facilitator/main.ts", { env: settings });
  await until(() => child.stdout().includes('"listening"'));
  const line =
    child
      .stdout()
      .split("\n")
      .find((text) => text.includes('"listening"')) ?? "";
  return {
    url: JSON.parse(line).url as string,
    async stop() {
      child.signal("SIGTERM");
      await child.finished;
    },
  };
}

export interface PayGateway extends TestGateway {
  /** Of the pay-per-request host. */
  readonly payUrl: string;
  /** Address of the first paid endpoint with good parameters; `n` makes it another resource. */
  urlOf(n?: number): string;
}

/** A gateway of a world, with its payments in the world's folder by default. */
export async function startPayGateway(
  world: PaymentEnvironment,
  options: {
    readonly payment?: Partial<PaymentConfig>;
    readonly config?: Partial<GatewayConfig>;
    readonly parts?: PayHostParts;
  } = {},
): Promise<PayGateway> {
  const gateway = await startTestGateway({
    config: {
      store: { dataDir: world.folder },
      deadlineMs: 20_000,
      payment: world.config(options.payment),
      ...options.config,
    },
    parts: { payment: options.parts ?? {} },
  });
  const payUrl = gateway.payUrl ?? "";
  return {
    ...gateway,
    payUrl,
    urlOf: (n = 0) => `${payUrl}${PAID_PATH}?${PAID_QUERY}&offset=${n}`,
  };
}
