/** `/v1/keys`, `/v1/agents/{id}/key`: the gateway's key that a home's devices obey, and the devices' own keys. For administrators. */
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { AGENT_ID, RESERVED_ID } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { fingerprint, PublicKey, Signature } from "@edgecall/core/protocol/signing.ts";
import { AGENT_WORDS_MAX, AGENTS_LISTED, AGENTS_LISTED_MAX } from "../api/agent-list.ts";
import type { KeyProblem } from "../api/keys.ts";
import { homeOf } from "../api/stubs.ts";
import { newRoutes } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";
import { AGENT, anyText, text, wholeNumber, words } from "../http/fields.ts";
import { json, nothing, route } from "../http/route.ts";

export const keys = newRoutes();

const KeyBody = z.strictObject({
  public_key: PublicKey,
  /** Made with the previous key (`pi-agent --new-key` prints it). Not needed when there is no previous key, or it was revoked. */
  signature: z.optional(Signature),
  name: z.optional(z.string().check(z.trim(), z.maxLength(64))),
});

/** Lists the devices' keys and the agents without one, page by page, and shows the gateway's key. */
route(
  keys,
  "GET /v1/keys",
  {
    scope: "admin",
    query: {
      /** Of `unsigned`, too. */
      limit: wholeNumber({ fallback: AGENTS_LISTED, max: AGENTS_LISTED_MAX }),
      /** `next` of the page before. */
      after: anyText,
      /** A part of the agent's id or of the key's name. */
      q: words(AGENT_WORDS_MAX),
    },
  },
  async (c, { token: { home }, query: { limit, after = "", q = "" } }) => {
    const words = q.toLowerCase();
    // A home has 10,000 agents at most, so the whole list is 2 MB.
    const { gateway, agents, unsigned } = await homeOf(c.env, home).agents.keys();
    const found = agents.filter(({ agent, name }) => `${agent}\n${name}`.toLowerCase().includes(words));
    const page = found.filter(({ agent }) => agent > after).slice(0, limit);
    const last = page.at(-1)?.agent ?? "";
    const keys = page.map(async (key) => ({ ...key, fingerprint: await fingerprint(key.public_key) }));
    return json(c, {
      gateway: { public_key: gateway, fingerprint: await fingerprint(gateway) },
      keys: await Promise.all(keys),
      next: last !== "" && last !== found.at(-1)?.agent ? last : null,
      total: found.length,
      unsigned: unsigned.slice(0, limit),
      unsigned_total: unsigned.length,
    });
  },
);

/**
 * Stores a device's key, or replaces it. Answers with the gateway's key, which the device has to obey. 403: wrong signature;
 * 409: it has a key.
 */
route(
  keys,
  "POST /v1/agents/:agent/key",
  { scope: "admin", confirm: true, path: { agent: AGENT }, body: KeyBody },
  async (c, { token, path: { agent }, body: { public_key, signature, name = agent } }) => {
    const grant =
      signature === undefined ? ({ by: "nothing" } as const) : ({ by: "signature", signature } as const);
    const key = { agent, publicKey: public_key, name };
    const enrolled = await homeOf(c.env, token.home).agents.enrollAgent(key, grant);
    if (!enrolled.ok) {
      const { status, message } = PROBLEMS[enrolled.problem];
      throw new HttpError(status, enrolled.problem, message);
    }
    return json(c, {
      agent,
      fingerprint: await fingerprint(public_key),
      gateway_key: enrolled.gatewayPublicKey,
    });
  },
);

/**
 * Lets a paired device in again that lost its counter.json after its clock was ahead. Recorded messages still do not count.
 * 204: it was told. 404: there is no paired agent of this name. 409 `not_needed`: the bridge sees no messages with old
 * numbers of it; `no_bridge`.
 */
route(
  keys,
  "POST /v1/agents/:agent/readmit",
  { scope: "admin", confirm: true, path: { agent: AGENT } },
  async (c, { token, path: { agent } }) => {
    const readmitted = await homeOf(c.env, token.home).agents.readmitAgent(agent);
    if (readmitted === "sent") return nothing(c);
    const { status, message } = NOT_READMITTED[readmitted];
    throw new HttpError(status, readmitted, `${message}: ${agent}`);
  },
);

/**
 * Revokes the key at once: the gateway refuses the device's next message. `@bridge` is the bridge's.
 */
route(
  keys,
  "DELETE /v1/agents/:agent/key",
  {
    scope: "admin",
    path: { agent: text(new RegExp(`${AGENT_ID.source}|^${BRIDGE}$`), `an agent's id, or ${BRIDGE}`) },
  },
  async (c, { token, path: { agent } }) => {
    if (await homeOf(c.env, token.home).agents.revokeAgentKey(agent)) return nothing(c);
    throw new HttpError(404, "not_found", `there is no key of '${agent}' to revoke`);
  },
);

const NOT_READMITTED = {
  unknown: { status: 404, message: "there is no paired agent of this name" },
  not_needed: { status: 409, message: "the bridge sees no messages with old numbers of this agent" },
  no_bridge: { status: 409, message: "the bridge is not connected, so nothing reaches the agent" },
} as const;

const PROBLEMS: Record<KeyProblem, { status: 400 | 403 | 409; message: string }> = {
  reserved_id: { status: 400, message: `agent: ${RESERVED_ID}` },
  group_name: {
    status: 409,
    message: "agent: this is the name of a group of agents; another id would be right",
  },
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
