/** `npm run pay -- <path>`: asks the pay-per-request host, pays with an unmodified client, prints rows and receipt. */
import { parseArgs } from "node:util";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { privateKeyToAccount } from "viem/accounts";
import { demoPayer } from "../devnet/usdc/demo-wallets.ts";
import { describeReceipt, describeRows } from "./describe.ts";

const DEFAULT_URL = "http://127.0.0.1:8402";
const USAGE = `Usage:
  npm run pay -- <path with query> [--url <base address>] [--json]

Asks for the path at the pay-per-request host (${DEFAULT_URL} unless --url or X402_PUBLIC_URL says otherwise), pays what
is asked for, and prints the rows and the receipt. --json prints the answer's body as it came.
The wallet is that of PAY_PRIVATE_KEY, else the one that npm start funds on its local chain.

  npm run pay -- '/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=1'
`;

function readCall() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { url: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" } },
  });
  const [path] = positionals;
  if (values.help === true || path === undefined || positionals.length > 1) return undefined;
  const base = values.url ?? (process.env.X402_PUBLIC_URL || DEFAULT_URL);
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
  if (call === undefined) process.stderr.write(USAGE);
  process.exitCode = call === undefined ? 2 : await pay(call);
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  console.error(`${error instanceof Error ? error.message : String(error)}${cause}`);
  process.exitCode = 1;
}
