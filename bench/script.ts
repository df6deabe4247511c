import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * Starts a script of the benches as a process of its own, and returns its first line once it is there. Its standard
 * input ends with this process, by which it may end itself. Throws where it ends before that.
 */
export async function startScript(
  url: URL,
  { args, flags = [] }: { readonly args: readonly string[]; readonly flags?: readonly string[] },
): Promise<{ child: ChildProcess; firstLine: string }> {
  const command = [...flags, "--import", "tsx", fileURLToPath(url), ...args];
  const child = spawn(process.execPath, command, { stdio: ["pipe", "pipe", "inherit"] });
  const [firstLine] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit").then(([code]) => {
      throw new Error(`${url.pathname} ended with ${code}.`);
    }),
  ])) as [string];
  return { child, firstLine };
}
