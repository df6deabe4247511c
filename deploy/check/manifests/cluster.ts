import type { IDeployment, IStatefulSet } from "kubernetes-models/apps/v1";
import type { IHorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import type { ICronJob, IJob } from "kubernetes-models/batch/v1";
import type { INetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import type { IPodDisruptionBudget } from "kubernetes-models/policy/v1";
import type { IConfigMap, IPersistentVolumeClaim, ISecret, IService } from "kubernetes-models/v1";
import type { KubernetesObject } from "./kustomize.ts";

interface Kinds {
  readonly ConfigMap: IConfigMap;
  readonly CronJob: ICronJob;
  readonly Deployment: IDeployment;
  readonly HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  readonly Job: IJob;
  readonly NetworkPolicy: INetworkPolicy;
  readonly PersistentVolumeClaim: IPersistentVolumeClaim;
  readonly PodDisruptionBudget: IPodDisruptionBudget;
  readonly Secret: ISecret;
  readonly Service: IService;
  readonly StatefulSet: IStatefulSet;
}

export type PodSpec = NonNullable<NonNullable<NonNullable<IDeployment["spec"]>["template"]>["spec"]>;
export type Container = PodSpec["containers"][number];
export type Labels = Readonly<Record<string, string>>;

/** A pod as one Deployment, StatefulSet, CronJob or Job makes it. */
export interface Pod {
  readonly name: string;
  readonly labels: Labels;
  readonly spec: PodSpec;
  readonly replicas: number | undefined;
  /** The Service below whose name each replica has one of its own; undefined of a Deployment. */
  readonly serviceName?: string | undefined;
}

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
  }[];
}

/** Objects of one kind; their form must have been checked. */
export function listOf<K extends keyof Kinds>(objects: readonly KubernetesObject[], kind: K): Kinds[K][] {
  return objects.filter((object) => object.kind === kind) as unknown as Kinds[K][];
}

/** The pods of all Deployments and StatefulSets. */
export function listPods(objects: readonly KubernetesObject[]): Pod[] {
  return listMakers(objects).flatMap(({ metadata, spec }) =>
    spec?.template.spec === undefined
      ? []
      : [
          {
            name: metadata?.name ?? "",
            labels: spec.template.metadata?.labels ?? {},
            spec: spec.template.spec,
            replicas: spec.replicas,
            ...("serviceName" in spec && { serviceName: spec.serviceName }),
          },
        ],
  );
}

/** A pod that runs to its end, and what makes it. */
export interface MadeJob {
  readonly pod: Pod;
  readonly job: NonNullable<IJob["spec"]>;
  /** Undefined of a Job by itself. */
  readonly cron: NonNullable<ICronJob["spec"]> | undefined;
}

/** Of all CronJobs and Jobs. */
export function listJobs(objects: readonly KubernetesObject[]): MadeJob[] {
  const made = [
    ...listOf(objects, "CronJob").map(({ metadata, spec }) => ({
      metadata,
      cron: spec,
      job: spec?.jobTemplate.spec,
    })),
    ...listOf(objects, "Job").map(({ metadata, spec }) => ({ metadata, cron: undefined, job: spec })),
  ];
  return made.flatMap(({ metadata, cron, job }) => {
    const template = job?.template;
    if (job === undefined || template?.spec === undefined) return [];
    const { spec, metadata: own } = template;
    const pod = { name: metadata?.name ?? "", labels: own?.labels ?? {}, spec, replicas: undefined };
    return [{ pod, job, cron }];
  });
}

/** What makes pods that stay. */
export function listMakers(objects: readonly KubernetesObject[]): (IDeployment | IStatefulSet)[] {
  return [...listOf(objects, "Deployment"), ...listOf(objects, "StatefulSet")];
}

/** Pods that a label selector picks; an empty one picks all. Throws for an operator that this check does not know. */
export function pick(pods: readonly Pod[], { matchLabels = {}, matchExpressions = [] }: Selector): Pod[] {
  return pods.filter(
    ({ labels }) =>
      Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
      matchExpressions.every(({ key, operator, values = [] }) => {
        if (operator !== "In") throw new Error(`Cannot judge a selector with the operator ${operator}.`);
        return values.includes(labels[key] ?? "");
      }),
  );
}

/** Whether a container of the pod has a port of that name or number. */
export function hasPort({ spec }: Pod, port: string | number): boolean {
  return spec.containers.some(({ ports = [] }) =>
    ports.some(({ name, containerPort }) => name === port || containerPort === port),
  );
}
