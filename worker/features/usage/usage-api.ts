/** Methods of a home about usage. */
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";

export interface UsageApi {
  /** The page for Prometheus. */
  metrics(): Promise<string>;
}

/** This home, as to usage. */
export const usageAt = (env: Env, home: string): UsageApi => topicAt(env, home, "usage");
