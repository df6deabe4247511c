import { status } from "@grpc/grpc-js";
import type {
  BlockMessage,
  SubscribeRequestMessage,
  SubscribeUpdateMessage,
  TransactionFilterMessage,
  TransactionInBlockMessage,
} from "../../../../services/solana/chain/geyser/wire.ts";
import type { NodeBlock, NodeChain } from "../server/node-chain.ts";
import type { GeyserFaults } from "./faults.ts";
import { toBlockMessage } from "./to-message.ts";

const FILTER_LIMIT = 50;

/** Why a server does not serve a request; undefined = it does. */
export function findRefusal(
  { blocks = {}, transactions = {}, fromSlot }: SubscribeRequestMessage,
  { chain, replaySlots, refuses }: { chain: NodeChain } & Pick<GeyserFaults, "replaySlots" | "refuses">,
): { code: status; details: string } | undefined {
  const hasTransactions = Object.keys(transactions).length > 0;
  const isRefused =
    refuses === "transactions"
      ? hasTransactions
      : refuses === "blocks" && Object.values(blocks).some((each) => each.includeTransactions);
  if (isRefused) return refuse(`${refuses}: not allowed on this plan`);
  for (const { accountInclude } of [...Object.values(blocks), ...Object.values(transactions)]) {
    if (accountInclude.length > FILTER_LIMIT)
      return refuse(`Max amount of pubkeys reached, only ${FILTER_LIMIT} allowed`);
  }
  if (fromSlot === undefined) return undefined;
  if (replaySlots === 0) return { code: status.INTERNAL, details: "from_slot is not supported" };
  const kept = Math.max(chain.firstAvailable(), chain.head("confirmed") - replaySlots + 1);
  return fromSlot >= kept
    ? undefined
    : {
        code: status.OUT_OF_RANGE,
        details: `broadcast from ${fromSlot} is not available, last available: ${kept}`,
      };
}

function refuse(details: string): { code: status; details: string } {
  return { code: status.INVALID_ARGUMENT, details: `failed to create filter: ${details}` };
}

/** What a block is to a subscriber, in the order in which it is sent: transactions one by one, then the block. */
export function listUpdates(
  block: NodeBlock,
  { transactions = {}, blocks = {} }: SubscribeRequestMessage,
  { alter, isLate }: Pick<GeyserFaults, "alter" | "isLate">,
): SubscribeUpdateMessage[] {
  const { slot } = block;
  const single = Object.entries(transactions).flatMap(([name, filter]) => {
    const altered = alter(toBlockMessage(block, createMatcher(filter.accountInclude)));
    return (altered?.transactions ?? [])
      .filter((each) => isWanted(each, filter))
      .map((transaction) => ({ filters: [name], transaction: { transaction, slot } }));
  });
  const whole = Object.entries(blocks).flatMap(([name, filter]) => {
    const matches = filter.includeTransactions ? createMatcher(filter.accountInclude) : () => false;
    const message: BlockMessage | undefined = alter(toBlockMessage(block, matches));
    return message === undefined ? [] : [{ filters: [name], block: message }];
  });
  return isLate ? [...single.slice(0, -1), ...whole, ...single.slice(-1)] : [...single, ...whole];
}

function isWanted(
  { isVote, meta }: TransactionInBlockMessage,
  { vote, failed }: TransactionFilterMessage,
): boolean {
  const hasFailed = meta?.err !== undefined && meta.err !== null;
  return (vote ?? isVote) === isVote && (failed ?? hasFailed) === hasFailed;
}

function createMatcher(accountInclude: readonly string[]): (accounts: readonly string[]) => boolean {
  if (accountInclude.length === 0) return () => true;
  const wanted = new Set(accountInclude);
  return (accounts) => accounts.some((account) => wanted.has(account));
}
