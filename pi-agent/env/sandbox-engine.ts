/** The setting `sandbox`: where programs run, and what is said when that cannot be. */
import type { Environment } from "./environment.ts";
import { local } from "./local.ts";
import { type SandboxOptions, sandbox, sandboxMissing } from "./sandbox.ts";

export const SANDBOX_ENGINES = ["none", "bubblewrap", "firejail", "podman"] as const;
export type SandboxEngine = (typeof SANDBOX_ENGINES)[number];

export type Engine = { ok: true; environment: Environment } | { ok: false; missing: string };

/**
 * @returns where tools that run programs may run; or why nowhere, so that they are not advertised: a sandbox
 *   that is not there is never replaced by none
 */
export async function sandboxEngine(engine: SandboxEngine, options: SandboxOptions): Promise<Engine> {
  switch (engine) {
    case "none": {
      const { workspace: cwd, readable } = options;
      return { ok: true, environment: local({ cwd, ...(readable && { readable }) }) };
    }
    case "bubblewrap": {
      const missing = await sandboxMissing(options);
      return missing === undefined ? { ok: true, environment: sandbox(options) } : { ok: false, missing };
    }
    case "firejail":
      return {
        ok: false,
        missing: unsupported("firejail", "it is a setuid program, which a fault in it makes root"),
      };
    case "podman":
      return {
        ok: false,
        missing: unsupported("podman", "a container for each call is too slow for a small device"),
      };
  }
}

function unsupported(engine: SandboxEngine, why: string): string {
  return `sandboxing = "${engine}" is not supported (${why}): use "bubblewrap", or "none" to run programs without a sandbox`;
}
