/** Waits until a condition holds; the test's own timeout ends a wait in vain. */
export async function until(condition: () => boolean | Promise<boolean>, everyMs = 10): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, everyMs));
}
