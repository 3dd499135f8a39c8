/** Cgroups of their own for machines under systemd-nspawn: two systemd in one would end each other's services. */
import { globSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

/** One in each hierarchy that systemd uses: a single one in version 2, two in the mixed form. Not made yet. */
export function cgroupFolders(name: string): string[] {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return mounts.flatMap((line) => {
    const [, at = "", type, flags = ""] = line.split(" ");
    const used = type === "cgroup2" || (type === "cgroup" && flags.split(",").includes("name=systemd"));
    return used ? [join(at, name)] : [];
  });
}

/** The shell's lines before its `exec`: makes them, and goes in. */
export function enterCgroups(folders: readonly string[]): string {
  return folders.map((dir) => `mkdir -p '${dir}' && echo $$ > '${dir}/cgroup.procs' || exit\n`).join("");
}

/** With all that the machines' systemd made below them. */
export function removeCgroups(folders: readonly string[]): void {
  for (const folder of folders) {
    const below = globSync("**/", { cwd: folder }).map((one) => join(folder, one));
    for (const one of [folder, ...below].sort().reverse()) {
      try {
        rmdirSync(one);
      } catch {
        // Never made, or its last process is not quite gone; it is empty and harms nobody.
      }
    }
  }
}
