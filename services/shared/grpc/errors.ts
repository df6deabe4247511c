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

/** The gRPC status of a thrown value: that of a ServiceError; INTERNAL with a fixed text for everything else. */
export function toGrpcStatus(error: unknown): Pick<StatusObject, "code" | "details"> {
  const code = error instanceof ServiceError ? STATUS_OF_CODE[error.code] : undefined;
  if (code === undefined)
    return { code: status.INTERNAL, details: "The service failed to answer; its log has the cause." };
  return { code, details: (error as ServiceError).message };
}

/**
 * The ServiceError of a failed call: bad_request and not_found keep their code and text; everything else becomes
 * `unavailable` with a text that names the peer's service, never its address, and the cause for the log.
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

/** Whether a peer rejected the service token: retrying does not help. */
export function isTokenRefused(error: unknown): boolean {
  return (
    error instanceof ServiceError && (error.cause as GrpcError | undefined)?.code === status.UNAUTHENTICATED
  );
}
