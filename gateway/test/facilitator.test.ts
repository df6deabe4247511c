import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { PrivateKeyAccount } from "viem/accounts";
import { type PaymentChain, startPaymentChain } from "../../deploy/devnet/usdc/testkit.ts";
import { createLog } from "../../services/shared/logging/log.ts";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { runProgram, startProgram } from "../../services/shared/testkit/process.ts";
import {
  type RunningFacilitator,
  readFacilitatorConfig,
  startFacilitator,
} from "../payments/facilitator/service.ts";
import { expectErrorForm } from "../testkit/expect-error.ts";
import { until } from "../testkit/until.ts";

interface Verdict {
  isValid?: boolean;
  invalidReason?: string;
  success?: boolean;
  errorReason?: string;
  transaction?: `0x${string}`;
}

describeWithChain("gateway: built-in facilitator", () => {
  const TILL = `0x${"71".repeat(20)}` as const;
  const TOKEN = "a token of the tests";
  let chain: PaymentChain;
  let facilitator: RunningFacilitator;
  let payer: PrivateKeyAccount;
  const lines: Record<string, unknown>[] = [];

  const start = async (env: Record<string, string> = {}) => {
    const { key } = await chain.createWallet();
    const config = readFacilitatorConfig({
      FACILITATOR_PORT: "0",
      FACILITATOR_PRIVATE_KEY: key,
      X402_PAY_TO: TILL,
      X402_FACILITATOR_TOKEN: TOKEN,
      EVM_RPC_8453: chain.url,
      ...env,
    });
    const write = (line: string) => void lines.push(JSON.parse(line));
    return startFacilitator(config, {
      log: createLog({ name: "facilitator", level: "debug", destination: { write } }),
    });
  };
  before(async () => {
    chain = await startPaymentChain();
    facilitator = await start();
    [payer] = (await chain.createPayers(1)) as [PrivateKeyAccount];
  });
  after(async () => {
    await facilitator?.stop();
    await chain?.stop();
  });

  const REQUIREMENTS: PaymentRequirements = {
    scheme: "exact",
    network: "eip155:8453",
    asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    amount: "50000",
    payTo: TILL,
    maxTimeoutSeconds: 60,
    extra: { name: "USD Coin", version: "2" },
  };
  const sign = async (
    from: PrivateKeyAccount,
    changes: Partial<PaymentRequirements> = {},
  ): Promise<PaymentPayload> => {
    const accepted = { ...REQUIREMENTS, ...changes };
    const { payload } = await new ExactEvmScheme(from).createPaymentPayload(2, accepted);
    return { x402Version: 2, accepted, payload } as PaymentPayload;
  };
  const post = (path: string, body: unknown, init: { url?: string; token?: string | null } = {}) => {
    const { url = facilitator.url, token = TOKEN } = init;
    return fetch(url + path, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: {
        "content-type": "application/json",
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
    });
  };
  const postPayment = async (
    path: string,
    paymentPayload: PaymentPayload,
    requirements?: PaymentRequirements,
  ) => {
    const paymentRequirements = requirements ?? paymentPayload.accepted;
    const answer = await post(path, { x402Version: 2, paymentPayload, paymentRequirements });
    expect(answer.status).to.equal(200);
    return (await answer.json()) as Verdict;
  };

  it("reports what it settles and by which wallet", async () => {
    const answer = await fetch(`${facilitator.url}/supported`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const { kinds, signers } = (await answer.json()) as {
      kinds: unknown[];
      signers: Record<string, string[]>;
    };
    expect(kinds).to.deep.equal([{ x402Version: 2, scheme: "exact", network: "eip155:8453" }]);
    expect(signers["eip155:*"]).to.deep.equal([facilitator.address]);
  });

  it("checks and settles a payment, once", async () => {
    const payment = await sign(payer);
    expect(await postPayment("/verify", payment)).to.include({ isValid: true });
    const before = await chain.balanceOf(TILL);
    const settled = await postPayment("/settle", payment);
    expect(settled.success).to.equal(true);
    const hash = settled.transaction as `0x${string}`;
    expect((await chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
    expect((await chain.balanceOf(TILL)) - before).to.equal(50_000n);
    expect(await postPayment("/verify", payment)).to.deep.include({
      isValid: false,
      invalidReason: "invalid_exact_evm_nonce_already_used",
    });
    expect((await postPayment("/settle", payment)).success).to.equal(false);
    expect((await chain.balanceOf(TILL)) - before).to.equal(50_000n);
  });

  it("works for one address, on one network, without Permit2", async () => {
    const stranger = `0x${"99".repeat(20)}` as const;
    const forStranger = await sign(payer, { payTo: stranger });
    for (const path of ["/verify", "/settle"]) {
      const verdict = await postPayment(path, forStranger);
      expect(verdict.isValid ?? verdict.success).to.equal(false);
      expect(verdict.invalidReason ?? verdict.errorReason).to.equal("invalid_exact_evm_recipient_mismatch");
    }
    const elsewhere = await sign(payer, { network: "eip155:84532" });
    expect((await postPayment("/verify", elsewhere)).isValid).to.equal(false);
    const { signature } = (await sign(payer)).payload;
    const permit = { ...(await sign(payer)), payload: { signature, permit2Authorization: {} } };
    expect((await postPayment("/verify", permit)).invalidReason).to.equal("unsupported_payload_type");
    expect(await chain.balanceOf(stranger)).to.equal(0n);
  });

  it("works for USDC alone, and for no authorization that is good for longer than was offered", async () => {
    const other = await sign(payer, { asset: `0x${"5d".repeat(20)}` });
    const late = await sign(payer, { maxTimeoutSeconds: 600 });
    const offered = { ...late.accepted, maxTimeoutSeconds: 60 };
    for (const path of ["/verify", "/settle"]) {
      const asset = await postPayment(path, other);
      expect(asset.invalidReason ?? asset.errorReason).to.equal("invalid_exact_evm_asset_mismatch");
      const time = await postPayment(path, { ...late, accepted: offered }, offered);
      expect(time.invalidReason ?? time.errorReason).to.equal("invalid_exact_evm_valid_before_too_late");
    }
  });

  it("returns 400 for what it cannot read, and 401 without the right token", async () => {
    const payment = await sign(payer);
    const bodies = [
      "",
      "{",
      "[]",
      "null",
      { paymentPayload: payment },
      { paymentPayload: { ...payment, x402Version: 1 }, paymentRequirements: REQUIREMENTS },
      "x".repeat(70_000),
    ];
    const expectForm = async (answer: Response, code: "bad_request" | "unauthorized" | "not_found") => {
      const { status, headers } = answer;
      const session = headers.get("x-session-id");
      expectErrorForm(
        { status, type: headers.get("content-type"), session, body: await answer.text() },
        code,
      );
    };
    for (const body of bodies) await expectForm(await post("/verify", body), "bad_request");
    const good = { paymentPayload: payment, paymentRequirements: REQUIREMENTS };
    const unreadable = { "content-encoding": "zip" };
    const unknown = { "content-type": "application/json; charset=iso-8859-1" };
    for (const more of [unreadable, unknown]) {
      const headers = { "content-type": "application/json", authorization: `Bearer ${TOKEN}`, ...more };
      const init = { method: "POST", headers, body: JSON.stringify(good) };
      await expectForm(await fetch(`${facilitator.url}/verify`, init), "bad_request");
    }
    for (const token of [null, "", "another", `${TOKEN} `.trim().slice(1)])
      await expectForm(await post("/settle", good, { token }), "unauthorized");
    await expectForm(await post("/other", good), "not_found");
    expect((await fetch(`${facilitator.url}/livez`)).status).to.equal(200);
  });

  it("settles many at once, also while some of them fail", async () => {
    const rich = await chain.createPayers(12);
    const poor = await chain.createPayers(6, 49_999n);
    const payers = [...rich, ...poor].sort(() => Math.random() - 0.5);
    const before = await chain.balanceOf(TILL);
    const outcomes = await Promise.all(
      payers.map(async (account) => ({ account, ...(await postPayment("/settle", await sign(account))) })),
    );
    for (const { account, success } of outcomes) expect(success).to.equal(rich.includes(account));
    expect((await chain.balanceOf(TILL)) - before).to.equal(12n * 50_000n);
  });

  it("reports its balance and what it has settled", async () => {
    // As any path there without the token.
    expect((await fetch(`${facilitator.url}/metrics`)).status).to.equal(401);
    const metrics = await (await fetch(`${facilitator.adminUrl}/metrics`)).text();
    const balance = Number(/facilitator_balance_ether\{[^}]*\} (\S+)/.exec(metrics)?.[1]);
    const wei = await chain.client.getBalance({ address: facilitator.address as `0x${string}` });
    expect(balance).to.equal(Number(wei) / 1e18);
    expect(metrics).to.match(/facilitator_settlements_total\{[^}]*outcome="settled"[^}]*\} [1-9]/);
  });

  it("starts while the chain is unreachable, reports it, and never claims a settlement", async () => {
    const blind = await start({ EVM_RPC_8453: "http://127.0.0.1:9/secret-key" });
    const payment = await sign(payer);
    for (const path of ["/verify", "/settle"]) {
      const body = { paymentPayload: payment, paymentRequirements: REQUIREMENTS };
      const text = await (await post(path, body, { url: blind.url })).text();
      expect(text).not.to.contain("secret-key");
      expect(text).not.to.match(/"(success|isValid)":true/);
    }
    expect(await (await fetch(`${blind.adminUrl}/metrics`)).text()).not.to.match(
      /facilitator_balance_ether\{/,
    );
    expect(JSON.stringify(lines)).not.to.contain("secret-key");
    await blind.stop();
  });

  it("as a process survives a chain that refuses every request, also for an asset it has not seen", async () => {
    const rpc = createServer((_req, res) => void res.writeHead(401).end("no"));
    await new Promise<void>((resolve) => rpc.listen(0, "127.0.0.1", resolve));
    const { port } = rpc.address() as AddressInfo;
    const child = startProgram("gateway/payments/facilitator/main.ts", {
      env: {
        FACILITATOR_PORT: "0",
        FACILITATOR_PRIVATE_KEY: `0x${"42".repeat(32)}`,
        X402_PAY_TO: TILL,
        EVM_RPC_8453: `http://127.0.0.1:${port}/`,
      },
    });
    await until(() => child.stdout().includes('"listening"'));
    const { url } = JSON.parse(child.stdout().split("\n")[0] ?? "") as { url: string };
    const payment = await sign(payer);
    for (const path of ["/verify", "/settle", "/verify"]) {
      const body = { paymentPayload: payment, paymentRequirements: REQUIREMENTS };
      const answer = await post(path, body, { url });
      const session = answer.headers.get("x-session-id");
      const type = answer.headers.get("content-type");
      expectErrorForm({ status: answer.status, type, session, body: await answer.text() }, "unavailable");
    }
    expect((await fetch(`${url}/livez`)).status).to.equal(200);
    child.signal("SIGKILL");
    await child.finished;
    rpc.close();
  });

  it("as a process names what it lacks, and never shows its key", async () => {
    const lacking = await runProgram("gateway/payments/facilitator/main.ts");
    expect(lacking.code).to.equal(78);
    for (const name of ["FACILITATOR_PRIVATE_KEY", "X402_PAY_TO", "EVM_RPC_8453"])
      expect(lacking.stdout).to.contain(name);
    const wrong = await runProgram("gateway/payments/facilitator/main.ts", {
      env: { FACILITATOR_PRIVATE_KEY: "0xhunter2" },
    });
    expect(wrong.code).to.equal(78);
    expect(wrong.stdout).to.contain("FACILITATOR_PRIVATE_KEY").and.not.contain("hunter2");
  });
});
