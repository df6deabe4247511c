/**
 * Runs the jobs with at most `lanes` of them at a time, each started in the order of the list as soon as one has ended.
 * Returns what they returned, in the order of the list. The first error ends it: no job is started after it.
 */
export async function runInLanes<Job, Result>(
  jobs: readonly Job[],
  lanes: number,
  runJob: (job: Job) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  let isBroken = false;
  const runLane = async (): Promise<void> => {
    while (next < jobs.length && !isBroken) {
      const index = next++;
      try {
        results[index] = await runJob(jobs[index] as Job);
      } catch (error) {
        isBroken = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, runLane));
  return results;
}
