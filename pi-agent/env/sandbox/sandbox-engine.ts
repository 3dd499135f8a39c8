/** The setting `sandboxing`: where programs run, and the error when they cannot run there. */
import { messageOf } from "@edgecall/node/log.ts";
import type { Environment } from "../environment.ts";
import { local } from "../local.ts";
import { type SandboxOptions, sandbox, trySandbox } from "./sandbox.ts";
import { SANDBOX_KINDS } from "./sandbox-kinds.ts";

export const SANDBOX_ENGINES = ["none", ...SANDBOX_KINDS] as const;
export type SandboxEngine = (typeof SANDBOX_ENGINES)[number];

/** A missing sandbox is never replaced by running without one. */
export type Engine = {
  readonly environment: Environment;
  /**
   * Tries it, unless the result is already known.
   * @returns why programs cannot run there; undefined when they can
   * @throws NoAnswer when it is installed but did not start, which may pass
   */
  missing(): Promise<string | undefined>;
  /** The problem that the last attempt found. */
  readonly lack: string | undefined;
};

export function sandboxEngine(engine: SandboxEngine, options: Omit<SandboxOptions, "kind">): Engine {
  if (engine === "none") {
    const { workspace: cwd, readable } = options;
    const environment = local({ cwd, ...(readable && { readable }) });
    return { environment, missing: async () => undefined, lack: undefined };
  }
  const ofKind = { ...options, kind: engine };
  return new Tried(sandbox(ofKind), () => trySandbox(ofKind));
}

/** Several groups of tools use the same sandbox, so it is tried once for all of them. */
class Tried implements Engine {
  readonly environment: Environment;
  readonly #try: () => Promise<string | undefined>;
  #result: Promise<string | undefined> | undefined;
  lack: string | undefined = "the sandbox has not been tried; that is done when the agent starts";

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
      this.lack = messageOf(error);
      this.#result = undefined;
      throw error;
    }
  }
}
