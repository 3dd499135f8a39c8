/** Tokens of the tests, and the Worker's variables that know them. Two homes, so that each can be kept from the other. */
import { createHash } from "node:crypto";

export const TOKENS = {
  owner: "test-owner-token-of-home-a",
  guest: "test-guest-token-of-home-a",
  otherHome: "test-owner-token-of-home-b",
  bridge: "test-bridge-token-of-home-a",
  otherBridge: "test-bridge-token-of-home-b",
};

export const testVars = {
  LLM_MODEL: "scripted",
  ALLOW_UNSIGNED_AGENTS: "*",
  API_TOKENS: JSON.stringify([
    {
      hash: sha256(TOKENS.owner),
      name: "anna",
      home: "a",
      role: "owner",
      scopes: ["ask", "command", "approve", "admin"],
    },
    { hash: sha256(TOKENS.guest), name: "gus", home: "a", role: "guest", scopes: ["ask"] },
    {
      hash: sha256(TOKENS.otherHome),
      name: "berta",
      home: "b",
      role: "owner",
      scopes: ["ask", "command", "approve", "admin"],
    },
  ]),
  BRIDGE_TOKENS: JSON.stringify([
    { hash: sha256(TOKENS.bridge), name: "bridge-a", home: "a" },
    { hash: sha256(TOKENS.otherBridge), name: "bridge-b", home: "b" },
  ]),
};

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
