/** What can go wrong between gateway and service, split by what the gateway can do about it. */

/** The connection was never made: the service has received nothing of the request. */
export class ConnectFailed extends Error {
  override readonly name = "ConnectFailed";
}

/** The connection broke before the end of the response, as an idle one does when the service closes it just then. */
export class ConnectionBroken extends Error {
  override readonly name = "ConnectionBroken";
}

/** The response is not valid HTTP/1.1: doubtful framing is rejected, never guessed. */
export class InvalidResponse extends Error {
  override readonly name = "InvalidResponse";
}
