import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { before, it } from "mocha";
import { describeThorough } from "../../../services/shared/testkit/describe.ts";
import { ROOT } from "../command.ts";
import {
  findKubernetesFaults,
  findRestoreFaults,
  KUSTOMIZATIONS,
  RESTORE_EXAMPLE,
  readClusterRules,
} from "./kubernetes.ts";
import { findJobFaults } from "./kubernetes-jobs.ts";
import { findLinkFaults } from "./kubernetes-links.ts";
import { type ClusterRules, findPodFaults } from "./kubernetes-pods.ts";
import { findSchemaFaults } from "./kubernetes-schema.ts";
import type { KubernetesObject } from "./kustomize.ts";
import { findRenderer, parseObjects, renderKustomization } from "./kustomize.ts";
import { PROCESSES } from "./process.testkit.ts";

const RULES: ClusterRules = { ...readClusterRules(ROOT), processes: PROCESSES };

/** The rendered base as text, so that a breakage is an edit of what is applied. Each place must be there. */
type Edit = readonly [kind: string, name: string, path: string, value: unknown];

function withEdit(objects: readonly KubernetesObject[], [kind, name, path, value]: Edit): KubernetesObject[] {
  const copy = structuredClone(objects) as KubernetesObject[];
  const object = copy.find((candidate) => candidate.kind === kind && candidate.metadata.name === name);
  const steps = path.split("/");
  const last = steps.pop() as string;
  const parent = steps.reduce<Record<string, unknown>>(
    (at, step) => at[step] as Record<string, unknown>,
    object as unknown as Record<string, unknown>,
  );
  expect(parent, `${kind} ${name} ${path}`).to.be.an(Array.isArray(parent) ? "array" : "object");
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}

const POD = "spec/template/spec";
const CONTAINER = `${POD}/containers/0`;

/** Edits whose result the Kubernetes API would refuse, with words of the message. */
const FORM_BREAKAGES: readonly (readonly [Edit, string])[] = [
  [["Deployment", "gateway", `${CONTAINER}/readinessProbe/httpGet/pth`, "/x"], "'\"pth\"' does not exist"],
  [["StatefulSet", "lending", `${POD}/hostNetwrk`, true], "'\"hostNetwrk\"' does not exist"],
  [["StatefulSet", "solana", `${CONTAINER}/resources/limits/memory`, "1Gx"], 'format "quantity"'],
  [["StatefulSet", "evm-dex", `${CONTAINER}/name`, undefined], "required property name"],
  [["Deployment", "evm-dex-ingest", "spec/replicas", 1.5], "spec/replicas must be integer"],
  [["Service", "gateway", "spec/port", 80], "'\"port\"' does not exist"],
  [["NetworkPolicy", "clients-to-gateway", "spec/podSelectr", {}], "'\"podSelectr\"' does not exist"],
  [
    ["PodDisruptionBudget", "gateway", "kind", "PodDisruptionBudge"],
    "no kind PodDisruptionBudge in policy/v1",
  ],
  [["HorizontalPodAutoscaler", "gateway", "apiVersion", "autoscaling/v3"], "in autoscaling/v3"],
];

