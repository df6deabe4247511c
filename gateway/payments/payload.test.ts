import { encodePaymentSignatureHeader } from "@x402/core/http";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { ServiceError } from "../../services/shared/errors.ts";
import { randomRuns } from "../../services/shared/testkit/describe.ts";
import { readPayment } from "./payload.ts";

const PAYLOAD = {
  x402Version: 2,
  resource: { url: "https://pay.example/a" },
  accepted: {
    scheme: "exact",
    network: "eip155:8453",
    amount: "50000",
    asset: `0x${"Aa".repeat(20)}`,
    payTo: `0x${"Bb".repeat(20)}`,
    maxTimeoutSeconds: 60,
    extra: { name: "USD Coin", version: "2" },
  },
  payload: {
    signature: `0x${"Cc".repeat(65)}`,
    authorization: {
      from: `0x${"Dd".repeat(20)}`,
      to: `0x${"Bb".repeat(20)}`,
      value: "50000",
      validAfter: "0",
      validBefore: "2000000000",
      nonce: `0x${"Ee".repeat(32)}`,
    },
  },
} as const;
const encode = (value: unknown) => encodePaymentSignatureHeader(value as never);

describe("payment payload", () => {
  it("is read with addresses in lower case, exact amounts, and what was signed as it was sent", () => {
    const { authorization, signature, identifier, payload } = readPayment(encode(PAYLOAD));
    expect(authorization).to.deep.equal({
      from: `0x${"dd".repeat(20)}`,
      to: `0x${"bb".repeat(20)}`,
      value: 50_000n,
      validAfter: 0,
      validBefore: 2_000_000_000,
      nonce: `0x${"ee".repeat(32)}`,
    });
    expect(signature).to.equal(PAYLOAD.payload.signature);
    expect(payload.payload).to.deep.equal(PAYLOAD.payload);
    expect(identifier).to.equal(undefined);
  });

  it("caps a time that no number holds exactly, beyond every clock", () => {
    const last = { ...PAYLOAD.payload.authorization, validBefore: String(2n ** 256n - 1n) };
    const { authorization } = readPayment(
      encode({ ...PAYLOAD, payload: { ...PAYLOAD.payload, authorization: last } }),
    );
    expect(authorization.validBefore).to.equal(Number.MAX_SAFE_INTEGER);
  });

  it("has an identifier where the client sent one, and none where it sends the offer's extension back", () => {
    const withInfo = (info: unknown) =>
      readPayment(encode({ ...PAYLOAD, extensions: { "payment-identifier": { info } } })).identifier;
    expect(withInfo({ required: false, id: "pay_0123456789abcdef" })).to.equal("pay_0123456789abcdef");
    expect(withInfo({ required: false })).to.equal(undefined);
    for (const id of ["short", "with space 0123456789", "x".repeat(129), 7])
      expect(() => withInfo({ required: false, id })).to.throw(ServiceError, "payment-identifier");
  });

  it("refuses whatever else comes with bad_request, and nothing but that", () => {
    const anything = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.json().map((text) => Buffer.from(text).toString("base64")),
      fc.object().map((value) => encode({ ...PAYLOAD, ...value })),
      fc.object().map((value) => encode({ ...PAYLOAD, payload: value })),
      fc.object().map((value) => encode({ ...PAYLOAD, accepted: { ...PAYLOAD.accepted, ...value } })),
      fc.object().map((value) =>
        encode({
          ...PAYLOAD,
          payload: {
            ...PAYLOAD.payload,
            authorization: { ...PAYLOAD.payload.authorization, ...value },
          },
        }),
      ),
      fc.integer({ min: 1, max: 3_000 }).map((depth) => Buffer.from("[".repeat(depth)).toString("base64")),
      fc
        .integer({ min: 1, max: 1_500 })
        .map((depth) =>
          encode({ ...PAYLOAD, extensions: JSON.parse("[".repeat(depth) + "]".repeat(depth)) }),
        ),
    );
    fc.assert(
      fc.property(anything, (header) => {
        try {
          readPayment(header);
        } catch (error) {
          expect(error).to.be.instanceOf(ServiceError);
          expect((error as ServiceError).code).to.equal("bad_request");
        }
      }),
      { numRuns: randomRuns(500) },
    );
  });

  it("takes no prototype from what it reads", () => {
    const text = JSON.stringify(PAYLOAD).replace(
      '"x402Version":2',
      '"x402Version":2,"extensions":{"__proto__":{"payment-identifier":{"info":{"id":"pay_0123456789abcdef"}}}}',
    );
    expect(readPayment(Buffer.from(text).toString("base64")).identifier).to.equal(undefined);
    expect(({} as Record<string, unknown>)["payment-identifier"]).to.equal(undefined);
  });
});
