import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, afterEach, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { runProgram, startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { fetchWith, type Payer, receiptOf, signFor } from "../testkit/payments/payer.ts";
import {
  PAID_PATH,
  PAID_QUERY,
  type PaymentEnvironment,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { until } from "../testkit/until.ts";
import { answerTable, type FakeUpstream, startFakeUpstream, TABLE_TEXT } from "../testkit/upstream.ts";

describeThorough("gateway: payments over the death of a gateway", () => {
  let world: PaymentEnvironment;
  let service: FakeUpstream;
  let folder: string;
  let gateway: TestProcess;
  let payUrl: string;
  let payer: Payer;
  let count = 0;
  const newUrl = () => {
    count += 1;
    return `${payUrl}${PAID_PATH}?${PAID_QUERY}&offset=${count}`;
  };
  /** The same address whichever process answers: payments are bound to it. */
  let port = 0;

  const start = async (env: Readonly<Record<string, string>> = {}) => {
    gateway = startProgram("gateway/main.ts", {
      env: {
        GATEWAY_PORT: "0",
        DATA_DIR: folder,
        EVM_DEX_URL: service.url,
        EVM_DEX_GRPC: service.grpc,
        LENDING_URL: service.url,
        LENDING_GRPC: service.grpc,
        SOLANA_URL: service.url,
        SOLANA_GRPC: service.grpc,
        EVM_RPC_8453: world.chain.url,
        X402_PAY_TO: world.payTo,
        X402_PORT: String(port),
        X402_FACILITATOR_URL: world.facilitatorProxy.url,
        X402_SETTLE_TIMEOUT_MS: "20000",
        DEADLINE_MS: "20000",
        ...env,
      },
    });
    await until(() => gateway.stdout().includes('"listening"'));
    const line =
      gateway
        .stdout()
        .split("\n")
        .find((text) => text.includes('"selling requests"')) ?? "";
    payUrl = JSON.parse(line).url;
    port = Number(new URL(payUrl).port);
  };
  const kill = async () => {
    gateway.signal("SIGKILL");
    await gateway.finished;
  };
  const payments = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram("gateway/cli/payments.ts", {
      args,
      env: { DATA_DIR: folder },
    });
    expect(code, stderr).to.equal(0);
    return stdout;
  };
  const expectData = async (answer: Response) => {
    expect(answer.status, await answer.clone().text()).to.equal(200);
    expect(await answer.text()).to.equal(TABLE_TEXT);
    expect(receiptOf(answer)?.success).to.equal(true);
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-test-"));
    [world, service] = await Promise.all([startPaymentEnvironment(), startFakeUpstream()]);
    payer = await world.createPayer(10_000_000n);
    await start();
  });
  afterEach(() => {
    world.facilitatorProxy.overrides = {};
    service.answer = answerTable;
  });
  after(async () => {
    gateway?.signal("SIGKILL");
    await gateway?.finished;
    await service?.stop();
    await world?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Sends a request, kills the gateway when `moment` resolves, and starts another one. */
  const dieWhile = async (response: Promise<Response>, moment: Promise<void>) => {
    const outcome = response.then(
      () => "answered",
      () => "gone",
    );
    await moment;
    await kill();
    expect(await outcome).to.equal("gone");
    await start();
  };
  const moment = () => {
    let reach = () => {};
    const reached = new Promise<void>((resolve) => {
      reach = resolve;
    });
    return { reach, reached };
  };

  it("killed between checking and settling: not charged, and the payment is still good", async () => {
    const url = newUrl();
    const payment = await signFor(payer, url);
    const { reach, reached } = moment();
    service.answer = () => reach();
    await world.expectPaid(payer, 0, () => dieWhile(fetchWith(url, payment), reached));
    service.answer = answerTable;
    await world.expectPaid(payer, 1, async () => expectData(await fetchWith(url, payment)));
  });

  it("killed before its settlement was carried out: the same payment is settled once", async () => {
    const url = newUrl();
    const payment = await signFor(payer, url);
    const { reach, reached } = moment();
    world.facilitatorProxy.overrides["/settle"] = async () => {
      reach();
      return "never";
    };
    await world.expectPaid(payer, 0, () => dieWhile(fetchWith(url, payment), reached));
    world.facilitatorProxy.overrides = {};
    expect(await payments("list", "--state", "open")).to.match(/open +0\.05 +0x/);
    await world.expectPaid(payer, 1, async () => expectData(await fetchWith(url, payment)));
    await world.expectPaid(payer, 0, async () => expectData(await fetchWith(url, payment)));
  });

  const dieAfterSettling = async (send: (url: string) => Promise<Response>, url: string) => {
    const { reach, reached } = moment();
    world.facilitatorProxy.overrides["/settle"] = async (pass) => {
      await pass();
      reach();
      return "never";
    };
    await world.expectPaid(payer, 1, () => dieWhile(send(url), reached));
    world.facilitatorProxy.overrides = {};
  };

  it("killed between settling and answering: the same payment has its data, not charged again", async () => {
    const url = newUrl();
    const payment = await signFor(payer, url);
    await dieAfterSettling(() => fetchWith(url, payment), url);
    const requestsBefore = service.seen.length;
    await world.expectPaid(payer, 0, async () => expectData(await fetchWith(url, payment)));
    // The service's response was stored before anything was charged.
    expect(service.seen).to.have.length(requestsBefore);
  });

  it("killed between settling and answering: so has a client that pays anew, and the next one is charged", async () => {
    const url = newUrl();
    await dieAfterSettling((at) => payer.fetch(at), url);
    await world.expectPaid(payer, 0, async () => expectData(await payer.fetch(url)));
    await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(url)));
  });

  it("stopped while it settles: the client has its response first", async () => {
    const url = newUrl();
    const { reach, reached } = moment();
    world.facilitatorProxy.overrides["/settle"] = async (pass) => {
      reach();
      await until(() => gateway.stdout().includes('"draining"'));
      return pass();
    };
    await world.expectPaid(payer, 1, async () => {
      const response = payer.fetch(url);
      await reached;
      gateway.signal("SIGTERM");
      await expectData(await response);
    });
    expect((await gateway.finished).code).to.equal(0);
    await start();
  });

  it("stopped with less time than it needs to settle: the payment is brought to its end, its client has the data later", async () => {
    gateway.signal("SIGTERM");
    await gateway.finished;
    await start({ DRAIN_TIMEOUT_MS: "100" });
    const url = newUrl();
    const payment = await signFor(payer, url);
    const { reach, reached } = moment();
    let cut = (): void => {};
    const isCut = new Promise<void>((resolve) => {
      cut = resolve;
    });
    world.facilitatorProxy.overrides["/settle"] = async (pass) => {
      reach();
      await isCut;
      return pass();
    };
    await world.expectPaid(payer, 1, async () => {
      const outcome = fetchWith(url, payment).then(
        () => "answered",
        () => "cut",
      );
      await reached;
      gateway.signal("SIGTERM");
      expect(await outcome).to.equal("cut");
      cut();
      expect((await gateway.finished).code).to.equal(0);
    });
    // Known as settled by the process that was stopped: nothing is left for a janitor.
    expect(await payments("list", "--state", "open")).not.to.match(/0x/);
    world.facilitatorProxy.overrides = {};
    await start();
    await world.expectPaid(payer, 0, async () => expectData(await fetchWith(url, payment)));
  });

  it("and the operator reads the outcome of each payment", async () => {
    let records: Record<string, string | boolean | null>[] = [];
    // A delivery is written down when the connection leaves no doubt, or after five seconds.
    await until(async () => {
      records = JSON.parse(await payments("list", "--json"));
      return records[0]?.answeredAt !== null;
    });
    expect(records).to.have.length.greaterThan(4);
    for (const record of records) {
      expect(record).to.include({
        state: "settled",
        amountUsd: "0.05",
        amount: "50000",
        endpoint: PAID_PATH,
        payer: payer.address.toLowerCase(),
        payTo: world.payTo,
      });
      const hash = record.transaction as `0x${string}`;
      expect((await world.chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
      for (const name of ["time", "settledAt"]) expect(Date.parse(String(record[name]))).to.be.above(0);
      // Some of the gateways were killed before they could be sure.
      expect(record.owed).to.equal(record.answeredAt === null);
    }
    const text = await payments("list", "--limit", "2");
    expect(text).to.match(/^TIME +STATE +USDC +PAYER +ENDPOINT +TRANSACTION +ANSWERED\n/);
    expect(text).to.contain("2 of 2 settled: 0.1 USDC");
  });

  it("the command explains itself and exits with 2 when called wrongly", async () => {
    for (const args of [[], ["show"], ["list", "--state", "lost"], ["list", "--limit", "0"], ["list", "x"]]) {
      const { code, stderr, stdout } = await runProgram("gateway/cli/payments.ts", {
        args,
        env: { DATA_DIR: folder },
      });
      expect(code, args.join(" ")).to.equal(2);
      expect(stderr).to.contain("Usage:");
      expect(stdout).to.equal("");
    }
  });
});