/** Edits that the API would take, but that lead nowhere, with the fault they must cause. */
const CONTENT_BREAKAGES: readonly (readonly [Edit, string])[] = [
  [
    ["StatefulSet", "lending", "metadata/name", "loans"],
    "lending: services/lending/main.ts exists, but nothing starts it",
  ],
  [["StatefulSet", "lending", "metadata/name", "loans"], "loans: there is no such process"],
  [
    ["StatefulSet", "solana", `${CONTAINER}/command/1`, "dist/solana.js"],
    'solana: starts "node dist/solana.js"',
  ],
  [
    ["StatefulSet", "solana", `${CONTAINER}/image`, "chaintables:latest"],
    "solana: runs chaintables:latest, not",
  ],
  [
    ["StatefulSet", "solana", `${CONTAINER}/ports/0/containerPort`, 8113],
    "solana: listens on 8103 for http, but declares 8113",
  ],
  [
    ["StatefulSet", "solana", `${CONTAINER}/readinessProbe/httpGet/port`, "web"],
    "solana: readinessProbe requests the port web",
  ],
  [
    ["StatefulSet", "solana", `${CONTAINER}/livenessProbe/httpGet/path`, "/"],
    "solana: livenessProbe requests /, not /livez",
  ],
  [
    ["Deployment", "gateway", `${CONTAINER}/readinessProbe/httpGet/path`, "/readyz"],
    "gateway: readinessProbe requests /readyz, not /readyz?exclude=data",
  ],
  [
    ["StatefulSet", "solana", `${CONTAINER}/readinessProbe`, undefined],
    "solana: readinessProbe requests undefined",
  ],
  [
    ["Deployment", "solana-ingest", `${CONTAINER}/livenessProbe`, undefined],
    "solana-ingest: livenessProbe requests undefined",
  ],
  [
    ["HorizontalPodAutoscaler", "solana", "spec/maxReplicas", 9],
    "gateway: SOLANA_URL does not name the replica solana-8.solana",
  ],
  [["StatefulSet", "solana", `${CONTAINER}/resources/limits`, {}], "solana: its memory has no limit"],
  [
    ["StatefulSet", "solana", `${CONTAINER}/securityContext/readOnlyRootFilesystem`, false],
    "solana: its disk is not",
  ],
  [
    ["StatefulSet", "solana", `${CONTAINER}/securityContext/capabilities`, undefined],
    "solana: keeps capabilities",
  ],
  [["StatefulSet", "solana", `${POD}/securityContext/runAsNonRoot`, undefined], "solana: may run as root"],
  [
    ["StatefulSet", "solana", `${POD}/automountServiceAccountToken`, true],
    "solana: is given a token of the cluster",
  ],
  [
    ["StatefulSet", "solana", `${POD}/terminationGracePeriodSeconds`, 20],
    "solana: is killed after 20000 ms, stopping may take 22000 ms",
  ],
  [
    ["Deployment", "gateway", `${CONTAINER}/env/1/valueFrom/secretKeyRef/key`, "mongo"],
    "gateway: MONGODB_URL wants the key mongo",
  ],
  [
    ["Deployment", "gateway", `${CONTAINER}/ports/2/containerPort`, 9411],
    "gateway: listens on 9401 for admin, but declares 9411",
  ],
  [
    ["Service", "gateway", "spec/ports/1/targetPort", "admin"],
    "Service gateway: the port admin is for operators",
  ],
  [
    ["Service", "gateway", "spec/ports/1/targetPort", 9401],
    "Service gateway: the port 9401 is for operators",
  ],
  [
    ["NetworkPolicy", "clients-to-gateway", "spec/ingress/0/ports", undefined],
    "NetworkPolicy clients-to-gateway: it lets everybody reach a port of operators",
  ],
  [
    ["NetworkPolicy", "monitoring-to-metrics", "spec/ingress/0/from", undefined],
    "NetworkPolicy monitoring-to-metrics: it lets everybody reach a port of operators",
  ],
  [["Deployment", "gateway", `${CONTAINER}/env/3/name`, "GATEWAY"], "gateway: GATEWAY is no setting"],
  [
    ["Deployment", "gateway", `${CONTAINER}/env/4/value`, "http://evm-dex:80"],
    "gateway: EVM_DEX_URL: nothing listens at",
  ],
  [
    ["Deployment", "gateway", `${CONTAINER}/env/5/value`, "lending-0.lending:9102"],
    "gateway: EVM_DEX_GRPC: lending-0.lending:9102 is grpc of lending",
  ],
  [
    ["Deployment", "gateway", `${CONTAINER}/envFrom/1/configMapRef/name`, "answering"],
    "gateway: there is no ConfigMap answering",
  ],
  [["Deployment", "gateway", `${CONTAINER}/envFrom`, []], "gateway: BIND_HOST is not set"],
  [
    ["Deployment", "gateway", `${CONTAINER}/ports/1/containerPort`, 8403],
    "gateway: listens on 8402 for x402, but declares 8403",
  ],
  [
    ["Deployment", "facilitator", `${CONTAINER}/env/2/valueFrom/secretKeyRef/key`, "wallet"],
    "facilitator: FACILITATOR_PRIVATE_KEY wants the key wallet",
  ],
  [
    ["Deployment", "gateway", "spec/replicas", 2],
    "HorizontalPodAutoscaler gateway: gateway also states a count",
  ],
  [["Service", "solana", "spec/ports/0/targetPort", "web"], "Service solana: solana has no port web"],
  [
    ["Service", "solana", "spec/selector", { "app.kubernetes.io/name": "sol" }],
    "Service solana: its selector picks 0",
  ],
  [["Service", "solana", "spec/selector", {}], "Service solana: its selector picks 8"],
  [
    ["Service", "solana", "metadata/name", "sol"],
    "gateway: SOLANA_URL: nothing listens at http://solana-0.solana:8103",
  ],
  [["Service", "lending", "metadata/name", "solana"], "Service solana: there are two"],
  [
    ["HorizontalPodAutoscaler", "solana", "spec/scaleTargetRef/name", "sol"],
    "HorizontalPodAutoscaler solana: there is no StatefulSet sol",
  ],
  [
    [
      "PodDisruptionBudget",
      "solana",
      "spec/selector/matchLabels",
      { "app.kubernetes.io/part-of": "chaintables" },
    ],
    "PodDisruptionBudget solana: its selector picks 8",
  ],
  [
    ["NetworkPolicy", "clients-to-gateway", "spec/podSelector/matchLabels", { app: "gateway" }],
    "NetworkPolicy clients-to-gateway: it picks no pod",
  ],
  [
    ["NetworkPolicy", "clients-to-gateway", "spec/ingress/0/ports/0/port", "web"],
    "NetworkPolicy clients-to-gateway: no guarded pod has the port web",
  ],
  [
    [
      "NetworkPolicy",
      "lending-to-prices",
      "spec/ingress/0/from/0/podSelector",
      { matchLabels: { app: "x" } },
    ],
    "NetworkPolicy lending-to-prices: a peer picks no pod",
  ],
];

