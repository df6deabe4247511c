/** As the Dockerfile sets them for every process. */
export const IMAGE_FLAGS = ["--max-old-space-size=448", "--max-semi-space-size=32"];
