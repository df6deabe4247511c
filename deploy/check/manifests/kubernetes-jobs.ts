import { type Call, parseCall } from "../../backup/call.ts";
import { type Container, listJobs, listOf, type MadeJob, type Pod } from "./cluster.ts";
import { type ClusterRules, findPrivileges, readWorkload } from "./kubernetes-pods.ts";
import type { KubernetesObject } from "./kustomize.ts";

/** The only program of the image that jobs run. */
const PROGRAM = "dist/deploy/backup/main.js";
/** A user who may write; a backup only reads. */
const WRITING_KEY = "mongodb-url";
/** Minute, hour, day, month, weekday: numbers, ranges, lists and steps. */
const SCHEDULE = /^(?:(?:\*|\d+(?:-\d+)?)(?:\/\d+)?(?:,(?:\*|\d+(?:-\d+)?)(?:\/\d+)?)*(?: |$)){5}$/;

/** What CronJobs and Jobs say, held against the program that they run: its arguments, its volume, its user, its end. */
export function findJobFaults(
  objects: readonly KubernetesObject[],
  rules: Pick<ClusterRules, "image" | "secretKeys">,
): string[] {
  return listJobs(objects).flatMap((job) => {
    const { faults: ofSettings } = readWorkload(job.pod, { objects, rules });
    const faults = [
      ...findPodFaults(job.pod, rules.image),
      ...findCallFaults(job.pod, objects),
      ...findPrivileges(job.pod),
      ...findEndFaults(job),
    ];
    return [...ofSettings, ...faults.map((fault) => `${job.pod.name}: ${fault}`)];
  });
}

function findPodFaults({ spec }: Pod, image: string): string[] {
  const [container] = spec.containers as [Container];
  const faults: string[] = [];
  if (container.image !== image && container.image?.endsWith(`/${image}`) !== true)
    faults.push(`runs ${container.image}, not ${image}`);
  if (container.resources?.limits?.memory === undefined) faults.push("its memory has no limit");
  if (container.resources?.requests?.memory === undefined) faults.push("it requests no memory");
  if (container.terminationMessagePolicy !== "FallbackToLogsOnError")
    faults.push("its pod does not say why it failed");
  if (spec.securityContext?.fsGroup !== spec.securityContext?.runAsGroup)
    faults.push("its volume belongs to another group");
  return faults;
}

/** Its words are those of the program, and its folder is on a volume that stays. */
function findCallFaults({ spec }: Pod, objects: readonly KubernetesObject[]): string[] {
  const [container] = spec.containers as [Container];
  const [node, program, ...words] = container.command ?? [];
  if (node !== "node" || program !== PROGRAM) return [`starts "${node} ${program}", not "node ${PROGRAM}"`];
  let call: Call;
  try {
    call = parseCall(words);
  } catch (error) {
    return [(error as Error).message];
  }
  if (call.command === "restore") return findFolderFaults(spec, call.from, objects);
  if (call.command !== "backup") return [`runs ${call.command}`];
  if ("to" in call.target) return ["backs up to one folder, which is full after the first time"];
  const { into, keep } = call.target;
  const key = container.env?.find(({ name }) => name === "MONGODB_URL")?.valueFrom?.secretKeyRef?.key;
  return [
    ...(keep === undefined ? ["never removes a backup: --keep is missing"] : []),
    ...(key === undefined ? ["MONGODB_URL is not set"] : []),
    ...(key === WRITING_KEY ? [`reads as the user of ${WRITING_KEY}, who may write`] : []),
    ...findFolderFaults(spec, into, objects),
  ];
}

function findFolderFaults(
  { containers, volumes = [] }: Pod["spec"],
  folder: string,
  objects: readonly KubernetesObject[],
): string[] {
  const mount = containers[0]?.volumeMounts?.find(({ mountPath }) =>
    `${folder}/`.startsWith(`${mountPath}/`),
  );
  const claim = volumes.find(({ name }) => name === mount?.name)?.persistentVolumeClaim?.claimName;
  if (claim === undefined) return [`${folder} is on no volume that stays`];
  const isThere = listOf(objects, "PersistentVolumeClaim").some(({ metadata }) => metadata?.name === claim);
  return isThere ? [] : [`there is no PersistentVolumeClaim ${claim}`];
}

/** When it begins and ends: one at a time, never for ever, and what failed is still there in the morning. */
function findEndFaults({ job, cron, pod }: MadeJob): string[] {
  const faults: string[] = [];
  if (pod.spec.restartPolicy !== "Never")
    faults.push(`is restarted ${pod.spec.restartPolicy}: its log is lost`);
  if (cron === undefined) return faults;
  if ((job.backoffLimit ?? 6) > 3) faults.push("is tried more than four times a night");
  if (job.activeDeadlineSeconds === undefined) faults.push("may hang for ever");
  if (job.ttlSecondsAfterFinished !== undefined) faults.push("is gone before anybody has looked at it");
  if (cron.concurrencyPolicy !== "Forbid") faults.push("may run twice at once");
  if (cron.startingDeadlineSeconds === undefined) faults.push("may begin at any time of the day");
  if (cron.failedJobsHistoryLimit === 0) faults.push("keeps no job that failed");
  if (!SCHEDULE.test(cron.schedule)) faults.push(`"${cron.schedule}" is no schedule`);
  if (cron.timeZone === undefined) faults.push("its hour is that of whichever machine plans it");
  return faults;
}
