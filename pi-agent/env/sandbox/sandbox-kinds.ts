/**
 * The kinds of sandbox: how each is started, and what it cannot guarantee. docs/explain/tools/execution.md compares them. All but the usual
 * kind are loaded at their first use.
 */
import { userInfo } from "node:os";
import { bwrapArguments } from "./bwrap-arguments.ts";
import { FILTER_FD, withFilter } from "./call-filter.ts";
import { type SandboxProfile, type SandboxRun, sandboxEnv } from "./sandbox-profile.ts";
import type { Given, Start } from "./start.ts";

export const SANDBOX_KINDS = ["bubblewrap", "firejail", "podman"] as const;
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

type Kind = {
  program: string;
  howToGetIt: string;
  /** The guarantees of bubblewrap that it lacks; undefined for bubblewrap. */
  gaps?: string;
  /** Runs before the first use, and removes what a killed agent left. */
  begin?(program?: string): Promise<void>;
  start(profile: SandboxProfile, run: SandboxRun, given: Given): Promise<Start>;
};

export const KINDS: Readonly<Record<SandboxKind, Kind>> = {
  bubblewrap: {
    program: "bwrap",
    // Version 0.8.0 (Debian 12) and later have `--disable-userns`.
    howToGetIt:
      "install bubblewrap 0.8.0 or newer (apt install bubblewrap), and let ordinary users have user namespaces",
    async start(profile, run, { env }) {
      const prefix = withFilter();
      const filter = prefix.length > 0 ? ["--seccomp", String(FILTER_FD)] : [];
      return {
        prefix,
        args: [...filter, ...bwrapArguments(profile, run)],
        env: { ...sandboxEnv(profile.workspace), ...env },
      };
    },
  },
  firejail: {
    program: "firejail",
    howToGetIt:
      "install firejail 0.9.72 or newer (apt install firejail), and run the agent outside of containers, as an ordinary user who has a shell and may start setuid programs",
    gaps: "firejail is a setuid program, so a fault in it gives root; /tmp has no bound of its own; what runs while the agent is killed goes on; no device can be granted; no more than some two dozen readable paths can be shown",
    async start(profile, run, { env }) {
      const { firejailArguments, machine } = await import("./firejail-arguments.ts");
      return {
        ...firejailArguments(profile, run, machine(userInfo().homedir)),
        env: { ...sandboxEnv(profile.workspace), ...env },
      };
    },
  },
  podman: {
    program: "podman",
    howToGetIt:
      "install podman 4.3 or newer (apt install podman), and see that 'podman run' starts a container as the agent's user",
    gaps: "podman takes a second or so to start; what runs while the agent is killed goes on until the agent starts again",
    begin: async (program) => await (await import("./podman.ts")).removeForgotten(program),
    start: async (...run) => (await import("./podman.ts")).startPodman(...run),
  },
};
