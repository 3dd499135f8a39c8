/** Tokens that a home makes. */
import type { ApiToken } from "../settings/tokens.ts";

export type NewToken = Pick<ApiToken, "hash" | "name" | "role" | "scopes"> & {
  madeBy: string;
  /** Epoch ms; null = never. */
  expiresAt: number | null;
  /** As in `ApiToken`. */
  bySession: boolean;
};
