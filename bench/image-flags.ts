/** As the Dockerfile sets them for every process. */
export const IMAGE_FLAGS = ["--max-old-space-size=448", "--max-semi-space-size=32"];
/** As the manifests start an EVM ingest, beside them and INGEST_MALLOC. */
export const INGEST_FLAGS = ["--single-threaded-gc", "--max-semi-space-size=8"];
