/** `npm run pay -- <path>`: requests the pay-per-request host, pays with an unmodified client, prints rows and receipt. */
import { parseArgs } from "node:util";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import { sanitizeText } from "../../services/shared/logging/log.ts";
import { describeError } from "../../services/shared/logging/log-text.ts";
import { ConfigError } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
import { demoPayer } from "../devnet/usdc/demo-wallets.ts";
import { describeReceipt, describeRows } from "./describe.ts";

const DEFAULT_URL = "http://127.0.0.1:8402";
const USAGE = `Usage:
  npm run pay -- <path with query> [--url <base address>] [--json]

Requests the path from the pay-per-request host (--url, X402_PUBLIC_URL, that of the running npm start, or ${DEFAULT_URL}), pays its
price, and prints the rows and the receipt. --json prints the response body as received.
The wallet is that of PAY_PRIVATE_KEY, else the one that npm start funds on its local chain.

  npm run pay -- '/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=1'
`;

/** A wrong call. */
class UsageError extends Error {}

function readWords() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { url: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean", short: "h" } },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readCall() {
  const { values, positionals } = readWords();
  if (values.help === true) return "help";
  const [path, extra] = positionals;
  if (path === undefined) throw new UsageError("A path is needed, such as /evm/chains.");
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one word too many.`);
  const set = values.url ?? process.env.X402_PUBLIC_URL?.trim();
  // Where npm start has put its pay-per-request host, it says so in DATA_DIR.
  const base = set || locateStore(process.env).running?.payUrl || DEFAULT_URL;
  return { url: `${base.replace(/\/+$/, "")}/${path.replace(/^\/+/, "")}`, asJson: values.json === true };
}

async function pay({ url, asJson }: { url: string; asJson: boolean }): Promise<number> {
  const key = (process.env.PAY_PRIVATE_KEY || demoPayer.privateKey) as `0x${string}`;
  const wallet = privateKeyToAccount(key);
  const client = new x402Client().register("eip155:8453", new ExactEvmScheme(wallet));
  const answer = await wrapFetchWithPayment(fetch, client)(url);
  const body = await answer.text();
  const header = answer.headers.get("payment-response");
  const receipt = header === null ? undefined : decodePaymentResponseHeader(header);
  if (answer.status !== 200) {
    console.error(`${answer.status}: ${body}`);
    return 1;
  }
  console.log(asJson ? body : describeRows(JSON.parse(body)));
  console.error(describeReceipt(receipt, wallet.address));
  return 0;
}

try {
  const call = readCall();
  if (call === "help") process.stdout.write(USAGE);
  else process.exitCode = await pay(call);
} catch (error) {
  const isUsage = error instanceof UsageError;
  console.error(`${sanitizeText(describeError(error))}${isUsage ? `\n\n${USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
