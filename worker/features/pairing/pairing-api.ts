/** Methods of a home about pairing. */
import { topicAt } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import type { CodeState, NewCode, PairBody, PairResult } from "./contract.ts";

export interface PairingApi {
  /** @returns undefined: too many codes are open */
  makeCode(wanted: NewCode): Promise<{ end: string; expiresAt: number } | undefined>;
  code(end: string): Promise<CodeState & { online?: boolean }>;
  pair(body: PairBody, end: string): Promise<PairResult>;
}

/** This home, as to pairing. */
export const pairingAt = (env: Env, home: string): PairingApi => topicAt(env, home, "pairing");
