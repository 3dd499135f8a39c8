/** Separate cgroups for machines under systemd-nspawn, since two systemd in one cgroup would end each other's services. */
import { globSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

/** Returns a folder in each hierarchy that systemd uses: one in version 2, two in the mixed form. It does not make them. */
export function cgroupFolders(name: string): string[] {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  return mounts.flatMap((line) => {
    const [, at = "", type, flags = ""] = line.split(" ");
    const used = type === "cgroup2" || (type === "cgroup" && flags.split(",").includes("name=systemd"));
    return used ? [join(at, name)] : [];
  });
}

/** Returns shell lines that make the cgroups and enter them; an `exec` follows. */
export function enterCgroups(folders: readonly string[]): string {
  return folders.map((dir) => `mkdir -p '${dir}' && echo $$ > '${dir}/cgroup.procs' || exit\n`).join("");
}

/** Removes the cgroups and everything that the machine's systemd made below them. */
export function removeCgroups(folders: readonly string[]): void {
  for (const folder of folders) {
    const below = globSync("**/", { cwd: folder }).map((one) => join(folder, one));
    for (const one of [folder, ...below].sort().reverse()) {
      try {
        rmdirSync(one);
      } catch {
        // It was never made, or its last process has not fully ended. An empty cgroup is harmless.
      }
    }
  }
}
