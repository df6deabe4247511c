/**
 * Texts for the codes with which facilitators refuse. Anything else they return (an RPC's address, a stack) stays in the
 * log. Codes of @x402/evm 2.27; the prefix differs between facilitators and is removed.
 */
const REASON_TEXT: Readonly<Record<string, string>> = {
  insufficient_funds: "the wallet holds less than the price",
  insufficient_balance: "the wallet holds less than the price",
  signature: "the signature does not match the authorization",
  failed_to_parse_signature: "the signature does not match the authorization",
  payload_authorization_valid_before: "the authorization has expired, or is about to expire",
  payload_authorization_valid_after: "the authorization is not valid yet",
  payload_authorization_value_mismatch: "the amount of the authorization is not the price",
  authorization_value: "the amount of the authorization is not the price",
  recipient_mismatch: "the authorization pays another address",
  network_mismatch: "the payment is for another network",
  nonce_already_used: "the authorization has been used",
  transaction_simulation_failed: "the transfer would fail",
  transaction_failed: "the transfer failed",
  // Codes of the built-in facilitator.
  valid_before_too_late:
    "its validBefore lies further ahead than the offered maxTimeoutSeconds and a margin allow",
  gas_over_cap: "its settlement takes more gas than the facilitator pays for",
  contract_wallet_refused: "the facilitator settles for plain wallets only, and the payer is a contract",
  contract_wallet_failed:
    "a settlement for this contract wallet has failed on the chain a short while ago; try another wallet, or later",
};

/** Returns the reason as a clause; a general one for an unknown code. */
export function describeReason(code: string | undefined): string {
  const known = code?.replace(/^invalid_exact_evm_/, "") ?? "";
  return (
    (Object.hasOwn(REASON_TEXT, known) ? REASON_TEXT[known] : undefined) ??
    "the facilitator does not accept it"
  );
}
