import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer as createHttp, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, createServer as createTcp, type Server as TcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { privateKeyToAccount } from "viem/accounts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { mintApiKey } from "../auth/keys/api-key.ts";
import { until } from "../testkit/until.ts";

/** Each is found by its own words, wherever it comes out. */
const SECRET = {
  bootstrapKey: "secret bootstrap key",
  facilitatorToken: "secret-facilitator-token",
  rpcPath: "SecretKeyInThePathOfAnRpcUrl",
  rpcQuery: "SecretKeyInTheQueryOfAnRpcUrl",
  rpcPassword: "secret'password-of-an-rpc",
  socketKey: "SecretKeyOfAWebsocket",
  redisPassword: "secret#password-of-redis",
  mongoPassword: "secret-password-of-mongo",
  brokenPassword: "secret/pass@word'of-mongo",
  privateKey: `0x${"5ec4e7".repeat(10)}abcd`,
  brokenKey: `0x${"f".repeat(60)}5ec4`,
};
const PAY_TO = `0x${"71".repeat(20)}`;
const PAYMENT_SIGNATURE = `0x${"5e".repeat(65)}`;

/** What a secret looks like on its way: as it is, in an address, in a header, in a log line. */
function formsOf(secret: string): string[] {
  const bare = secret.startsWith("0x") ? secret.slice(2) : secret;
  const number = bare === secret ? [] : [String(BigInt(secret))];
  const forms = [
    ...number,
    bare,
    encodeURIComponent(bare),
    Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  ];
  return [...new Set([...forms, JSON.stringify(bare).slice(1, -1)])];
}