const JOB = "spec/jobTemplate/spec";
const JOB_POD = `${JOB}/template/spec`;
const JOB_CONTAINER = `${JOB_POD}/containers/0`;

/** The same of the nightly backup. */
const JOB_BREAKAGES: readonly (readonly [path: string, value: unknown, fault: string])[] = [
  ["spec/concurrencyPolicy", "Allow", "may run twice at once"],
  ["spec/startingDeadlineSeconds", undefined, "may begin at any time of the day"],
  ["spec/failedJobsHistoryLimit", 0, "keeps no job that failed"],
  ["spec/schedule", "15 3 * *", '"15 3 * *" is no schedule'],
  ["spec/timeZone", undefined, "its hour is that of whichever machine plans it"],
  [`${JOB}/backoffLimit`, undefined, "is tried more than four times a night"],
  [`${JOB}/activeDeadlineSeconds`, undefined, "may hang for ever"],
  [`${JOB}/ttlSecondsAfterFinished`, 60, "is gone before anybody has looked at it"],
  [`${JOB_POD}/restartPolicy`, "OnFailure", "is restarted OnFailure: its log is lost"],
  [`${JOB_POD}/securityContext/runAsNonRoot`, undefined, "may run as root"],
  [`${JOB_POD}/securityContext/fsGroup`, undefined, "its volume belongs to another group"],
  [`${JOB_POD}/automountServiceAccountToken`, true, "is given a token of the cluster"],
  [`${JOB_POD}/volumes/0`, { name: "backups", emptyDir: {} }, "/backups is on no volume that stays"],
  [`${JOB_POD}/volumes/0/persistentVolumeClaim/claimName`, "x", "there is no PersistentVolumeClaim x"],
  [`${JOB_CONTAINER}/volumeMounts/0/mountPath`, "/other", "/backups is on no volume that stays"],
  [`${JOB_CONTAINER}/image`, "chaintables:latest", "runs chaintables:latest, not"],
  [`${JOB_CONTAINER}/command/1`, "dist/backup.js", 'starts "node dist/backup.js"'],
  [`${JOB_CONTAINER}/command/2`, "check", "runs check"],
  [`${JOB_CONTAINER}/command/3`, "--too", "Unknown option '--too'"],
  [`${JOB_CONTAINER}/command/6`, "0", "--keep 0 is no number from 1 on"],
  [
    `${JOB_CONTAINER}/command`,
    ["node", "dist/deploy/backup/main.js", "backup", "--into", "/backups"],
    "never removes a backup",
  ],
  [
    `${JOB_CONTAINER}/command`,
    ["node", "dist/deploy/backup/main.js", "backup", "--to", "/backups"],
    "backs up to one folder, which is full",
  ],
  [
    `${JOB_CONTAINER}/env/0/valueFrom/secretKeyRef/key`,
    "mongodb-url",
    "reads as the user of mongodb-url, who may write",
  ],
  [`${JOB_CONTAINER}/env/0/valueFrom/secretKeyRef/key`, "x", "MONGODB_URL wants the key x"],
  [`${JOB_CONTAINER}/env/0/name`, "MONGODB", "MONGODB_URL is not set"],
  [`${JOB_CONTAINER}/resources/limits`, {}, "its memory has no limit"],
  [`${JOB_CONTAINER}/resources/requests`, {}, "it requests no memory"],
  [`${JOB_CONTAINER}/terminationMessagePolicy`, "File", "its pod does not say why it failed"],
  [`${JOB_CONTAINER}/securityContext/readOnlyRootFilesystem`, false, "its disk is not read-only"],
];

