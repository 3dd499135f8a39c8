/** For tests in workerd: what home `a` has of rights and of things. */
import { ask } from "./workerd.ts";

const PARTS = [
  "/v1/tokens",
  "/v1/conversations?all=yes",
  "/v1/questions",
  "/v1/permissions",
  "/v1/rules",
  "/v1/lending",
  "/v1/keys",
  "/v1/oauth/clients",
  "/v1/passkeys",
  "/v1/devices",
  "/v1/connections",
  "/v1/model",
];

/** What changes by itself: times of use, who was asked meanwhile, and whether a bridge is connected. */
const MOVING = new Set(["last_used_at", "used_at", "at", "last_seen", "asked", "online", "reason"]);

/** @returns it as its owner sees it, to be compared */
export async function heldRights(): Promise<string> {
  const all = await Promise.all(PARTS.map(async (path) => [path, await (await ask(path)).json()] as const));
  return JSON.stringify(all, (key, value: unknown) => (MOVING.has(key) ? undefined : value));
}
