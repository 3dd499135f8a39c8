/** Makes the id by which every ledger on the way recognises a call. */
import { sha256Hex } from "@edgecall/core/encoding.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";

const KEY_MAX = 200;

/**
 * Without a key the id is new. With a key it is the same each time, so that a repeat is not run again. A JSON-RPC id is not usable as a
 * key, because each client counts from the beginning.
 */
export async function callId(token: ApiToken, key: string | undefined): Promise<string> {
  if (!key || key.length > KEY_MAX) return crypto.randomUUID();
  const hash = await sha256Hex(`mcp\n${token.home}\n${token.hash}\n${key}`);
  // In the form of a UUID of version 8, which leaves the content to the application (RFC 9562 §5.8).
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
