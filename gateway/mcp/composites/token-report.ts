import { EVM_ADDRESS } from "../../../services/shared/contract/param.ts";
import { requireText } from "../tools/arguments.ts";
import type { Arguments, CallContext, Tool } from "../tools/tool.ts";
import { CHAIN_ARGUMENT, type FindEndpoint, readChainId } from "./endpoints.ts";
import { createEvmTokenReport } from "./evm-token.ts";
import { createSolanaTokenReport } from "./solana-token.ts";

/** `token_report`: what is known of a token; which report it is follows from the address. */
export function createTokenReport(find: FindEndpoint): Tool {
  const [describeEvmToken, describeSolanaToken] = [createEvmTokenReport(find), createSolanaTokenReport(find)];

  const call = async (args: Arguments, context: CallContext): Promise<string> => {
    const token = requireText(args, "token_address");
    // What is neither is refused by the endpoint, which names the rule.
    if (!EVM_ADDRESS.test(token)) return describeSolanaToken(token, context);
    const chainId = readChainId(args);
    return describeEvmToken({ token, chainId }, context);
  };

  return {
    name: "token_report",
    title: "What is known of a token",
    description:
      "Solana: what may go wrong with it (authorities, Token-2022 extensions, concentration, score), activity and latest price; 2 requests. EVM: its pools, its price in lending and where it can be supplied; 4 or 5 requests.",
    inputSchema: {
      type: "object",
      properties: {
        token_address: {
          type: "string",
          description: "Mint address on Solana, or 0x address on an EVM chain.",
        },
        ...CHAIN_ARGUMENT,
      },
      required: ["token_address"],
      additionalProperties: false,
    },
    call,
  };
}
