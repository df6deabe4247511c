import { readInt } from "../../../../shared/evm/abi.ts";
import type { Decoder } from "../../protocol.ts";
import type { SetFeeProtocolEvent } from "../events.ts";

/** SetFeeProtocol(uint8 feeProtocol0Old, uint8 feeProtocol1Old, uint8 feeProtocol0New, uint8 feeProtocol1New) */
export const setFeeProtocol: Decoder<SetFeeProtocolEvent> = {
  topic: "0x973d8d92bb299f4af6ce49b52a8adb85ae46b9f214c4c4fc06ac77401237b133",
  indexed: 0,
  words: 4,
  decode: ({ data }) => ({
    kind: "set_fee_protocol",
    feeProtocol: (readInt(data, 3) << 4) | readInt(data, 2),
  }),
};