describeThorough("secrets of real processes", () => {
  let folder: string;
  const servers: (Server | TcpServer)[] = [];
  const running = new Map<string, TestProcess>();
  /** All that processes have printed and answered, by where it came from. */
  const said = new Map<string, string>();
  const note = (where: string, text: string) => said.set(where, `${said.get(where) ?? ""}\n${text}`);

  /** Servers of others that repeat whatever they are sent, as some do in their errors. */
  const listen = async (server: Server | TcpServer): Promise<number> => {
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const tellAll = async (req: IncomingMessage) => {
    let body = "";
    for await (const chunk of req) body += chunk;
    return `${req.method} ${req.url} is refused: ${JSON.stringify(req.headers)} ${body}`;
  };
  let times = 0;
  const talkative = () =>
    createHttp(async (req, res) => {
      const message = await tellAll(req);
      times += 1;
      // In turn as a proxy's page, as an error of JSON-RPC, and as a response of no known form.
      if (times % 3 === 0) res.writeHead(500, { "Content-Type": "text/plain" }).end(message);
      else if (times % 3 === 1)
        res
          .writeHead(200, { "Content-Type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32_000, message } }));
      else res.writeHead(401, { "Content-Type": "application/json" }).end(JSON.stringify({ error: message }));
    });
  const talkativeRedis = () =>
    createTcp((socket) => {
      socket.on("error", () => {});
      // Before version 6 Redis did not know HELLO, and repeated its arguments in the error.
      socket.on("data", (chunk) => {
        const words = String(chunk)
          .split("\r\n")
          .filter((word) => !/^[*$]\d+$/.test(word));
        socket.write(`-ERR unknown command, with args beginning with: ${words.join(" ")}\r\n`);
      });
    });

  const start = (name: string, [file = "", ...args]: string[], env: Record<string, string>): void => {
    const common = {
      LOG_LEVEL: "trace",
      GATEWAY_PORT: "0",
      HTTP_PORT: "0",
      GRPC_PORT: "0",
      FACILITATOR_PORT: "0",
    };
    const child = startProgram(file, { args, env: { ...common, DATA_DIR: folder, ...env } });
    running.set(name, child);
  };
  const listeningAt = async (child: TestProcess, message = '"listening"'): Promise<string> => {
    const find = () =>
      child
        .stdout()
        .split("\n")
        .find((line) => line.includes(message));
    await until(() => find() !== undefined);
    const { url, httpUrl } = JSON.parse(find() as string) as { url?: string; httpUrl?: string };
    return url ?? httpUrl ?? "";
  };
  const fetchAndNote = async (where: string, url: string, init: RequestInit = {}): Promise<number> => {
    const answer = await fetch(url, init);
    note(where, `${JSON.stringify([...answer.headers])} ${await answer.text()}`);
    return answer.status;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "secrets-"));
    const [rpcPort, redisPort, facilitatorPort] = await Promise.all([
      listen(talkative()),
      listen(talkativeRedis()),
      listen(talkative()),
    ]);
    const user = `user:${encodeURIComponent(SECRET.rpcPassword)}`;
    const rpc = `http://${user}@127.0.0.1:${rpcPort}/v3/${SECRET.rpcPath}?apikey=${SECRET.rpcQuery}`;
    const rpcs = `${rpc},ws://127.0.0.1:${rpcPort}/${SECRET.socketKey}`;
    const redis = `redis://user:${encodeURIComponent(SECRET.redisPassword)}@127.0.0.1:${redisPort}`;
    const mongo = `mongodb://user:${SECRET.mongoPassword}@127.0.0.1:9/?serverSelectionTimeoutMS=300`;
    const stores = { MONGODB_URL: mongo, REDIS_URL: redis };
    const payments = {
      X402_PAY_TO: PAY_TO,
      X402_FACILITATOR_TOKEN: SECRET.facilitatorToken,
      EVM_RPC_8453: rpc,
    };

    start("gateway", ["gateway/main.ts"], {
      ...stores,
      ...payments,
      BOOTSTRAP_API_KEY: SECRET.bootstrapKey,
      X402_PORT: "0",
      X402_FACILITATOR_URL: `http://127.0.0.1:${facilitatorPort}`,
    });
    start("facilitator", ["gateway/payments/facilitator/main.ts"], {
      ...payments,
      FACILITATOR_PRIVATE_KEY: SECRET.privateKey,
    });
    start("evm-dex", ["services/evm-dex/main.ts"], { REDIS_URL: redis });
    start("evm-dex without its store", ["services/evm-dex/main.ts"], stores);
    start("evm-dex ingest", ["services/evm-dex/ingest/main.ts"], { EVM_RPC_8453: rpcs });
    start("solana ingest", ["services/solana/ingest/main.ts"], { SOLANA_RPC: rpcs });
    const broken = `mongodb://user:${SECRET.brokenPassword}@127.0.0.1:9/`;
    start("keys", ["gateway/cli/keys.ts", "list"], { MONGODB_URL: broken, REDIS_URL: redis });
    start("payments", ["gateway/cli/payments.ts", "list"], { MONGODB_URL: mongo });
    start("gateway with a store it cannot read", ["gateway/main.ts"], { MONGODB_URL: broken });
    start("gateway with invalid settings", ["gateway/main.ts"], {
      MONGODB_URL: SECRET.brokenPassword,
      REDIS_URL: `http://:${SECRET.redisPassword}@x`,
      EVM_RPC_8453: `ftp://x/${SECRET.rpcPath}`,
    });
    start("facilitator with an invalid key", ["gateway/payments/facilitator/main.ts"], {
      ...payments,
      FACILITATOR_PRIVATE_KEY: SECRET.brokenKey,
    });
    start("facilitator with a key of another form", ["gateway/payments/facilitator/main.ts"], {
      ...payments,
      FACILITATOR_PRIVATE_KEY: SECRET.privateKey.slice(2),
    });
  });
  after(async () => {
    for (const child of running.values()) child.signal("SIGKILL");
    await Promise.all([...running.values()].map(({ finished }) => finished));
    for (const server of servers) server.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const unknownKey = mintApiKey();
  /** As a wallet would send it: its form is right, and so are its terms. */
  const paymentFor = (offer: { resource: object; accepts: readonly object[] }): string => {
    const authorization = {
      from: privateKeyToAccount(`0x${"42".repeat(32)}`).address,
      to: PAY_TO,
      value: "50000",
      validAfter: "0",
      // Within the time that a seller accepts.
      validBefore: String(Math.floor(Date.now() / 1000) + 90),
      nonce: `0x${"33".repeat(32)}`,
    };
    const payload = { signature: PAYMENT_SIGNATURE, authorization };
    const { resource, accepts } = offer;
    const payment = { x402Version: 2, resource, accepted: accepts[0], payload };
    return Buffer.from(JSON.stringify(payment)).toString("base64");
  };
  let sentPayment = "";

  it("have been used, and every process has reported a problem", async () => {
    const gateway = running.get("gateway") as TestProcess;
    const url = await listeningAt(gateway);
    const payUrl = await listeningAt(gateway, '"selling requests"');
    const facilitatorUrl = await listeningAt(running.get("facilitator") as TestProcess);
    const evmDexUrl = await listeningAt(running.get("evm-dex") as TestProcess);

    for (const path of [
      "/evm/chains",
      "/usage",
      "/docs",
      "/openapi.json",
      "/openapi-3.1.json",
      "/openapi-objects.json",
      "/readyz",
      "/metrics",
      "/nothing",
    ]) {
      await fetchAndNote("gateway", `${url}${path}`, { headers: { "X-API-KEY": SECRET.bootstrapKey } });
    }
    expect(
      await fetchAndNote("gateway", `${url}/evm/chains`, { headers: { "X-API-KEY": unknownKey } }),
    ).to.equal(503);
    const sold = `${payUrl}/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=1`;
    const offer = await (await fetch(sold)).json();
    sentPayment = paymentFor(offer as Parameters<typeof paymentFor>[0]);
    const paid = await fetchAndNote("gateway", sold, { headers: { "PAYMENT-SIGNATURE": sentPayment } });
    expect(paid).to.equal(503);

    const body = JSON.stringify({
      x402Version: 2,
      paymentPayload: JSON.parse(Buffer.from(sentPayment, "base64").toString()),
      paymentRequirements: (offer as { accepts: unknown[] }).accepts[0],
    });
    for (const path of ["/verify", "/settle"]) {
      for (const token of [SECRET.facilitatorToken, "another"]) {
        const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
        await fetchAndNote("facilitator", `${facilitatorUrl}${path}`, { method: "POST", headers, body });
      }
    }
    const facilitatorAdminUrl = await listeningAt(
      running.get("facilitator") as TestProcess,
      '"serving metrics"',
    );
    await fetchAndNote("facilitator", `${facilitatorAdminUrl}/metrics`);
    const adminUrl = await listeningAt(gateway, '"serving metrics"');
    expect(await fetchAndNote("gateway", `${adminUrl}/metrics`)).to.equal(200);
    for (const path of ["/evm/chains", "/evm/dexb/v3/pools", "/readyz", "/metrics"]) {
      await fetchAndNote("evm-dex", `${evmDexUrl}${path}`);
    }
    // Long enough for what is tried again to be tried again.
    for (const [name, words] of Object.entries({
      gateway: /Redis.*unknown command|unknown command.*Redis/s,
      facilitator: /cannot be read/,
      "evm-dex ingest": /"level":"warn"/,
      "solana ingest": /"level":"warn"/,
      "evm-dex": /unknown command/,
    })) {
      const child = running.get(name) as TestProcess;
      await until(() => words.test(child.stdout()));
    }
    for (const name of running.keys()) {
      if (!/keys|payments|invalid|another form|without/.test(name)) continue;
      const { code } = await (running.get(name) as TestProcess).finished;
      expect(code, name).not.to.equal(0);
    }
  });

  it("are in nothing that any of them has printed or answered", async () => {
    for (const [name, child] of running) {
      child.signal("SIGKILL");
      const { stdout, stderr } = await child.finished;
      expect(stdout + stderr, `${name} has printed nothing`).to.have.length.above(20);
      note(name, stdout + stderr);
    }
    const secrets = { ...SECRET, unknownKey, PAYMENT_SIGNATURE, sentPayment };
    for (const [where, text] of said) {
      for (const [name, secret] of Object.entries(secrets)) {
        for (const form of formsOf(secret)) {
          const at = text.toLowerCase().indexOf(form.toLowerCase());
          expect(at, `${name} at ${where}: ${text.slice(Math.max(0, at - 300), at + 20)}`).to.equal(-1);
        }
      }
    }
    // The password was there to be hidden: the error of Redis has been logged.
    expect(said.get("gateway")).to.contain("[secret]");
  });
});
