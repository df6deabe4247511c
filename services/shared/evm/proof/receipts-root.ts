import { computeLogsBloom } from "../bloom.ts";
import { parseAddress, parseBytes, parseHash, parseQuantity } from "../hex.ts";
import type { Hex } from "../port.ts";
import { encodeRlp, hexBytes, quantityBytes, type RlpItem } from "./rlp.ts";
import { listRoot } from "./trie-root.ts";

/** The type of an OP-stack deposit. */
const DEPOSIT = 0x7e;

/**
 * The receiptsRoot that follows from a block's receipts as JSON-RPC has them, all of them in order; undefined where one
 * is malformed. Deposits of the OP stack have nonce and version in the root since Canyon, which is when receipts have a
 * version (source: op-geth, core/types/receipt.go, Receipts.EncodeIndex).
 */
export function computeReceiptsRoot(receipts: readonly unknown[]): Hex | undefined {
  const encoded: Uint8Array[] = [];
  for (const receipt of receipts) {
    const bytes = encodeReceipt(receipt);
    if (bytes === undefined) return undefined;
    encoded.push(bytes);
  }
  return listRoot(encoded);
}

function encodeReceipt(receipt: unknown): Uint8Array | undefined {
  if (typeof receipt !== "object" || receipt === null) return undefined;
  const raw = receipt as Record<string, unknown>;
  const outcome = readOutcome(raw);
  const gasUsed = parseQuantity(raw.cumulativeGasUsed);
  const logs = readLogs(raw.logs);
  const type = raw.type === undefined || raw.type === null ? 0 : parseQuantity(raw.type);
  if (outcome === undefined || gasUsed === undefined || logs === undefined) return undefined;
  if (type === undefined || type > 0x7f) return undefined;
  const bloom = parseBytes(raw.logsBloom) ?? computeLogsBloom(logs);
  const items: RlpItem[] = [
    outcome,
    quantityBytes(gasUsed),
    hexBytes(bloom),
    logs.map(({ address, topics, data }) => [hexBytes(address), topics.map(hexBytes), hexBytes(data)]),
  ];
  const version = parseQuantity(raw.depositReceiptVersion);
  if (type === DEPOSIT && version !== undefined) {
    const nonce = parseQuantity(raw.depositNonce);
    if (nonce === undefined) return undefined;
    items.push(quantityBytes(nonce), quantityBytes(version));
  }
  const body = encodeRlp(items);
  return type === 0 ? body : Buffer.concat([Uint8Array.of(type), body]);
}

/** Success or failure; before Byzantium the state's root. */
function readOutcome(raw: Record<string, unknown>): Uint8Array | undefined {
  const status = parseQuantity(raw.status);
  if (status !== undefined) return quantityBytes(status);
  const root = parseHash(raw.root);
  return root === undefined ? undefined : hexBytes(root);
}

interface EmittedLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

function readLogs(logs: unknown): EmittedLog[] | undefined {
  if (!Array.isArray(logs)) return undefined;
  const read: EmittedLog[] = [];
  for (const log of logs) {
    const address = parseAddress(log?.address);
    const data = parseBytes(log?.data ?? "0x");
    const topics = Array.isArray(log?.topics) ? log.topics.map(parseHash) : [undefined];
    if (address === undefined || data === undefined || topics.includes(undefined)) return undefined;
    read.push({ address, topics, data });
  }
  return read;
}
