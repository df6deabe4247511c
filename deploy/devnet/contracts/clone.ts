import { concat, type Hex, keccak256 } from "viem";

/** Hash of the code that creates an EIP-1167 clone, for the CREATE2 addresses of clones. */
export function cloneCodeHash(implementation: Hex): Hex {
  return keccak256(
    concat([
      "0x3d602d80600a3d3981f3363d3d373d3d3d363d73",
      implementation,
      "0x5af43d82803e903d91602b57fd5bf3",
    ]),
  );
}
