import { type ServiceError as GrpcError, type StatusObject, status } from "@grpc/grpc-js";
import { type ErrorCode, ServiceError } from "../errors.ts";

const STATUS_OF_CODE: Partial<Record<ErrorCode, status>> = {
  bad_request: status.INVALID_ARGUMENT,
  unauthorized: status.UNAUTHENTICATED,
  not_found: status.NOT_FOUND,
  request_timeout: status.DEADLINE_EXCEEDED,
  rate_limited: status.RESOURCE_EXHAUSTED,
  unavailable: status.UNAVAILABLE,
};

/** What a thrown value tells a peer: a ServiceError speaks for itself, everything else is INTERNAL with a fixed text. */
export function toGrpcStatus(error: unknown): Pick<StatusObject, "code" | "details"> {
  const code = error instanceof ServiceError ? STATUS_OF_CODE[error.code] : undefined;
  if (code === undefined)
    return { code: status.INTERNAL, details: "The service failed to answer; its log says why." };
  return { code, details: (error as ServiceError).message };
}

/**
 * What a failed call means to the caller: bad_request and not_found of the peer keep their code and text, everything
 * else is `unavailable` with a text that names the peer's service, never its address, and the cause for the log.
 */
export function fromGrpcError(error: GrpcError, peer: string): ServiceError {
  if (error.code === status.INVALID_ARGUMENT)
    return new ServiceError("bad_request", error.details, { cause: error });
  if (error.code === status.NOT_FOUND) return new ServiceError("not_found", error.details, { cause: error });
  return new ServiceError("unavailable", `${peer} ${reasonOf(error)}.`, {
    cause: error,
    retryAfterSeconds: 1,
  });
}

function reasonOf({ code }: GrpcError): string {
  if (code === status.DEADLINE_EXCEEDED) return "did not answer in time";
  if (code === status.UNAUTHENTICATED) return "refuses the SERVICE_TOKEN of this process";
  return "is not available";
}

/** Whether a peer refused a call for want of the service token: waiting does not cure that. */
export function isTokenRefused(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.cause as GrpcError | undefined)?.code === status.UNAUTHENTICATED
  );
}
