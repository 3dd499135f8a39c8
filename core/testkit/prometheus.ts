/** Prometheus' own program, as a judge of our pages and queries. Node only; for tests. */
import { spawnSync } from "node:child_process";

export const hasPromtool = spawnSync("promtool", ["--version"]).status === 0;

/** @returns what is wrong with the page; empty when nothing is */
export function promtoolSays(page: string): string {
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], {
    input: page,
    encoding: "utf8",
  });
  return status === 0 ? "" : `${stdout}${stderr}`;
}
