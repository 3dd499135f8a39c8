/** Methods of a home about updates. */
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";

export interface UpdatesApi {
  /** Signs a manifest of the program. @param named the public key that the asking device obeys @returns undefined: the key is not this home's */
  signManifest(named: string, body: string): Promise<string | undefined>;
  /** Tells the bridge to update itself. @returns why not */
  updateBridge(id: string): Promise<"offline" | "cannot_update" | undefined>;
}

/** This home, as to updates. */
export const updatesAt = (env: Env, home: string): UpdatesApi => topicAt(env, home, "updates");
