/** What may go wrong between gateway and service, apart by what can be done about it. */

/** The connection was never made: nothing of the request reached the service. */
export class NotReached extends Error {
  override readonly name = "NotReached";
}

/** The connection broke before the answer's end, as an idle one does when the service closes it just then. */
export class BrokenOff extends Error {
  override readonly name = "BrokenOff";
}

/** What came back is no HTTP that may be trusted: framing in doubt is refused, never guessed. */
export class BadHttp extends Error {
  override readonly name = "BadHttp";
}
