/** This machine itself, without a sandbox. */
import { resolve } from "node:path";
import type { Environment } from "./environment.ts";
import { localExec } from "./local-exec.ts";
import { localFiles } from "./local-files.ts";
import type { GuardedPlace } from "./path-guard.ts";

export function local(place: GuardedPlace): Environment {
  const cwd = resolve(place.cwd);
  return {
    name: "local",
    kind: "local",
    cwd,
    files: localFiles(place),
    exec: localExec(cwd),
    close: async () => {},
  };
}
