import { expect } from "chai";
import { type ErrorCode, HTTP_STATUS } from "../../services/shared/errors.ts";

interface ErrorAnswer {
  readonly status: number;
  readonly type: string | null | undefined;
  readonly session: string | null | undefined;
  readonly body: string;
}

/** Asserts that an answer is an error in the documented form, of this code where one is given; returns its body. */
export function expectErrorForm({ status, type, session, body }: ErrorAnswer, code?: ErrorCode) {
  const error = JSON.parse(body) as { error: ErrorCode; message: string; session: string };
  expect(type).to.equal("application/json");
  // A 402 also carries the offer.
  const more = error.error === "payment_required" ? ["x402Version", "resource", "accepts", "extensions"] : [];
  expect(Object.keys(error)).to.deep.equal(["error", "message", "session", ...more]);
  expect(HTTP_STATUS[error.error], body).to.equal(status);
  expect(error.message).to.be.a("string").with.length.greaterThan(10);
  expect(error.session).to.equal(session);
  expect(error.session).to.match(/^[0-9a-f-]{36}$/);
  if (code !== undefined) expect(error.error, error.message).to.equal(code);
  return error;
}

export async function expectError(answer: Response, code: ErrorCode) {
  const { status, headers } = answer;
  const session = headers.get("x-session-id");
  return expectErrorForm(
    { status, type: headers.get("content-type"), session, body: await answer.text() },
    code,
  );
}
