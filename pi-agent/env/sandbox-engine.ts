/** The setting `sandboxing`: where programs run, and what is said when that cannot be. */
import type { Environment } from "./environment.ts";
import { local } from "./local.ts";
import { type SandboxOptions, sandbox, trySandbox } from "./sandbox.ts";

export const SANDBOX_ENGINES = ["none", "bubblewrap", "firejail", "podman"] as const;
export type SandboxEngine = (typeof SANDBOX_ENGINES)[number];

/** A sandbox that is not there is never replaced by none. */
export type Engine = {
  readonly environment: Environment;
  /**
   * Tries it, unless it is known to work, or not to be there.
   * @returns why programs cannot run there; undefined when they can
   * @throws NoAnswer when it is there and did not start: that may pass
   */
  missing(): Promise<string | undefined>;
  /** What the last try found missing. */
  readonly lack: string | undefined;
};

/** @returns why this engine cannot be used at all */
export function unsupportedEngine(engine: SandboxEngine): string | undefined {
  if (engine === "firejail")
    return unsupported(engine, "it is a setuid program, which a fault in it makes root");
  if (engine === "podman")
    return unsupported(engine, "a container for each call is too slow for a small device");
  return undefined;
}

export function sandboxEngine(engine: "none" | "bubblewrap", options: SandboxOptions): Engine {
  if (engine === "none") {
    const { workspace: cwd, readable } = options;
    const environment = local({ cwd, ...(readable && { readable }) });
    return { environment, missing: async () => undefined, lack: undefined };
  }
  return new Tried(sandbox(options), () => trySandbox(options));
}

/** Several groups of tools ask for the same sandbox: it is tried once for all of them. */
class Tried implements Engine {
  readonly environment: Environment;
  readonly #try: () => Promise<string | undefined>;
  #result: Promise<string | undefined> | undefined;
  lack: string | undefined = "the sandbox has not been tried yet";

  constructor(environment: Environment, attempt: () => Promise<string | undefined>) {
    this.environment = environment;
    this.#try = attempt;
  }

  missing(): Promise<string | undefined> {
    this.#result ??= this.#attempt();
    return this.#result;
  }

  async #attempt(): Promise<string | undefined> {
    try {
      this.lack = await this.#try();
      return this.lack;
    } catch (error) {
      this.lack = error instanceof Error ? error.message : String(error);
      this.#result = undefined;
      throw error;
    }
  }
}

function unsupported(engine: SandboxEngine, why: string): string {
  return `sandboxing = "${engine}" is not supported (${why}): use "bubblewrap", or "none" to run programs without a sandbox`;
}
