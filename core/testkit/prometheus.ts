/** Checks our pages and queries with Prometheus' own program. Node only; for tests. */
import { spawnSync } from "node:child_process";

export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

/** @returns the page's faults; empty when it has none */
export function promtoolSays(page: string): string {
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
    input: page,
    encoding: "utf8",
  });
  return status === 0 ? "" : `${stdout}${stderr}`;
}
