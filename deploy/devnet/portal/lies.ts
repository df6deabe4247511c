import type { PortalBlock, PortalItem } from "./block.ts";

/** Wrong answers that look right, each about one block: a client has to find them. */
export const PORTAL_LIES = [
  /** One log of the block is missing. */
  "withheldLog",
  /** All of them are. */
  "withheldLogs",
  /** A transaction with logs has another sender. */
  "changedSender",
  /** Bytes of a log's data are others. */
  "changedData",
  /** The header names another parent; its own hash stays. */
  "brokenParent",
  /** The header's time is a minute later; its hash stays. */
  "changedTime",
  /** The block has another hash, to which no other leads. */
  "changedHash",
  /** A block is left out, as if nothing had asked for it. */
  "hiddenBlock",
  /** Of Solana: one transaction of the block is missing, with all that belongs to it. */
  "withheldTransaction",
  /** Of Solana: an instruction is missing. */
  "withheldInstruction",
  /** Of Solana: an account holds another amount after a transaction. */
  "changedAmount",
] as const;

export type PortalLie = (typeof PORTAL_LIES)[number];

export interface ToldLie {
  readonly lie: PortalLie;
  readonly block: number;
}

type IsAsked = (item: PortalItem) => boolean;

/** The block as a lying portal has it; null = hidden. `isAsked` finds the logs (of Solana, instructions) whose loss or change is noticed at all. */
export function tell(block: PortalBlock, lies: readonly ToldLie[], isAsked: IsAsked): PortalBlock | null {
  let told: PortalBlock | null = block;
  for (const { lie, block: number } of lies) {
    if (number === block.header.number && told !== null) told = LIARS[lie](told, isAsked);
  }
  return told;
}

const LIARS: Readonly<Record<PortalLie, (block: PortalBlock, isAsked: IsAsked) => PortalBlock | null>> = {
  withheldLog: (block, isAsked) => {
    const withheld = block.logs.findLast(isAsked);
    return { ...block, logs: block.logs.filter((log) => log !== withheld) };
  },
  withheldLogs: (block, isAsked) => ({ ...block, logs: block.logs.filter((log) => !isAsked(log)) }),
  changedSender(block, isAsked) {
    const index = block.logs.findLast(isAsked)?.transactionIndex;
    const at = block.transactions.findIndex(({ transactionIndex }) => transactionIndex === index);
    return { ...block, transactions: replace(block.transactions, at, (each) => ({ from: flip(each.from) })) };
  },
  changedData: (block, isAsked) => {
    const at = block.logs.findLastIndex((log) => isAsked(log) && log.data !== "0x");
    return { ...block, logs: replace(block.logs, at, ({ data }) => ({ data: flip(data) })) };
  },
  brokenParent: ({ header, ...rest }) => ({
    ...rest,
    header: { ...header, parentHash: flip(header.parentHash) },
  }),
  changedTime: ({ header, ...rest }) => ({
    ...rest,
    header: { ...header, timestamp: header.timestamp + 60 },
  }),
  changedHash: ({ header, ...rest }) => ({ ...rest, header: { ...header, hash: flip(header.hash) } }),
  hiddenBlock: () => null,
  withheldTransaction(block, isAsked) {
    const index = lastCall(block, isAsked)?.transactionIndex;
    const keep = ({ transactionIndex }: PortalItem) => transactionIndex !== index;
    const { instructions = [], balances = [], tokenBalances = [] } = block;
    return {
      ...block,
      transactions: block.transactions.filter(keep),
      logs: block.logs.filter(keep),
      instructions: instructions.filter(keep),
      balances: balances.filter(keep),
      tokenBalances: tokenBalances.filter(keep),
    };
  },
  withheldInstruction(block, isAsked) {
    const withheld = lastCall(block, isAsked);
    return { ...block, instructions: block.instructions?.filter((each) => each !== withheld) ?? [] };
  },
  changedAmount(block, isAsked) {
    const index = lastCall(block, isAsked)?.transactionIndex;
    const { tokenBalances = [] } = block;
    const at = tokenBalances.findLastIndex(
      ({ transactionIndex, postAmount }) => transactionIndex === index && postAmount !== undefined,
    );
    return {
      ...block,
      tokenBalances: replace(tokenBalances, at, (each) => ({ postAmount: flip(each.postAmount) })),
    };
  },
};

function lastCall({ instructions = [] }: PortalBlock, isAsked: IsAsked): PortalItem | undefined {
  return instructions.findLast(isAsked);
}

function replace(
  items: readonly PortalItem[],
  at: number,
  change: (item: PortalItem) => PortalItem,
): PortalItem[] {
  return items.map((item, i) => (i === at ? { ...item, ...change(item) } : item));
}

/** The same text with another last digit. */
function flip(text: unknown): string {
  const own = String(text);
  return `${own.slice(0, -1)}${own.endsWith("1") ? "2" : "1"}`;
}
