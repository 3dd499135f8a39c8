/** Finds the Node that runs a bundle on this machine. */
import { isSea } from "node:sea";
import { run } from "../programs.ts";

/** The version that the bundle is built for. */
const NODE_FROM = [20, 19] as const;

/** @returns this process's Node; for a single executable, which is no Node, the system's @throws when there is none */
export async function ownNode(): Promise<string> {
  if (!isSea()) return process.execPath;
  const { out } = await run("/bin/sh", [
    "-c",
    'node=$(command -v node) && echo "$node" && "$node" --version',
  ]);
  const [path, version] = out.trim().split("\n");
  const [major = 0, minor = 0] = (version ?? "").replace(/^v/, "").split(".").map(Number);
  const enough = major > NODE_FROM[0] || (major === NODE_FROM[0] && minor >= NODE_FROM[1]);
  // A single executable needs no Node. A bundle fails later, when it is tried.
  return path !== undefined && enough ? path : "/usr/bin/node";
}