describeThorough("Kubernetes manifests", () => {
  const rendered = new Map<string, KubernetesObject[]>();
  let base: KubernetesObject[];

  before("render (needs kustomize or kubectl on PATH)", async function () {
    const renderer = await findRenderer();
    if (renderer === undefined) {
      console.log("      pending: neither kustomize nor kubectl is on PATH");
      this.skip();
    }
    for (const folder of KUSTOMIZATIONS) rendered.set(folder, await renderKustomization(folder, renderer));
    base = rendered.get("deploy/k8s/base") ?? [];
  });

  for (const folder of KUSTOMIZATIONS) {
    it(`${folder} is valid and agrees with the processes and the settings`, async () => {
      expect(await findKubernetesFaults(rendered.get(folder) ?? [], RULES)).to.deep.equal([]);
      expect(rendered.get(folder)).to.have.length.above(25);
    });
  }

  it("refused by the API's own description when fields are unknown, missing or malformed", async () => {
    const broken = FORM_BREAKAGES.reduce((objects, [edit]) => withEdit(objects, edit), base);
    const faults = await findSchemaFaults(broken);
    for (const [[kind, name, path], words] of FORM_BREAKAGES) {
      const found = faults.filter((fault) => fault.includes(` ${name}: `) && fault.includes(words));
      expect(found, `${kind} ${name} ${path}: ${words}\n${faults.join("\n")}`).not.to.deep.equal([]);
    }
  });

  for (const [edit, fault] of CONTENT_BREAKAGES) {
    it(`refused with ${edit.slice(0, 3).join(" ")} = ${JSON.stringify(edit[3])}: ${fault}`, () => {
      const broken = withEdit(base, edit);
      const faults = [...findLinkFaults(broken), ...findPodFaults(broken, RULES)];
      expect(
        faults.filter((found) => found.startsWith(fault)),
        faults.join("\n"),
      ).not.to.deep.equal([]);
    });
  }

  for (const [path, value, fault] of JOB_BREAKAGES) {
    it(`refused with CronJob backup ${path} = ${JSON.stringify(value)}: ${fault}`, () => {
      const whole = rendered.get("deploy/k8s/overlays/backup") ?? [];
      const faults = findJobFaults(withEdit(whole, ["CronJob", "backup", path, value]), RULES);
      expect(
        faults.filter((found) => found.startsWith(`backup: ${fault}`)),
        faults.join("\n"),
      ).not.to.deep.equal([]);
    });
  }

  it("refused when the policy of the backup picks nobody, or the API has no such field of a CronJob", async () => {
    const whole = rendered.get("deploy/k8s/overlays/backup") ?? [];
    const policy = "spec/podSelector/matchLabels";
    const unguarded = withEdit(whole, ["NetworkPolicy", "backup-ways-out", policy, { app: "backup" }]);
    expect(findLinkFaults(unguarded)).to.include("NetworkPolicy backup-ways-out: it picks no pod");
    const misspelt = withEdit(whole, ["CronJob", "backup", "spec/concurrency", "Forbid"]);
    expect((await findSchemaFaults(misspelt)).join()).to.contain("'\"concurrency\"' does not exist");
  });

  it("have a Job that restores a backup, of the same image and volume", async () => {
    const objects = Object.values(RESTORE_EXAMPLE).flatMap((path) =>
      parseObjects(readFileSync(join(ROOT, path), "utf8")),
    );
    expect(await findRestoreFaults(objects, RULES)).to.deep.equal([]);
    const command = "spec/template/spec/containers/0/command";
    for (const [place, fault] of [
      [`${command}/4`, "restore: x is on no volume that stays"],
      ["spec/template/spec/containers/0/image", "restore: runs x, not"],
      [`${command}/3`, "restore: "],
    ] as const) {
      const faults = await findRestoreFaults(withEdit(objects, ["Job", "restore", place, "x"]), RULES);
      expect(faults.filter((found) => found.startsWith(fault))).not.to.deep.equal([]);
    }
  });

  it("with the operator's kinds, whose unknown fields are refused too", async () => {
    const production = rendered.get("deploy/k8s/overlays/production") ?? [];
    const monitor = "chaintables-services";
    const misspelt = withEdit(production, ["PodMonitor", monitor, "spec/podMetricsEndpoints/0/prt", "http"]);
    const rule = withEdit(production, ["PrometheusRule", "chaintables", "spec/groups/0/rules/0/for", "soon"]);
    expect(await findSchemaFaults(misspelt)).to.deep.equal([
      `PodMonitor ${monitor}: /spec/podMetricsEndpoints/0 must NOT have additional properties: prt`,
    ]);
    expect((await findSchemaFaults(rule)).join()).to.contain("/spec/groups/0/rules/0/for must match");
  });

  it("refused when a Deployment's selector does not pick its own pods", () => {
    const broken = withEdit(base, ["StatefulSet", "lending", "spec/selector/matchLabels", { app: "x" }]);
    expect(findLinkFaults(broken)).to.include("StatefulSet lending: its selector picks no pod");
  });

  it("reads every document of a text and leaves out empty ones", () =>
    expect(parseObjects("a: 1\n---\n# nothing\n---\nb: 2\n")).to.deep.equal([{ a: 1 }, { b: 2 }]));
});
