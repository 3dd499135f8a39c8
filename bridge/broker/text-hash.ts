import { createHash } from "node:crypto";
import { TEXT_HASH_CHARS } from "@edgecall/core/protocol/text-hash.ts";

/** The same as core's textHash, at once. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, TEXT_HASH_CHARS);
}
