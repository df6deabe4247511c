import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { ROOT } from "../command.ts";
import { findComposeFaults, interpolate } from "./compose.ts";
import { PROCESSES } from "./process.testkit.ts";

const TEXT = readFileSync(join(ROOT, "docker-compose.yml"), "utf8");

/** The file with one place changed, which must be there exactly once unless `everywhere`. */
function change(from: string, to: string): string {
  expect(TEXT.split(from), `places of ${from}`).to.have.length(2);
  return TEXT.replace(from, to);
}

/** One edit of docker-compose.yml and the fault it must cause. */
const BREAKAGES: readonly (readonly [string, string, string])[] = [
  ["    build: {", "    bild: {", "/services/gateway must NOT have additional properties: bild"],
  [
    'ports:\n      - "${GATEWAY_PORT:-8080}:8080"',
    "ports: 8080\n    expose:\n      - 8080",
    "/services/gateway/ports must be array",
  ],
  [
    '"${X402_PORT:-8402}:8402"',
    '"${X402_PORT:-8402}:8403"',
    "gateway: publishes 8402:8403, but listens on 8080 and 8402 and 9401",
  ],
  [
    '"127.0.0.1:${ADMIN_PORT:-9401}:9401"',
    '"${ADMIN_PORT:-9401}:9401"',
    "gateway: publishes 9401:9401 beyond this machine, which is for operators",
  ],
  [
    'ADMIN_PORT: "9401"\n      ADMIN_HOST: 0.0.0.0',
    'ADMIN_PORT: "9401"',
    "gateway: ADMIN_HOST is undefined, out of reach for monitoring",
  ],
  [
    'FACILITATOR_PORT: "8403"',
    'FACILITATOR_PORT: "8404"',
    "gateway: X402_FACILITATOR_URL: nothing listens at",
  ],
  [
    "      FACILITATOR_PRIVATE_KEY_FILE: /run/secrets/facilitator_private_key\n",
    "      FACILITATOR_PRIVATE_KEY_FILE: /run/secrets/facilitator_private_key\n      MONGODB_URL: mongodb://mongodb:27017\n",
    "facilitator: MONGODB_URL is not read by facilitator",
  ],
  ['HTTP_PORT: "8102"', 'HTTP_PORTS: "8102"', "lending: HTTP_PORTS is no setting"],
  [
    'MALLOC_MMAP_THRESHOLD_: "262144"',
    'MALLOC_MMAP_THRESHOLD_: "1"',
    "evm-dex-ingest: MALLOC_MMAP_THRESHOLD_ is 1, not 262144",
  ],
  [
    'HTTP_PORT: "8102"',
    'MALLOC_MMAP_THRESHOLD_: "262144"',
    "lending: MALLOC_MMAP_THRESHOLD_ is 262144, not undefined",
  ],
  ['HTTP_PORT: "8102"', 'GATEWAY_PORT: "8102"', "lending: GATEWAY_PORT is not read by lending"],
  ['HTTP_PORT: "8102"', 'HTTP_PORT: "http"', "lending: HTTP_PORT=http must be an integer from 0 to 65535"],
  ['HTTP_PORT: "8102"', 'HTTP_PORT: "8112"', "gateway: LENDING_URL: nothing listens at http://lending:8102"],
  [
    "EVM_DEX_URL: http://evm-dex:8101",
    "EVM_DEX_URL: http://evmdex:8101",
    "gateway: EVM_DEX_URL: nothing listens at",
  ],
  [
    "SOLANA_URL: http://solana:8103",
    "SOLANA_URL: http://lending:8102",
    "gateway: SOLANA_URL: http://lending:8102 is http of lending, not http of solana",
  ],
  ["      SOLANA_GRPC: solana:9103\n", "", "gateway: SOLANA_GRPC is not set"],
  ["dist/services/lending/main.js", "dist/lending.js", 'lending: starts "node dist/lending.js"'],
  [
    "\n  evm-dex-ingest:\n",
    "\n  x-ray:\n",
    "evm-dex-ingest: services/evm-dex/ingest/main.ts exists, but nothing starts",
  ],
  ["\n  evm-dex-ingest:\n", "\n  x-ray:\n", "x-ray: there is no such process"],
  ["  read_only: true\n  tmpfs: [/tmp]", "  tmpfs: [/tmp]", "solana: its disk is not read-only"],
  [
    '  cap_drop: [ALL]\n  security_opt: ["no-new-privileges:true"]\n  stop',
    "  stop",
    "solana: it keeps capabilities",
  ],
  [
    "stop_grace_period: 20s",
    "stop_grace_period: 12s",
    "gateway: stop_grace_period is 12000 ms, stopping may take 17000 ms",
  ],
  ["http://127.0.0.1:8103/readyz", "http://127.0.0.1:8103/", "solana: its health check does not request"],
  ["8080/readyz?exclude=data", "8080/readyz", "gateway: its health check does not request"],
  [
    "http://127.0.0.1:8102/readyz",
    "http://127.0.0.1:8101/readyz",
    "lending: its health check does not request",
  ],
  [
    "lending: { condition: service_started }",
    "loans: { condition: service_started }",
    "gateway: waits for loans",
  ],
  ["    mem_limit: 384m\n", "", "redis: its memory has no limit"],
  [
    "  stop_grace_period: 20s\n  networks: [processes, data]\n  secrets: [mongodb_url, redis_url, service_token]",
    "  stop_grace_period: 20s\n  networks: [processes, data]\n  secrets: [mongodb_url, service_token]",
    "solana: REDIS_URL_FILE names the secret redis_url, which is not mounted",
  ],
  ["  redis_url: { file: ./secrets/redis_url }\n", "", "solana: no secret redis_url"],
  [
    "REDIS_URL_FILE: /run/secrets/redis_url",
    "REDIS_URL_FILE: /etc/redis",
    "solana: REDIS_URL_FILE=/etc/redis is no secret's file",
  ],
  ['["127.0.0.1:9090:9090"]', '["9090:9090"]', "prometheus: publishes 9090:9090 beyond this machine"],
  ["./deploy/monitoring/rules.yml:", "./deploy/rules.yml:", "prometheus: mounts ./deploy/rules.yml"],
  [
    '  driver: local\n  options: { max-size: 64m, max-file: "4" }',
    "  driver: local",
    "mongodb: its log has no limit",
  ],
  ["networks: [processes, data]", "networks: [process, data]", "gateway: no network process"],
  [
    "    build: { context: ., dockerfile: deploy/Dockerfile }\n",
    "",
    "one process must build the image, 0 do",
  ],
];

describe("docker-compose.yml", () => {
  it("is valid and agrees with the processes and the settings", () =>
    expect(findComposeFaults(TEXT, PROCESSES)).to.deep.equal([]));

  for (const [from, to, fault] of BREAKAGES) {
    it(`refused with ${JSON.stringify(to.trim() || `no ${from.trim()}`)}: ${fault}`, () => {
      const faults = findComposeFaults(change(from, to), PROCESSES);
      expect(faults.filter((found) => found.startsWith(fault))).not.to.deep.equal([], faults.join("\n"));
    });
  }

  it("refused when a store that others wait for has no health check", () => {
    const faults = findComposeFaults(
      change(
        '    healthcheck:\n      <<: *health\n      test: [CMD-SHELL, "REDISCLI_AUTH',
        '    x-was: ["REDISCLI_AUTH',
      ),
      PROCESSES,
    );
    expect(faults).to.include("gateway: waits for redis to be healthy, which has no health check");
  });

  it("reads ${NAME:-default}, ${NAME-default}, ${NAME:?error} and ${NAME} as on a machine without settings", () =>
    expect(interpolate("a: '${A:-1}-${B-2}-${C:?no}-${D?no}-${E}'")).to.deep.equal({ a: "1-2---" }));
});
