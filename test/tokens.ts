/** Tokens for tests, and the Worker's variables with them. There are two homes, to test that they are isolated. */
import { createHash } from "node:crypto";

export const TOKENS = {
  owner: "test-owner-token-of-home-a",
  guest: "test-guest-token-of-home-a",
  member: "test-member-token-of-home-a",
  approver: "test-approver-token-of-home-a",
  admin: "test-admin-token-of-home-a",
  scraper: "test-scraper-token-of-home-a",
  otherHome: "test-owner-token-of-home-b",
  bridge: "test-bridge-token-of-home-a",
  otherBridge: "test-bridge-token-of-home-b",
};

/** Nothing listens at the platforms' addresses; outgoing requests are tested with servers (test/e2e/channels.test.ts). */
const nowhere = "http://127.0.0.1:9";
export const CHANNEL_SECRETS = {
  telegram: "test-webhook-secret-of-telegram",
  slack: "test-signing-secret-of-slack",
  whatsapp: "test-app-secret-of-whatsapp",
  verify: "test-verify-token-of-whatsapp",
  generic: "test-bearer-token-of-the-door",
};
const CHANNELS = [
  {
    connection: "family",
    channel: "telegram",
    home: "a",
    token: "1:test-token-of-telegram",
    secret: CHANNEL_SECRETS.telegram,
    base_url: nowhere,
    allow: ["7"],
    role_of: { 1: "owner" },
  },
  {
    connection: "work",
    channel: "slack",
    home: "a",
    token: "xoxb-test-token",
    secret: CHANNEL_SECRETS.slack,
    base_url: nowhere,
  },
  {
    connection: "club",
    channel: "discord",
    home: "a",
    token: "test-token-of-discord",
    public_key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    base_url: nowhere,
  },
  {
    connection: "phone",
    channel: "whatsapp",
    home: "a",
    token: "test-token-of-whatsapp",
    secret: CHANNEL_SECRETS.whatsapp,
    verify_token: CHANNEL_SECRETS.verify,
    phone_number_id: "111",
    base_url: nowhere,
  },
  { connection: "door", channel: "generic", home: "a", secret: CHANNEL_SECRETS.generic, allow: ["*"] },
];

/** The program for devices, as the Worker of these tests describes it. */
export const testProgram = `${sha256("a program")} 9`;

export const testVars = {
  // Tests send many requests; tests of the limits set their own.
  RATE_LIMITS: "off",
  // Many tests compare what a model is offered. Tests of session tools set it.
  GATEWAY_TOOLS: "none",
  CHANNELS: JSON.stringify(CHANNELS),
  LLM_MODEL: "scripted",
  // Named agents are accepted with their texts; the star serves all others that a test invents.
  ALLOW_UNSIGNED_AGENTS: "* garden nas pi rust valve",
  API_TOKENS: JSON.stringify([
    {
      hash: sha256(TOKENS.owner),
      name: "anna",
      home: "a",
      role: "owner",
      scopes: ["ask", "command", "approve", "admin"],
    },
    { hash: sha256(TOKENS.guest), name: "gus", home: "a", role: "guest", scopes: ["ask"] },
    { hash: sha256(TOKENS.member), name: "mia", home: "a", role: "member", scopes: ["ask", "command"] },
    { hash: sha256(TOKENS.approver), name: "max", home: "a", role: "member", scopes: ["ask", "approve"] },
    { hash: sha256(TOKENS.admin), name: "ada", home: "a", role: "guest", scopes: ["ask", "admin"] },
    { hash: sha256(TOKENS.scraper), name: "prometheus", home: "a", role: "guest", scopes: ["metrics"] },
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
