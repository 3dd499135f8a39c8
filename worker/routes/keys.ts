/** `/v1/keys`, `/v1/agents/{id}/key`: the gateway's key that a home's devices obey, and the devices' own keys. For administrators. */
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { fingerprint, PublicKey, Signature } from "@edgecall/core/protocol/signing.ts";
import type { Context } from "hono";
import { AGENT_WORDS_MAX, AGENTS_LISTED, AGENTS_LISTED_MAX } from "../api/agent-list.ts";
import type { KeyProblem } from "../api/keys.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { pathName, readBody, readWholeNumber, readWords } from "../http/request.ts";

export const keys = newRoutes();

keys.get("/v1/keys", showKeys);
keys.post("/v1/agents/:agent/key", putKey);
keys.delete("/v1/agents/:agent/key", revokeKey);

const KeyBody = z.strictObject({
  public_key: PublicKey,
  /** Made with the previous key (`pi-agent --new-key` prints it). Not needed when there is no previous key, or it was revoked. */
  signature: z.optional(Signature),
  name: z.optional(z.string().check(z.trim(), z.maxLength(64))),
});

/** Query: `limit` (500, at most 1000; of `unsigned` too), `after` (`next` of the page before), `q` (in the agent's id or the key's name). */
async function showKeys(c: Context<App>): Promise<Response> {
  const { home } = requireScope(c, "admin");
  const limit = readWholeNumber(c, "limit", { fallback: AGENTS_LISTED, max: AGENTS_LISTED_MAX });
  const after = c.req.query("after") ?? "";
  const words = readWords(c, "q", AGENT_WORDS_MAX)?.toLowerCase() ?? "";
  // A home has 10,000 agents at most, so the whole list is 2 MB.
  const { gateway, agents, unsigned } = await homeOf(c.env, home).keys();
  const found = agents.filter(({ agent, name }) => `${agent}\n${name}`.toLowerCase().includes(words));
  const page = found.filter(({ agent }) => agent > after).slice(0, limit);
  const last = page.at(-1)?.agent ?? "";
  const keys = page.map(async (key) => ({ ...key, fingerprint: await fingerprint(key.public_key) }));
  return c.json({
    gateway: { public_key: gateway, fingerprint: await fingerprint(gateway) },
    keys: await Promise.all(keys),
    next: last !== "" && last !== found.at(-1)?.agent ? last : null,
    total: found.length,
    unsigned: unsigned.slice(0, limit),
    unsigned_total: unsigned.length,
  });
}

/** Stores a device's key, or replaces it. Answers with the gateway's key, which the device has to obey. */
async function putKey(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const agent = pathName(c, "agent", AGENT_ID, "an agent's id");
  const { public_key, signature, name = agent } = await readBody(c, KeyBody);
  const grant =
    signature === undefined ? ({ by: "nothing" } as const) : ({ by: "signature", signature } as const);
  const enrolled = await homeOf(c.env, token.home).enrollAgent({ agent, publicKey: public_key, name }, grant);
  if (!enrolled.ok) {
    const { status, message } = PROBLEMS[enrolled.problem];
    throw new HttpError(status, enrolled.problem, message);
  }
  return c.json({
    agent,
    fingerprint: await fingerprint(public_key),
    gateway_key: enrolled.gatewayPublicKey,
  });
}

/** Revokes the key at once: the gateway refuses the device's next message. */
async function revokeKey(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const agent = c.req.param("agent") === BRIDGE ? BRIDGE : pathName(c, "agent", AGENT_ID, "an agent's id");
  if (!(await homeOf(c.env, token.home).revokeAgentKey(agent)))
    throw new HttpError(404, "not_found", `there is no key of '${agent}' to revoke`);
  return c.body(null, 204);
}

const PROBLEMS: Record<KeyProblem, { status: 400 | 403 | 409; message: string }> = {
  not_a_key: { status: 400, message: "public_key: expected an Ed25519 public key, 32 bytes as base64url" },
  has_a_key: {
    status: 409,
    message:
      "this agent has a key already: have it sign the new one (pi-agent --new-key), or revoke it first, or pair the device again",
  },
  wrong_signature: {
    status: 403,
    message: "signature: expected the word of the agent's present key for the new one",
  },
};
