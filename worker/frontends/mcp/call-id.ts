/** The id under which every ledger on the way knows a call. */
import { sha256Hex } from "@edgecall/core/encoding.ts";
import type { ApiToken } from "../../settings/tokens.ts";

const KEY_MAX = 200;

/**
 * A new id; with a key, the same one each time, so that a repeat is recognised and not run again. JSON-RPC ids are
 * no such key: each client begins to count anew.
 */
export async function callId(token: ApiToken, key: string | undefined): Promise<string> {
  if (!key || key.length > KEY_MAX) return crypto.randomUUID();
  const hash = await sha256Hex(`mcp\n${token.home}\n${token.hash}\n${key}`);
  // In a UUID's form (version 8, RFC 9562 §5.8: made in a way of one's own).
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
