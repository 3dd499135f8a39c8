/**
 * `/v1/model`: the model that an owner sets in the console. It widens rights: whatever is said in the home goes to that address, and what
 * comes back decides what devices are asked.
 */
import { APIS } from "@edgecall/core/loop/api.ts";
import { findLocalModels } from "@edgecall/core/loop/local-models.ts";
import { checkModelAddress, type Reach } from "@edgecall/core/loop/model-address.ts";
import type { NamedModel } from "@edgecall/core/loop/models.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { ModelEndpoint } from "../../kernel/api/models-api.ts";
import { modelsAt } from "../../kernel/api/models-at.ts";
import { homeOf } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { SSE } from "../../kernel/http/object-stream.ts";
import { json, nothing, route, typedAnswer } from "../../kernel/http/route.ts";
import { modelFetch } from "../../kernel/models/workers-ai.ts";
import { namesModel, readSettings, withModelDefaults } from "../../kernel/settings/settings.ts";
import { WORKERS_AI_URL } from "../../kernel/settings/workers-ai.ts";
import { type ModelTrialEvent, trialStream } from "./trial.ts";

export const model = newRoutes();

/** A header's value: a line of printable characters. */
const ApiKey = z.string().check(z.trim(), z.regex(/^[\x21-\x7e]{1,1000}$/, "expected the key, one line"));

const ModelBody = z.strictObject({
  /** Up to and with `/v1`. Without a path it gets that. */
  base_url: z.string().check(z.maxLength(500)),
  /** The endpoint's name of the model. */
  model: z.string().check(z.trim(), z.minLength(1), z.maxLength(200)),
  /** The form of its requests. Absent: by the address. */
  api: z.optional(z.enum(APIS)),
  /** null: none. Absent: the stored one, if the address is the same. */
  api_key: z.optional(z.nullable(ApiKey)),
});
type ModelBody = z.infer<typeof ModelBody>;

/** The model of a home, without its key. */
type ModelView = {
  /** `variables`: the settings of the gateway, which the console does not change. `cloudflare`: Cloudflare's default one. */
  set_by: "variables" | "setup" | "cloudflare" | "none";
  /** Of the settings its origin alone; null: Cloudflare's own, or none. */
  base_url: string | null;
  model: string | null;
  /** null: by the address. */
  api: string | null;
  has_key: boolean;
  /** The person who set it, and when (epoch ms). */
  by: string | null;
  at: number | null;
  problem?: string;
  /** `home`: addresses of this machine and its network may be set, too. */
  reach: Reach;
  /** Model servers that run on the gateway's machine. Looked for where the settings name no model. */
  found: Array<{ server: string; base_url: string; models: string[] }>;
};

const OWNER = { scope: "admin", owner: true } as const;

/** Tells which model the home uses, and which model servers run on the gateway's machine. For owners. */
route(model, "GET /v1/model", OWNER, async (c, { token }) => json(c, await viewOf(c.env, token.home)));

/** Sets the home's model. The settings of the gateway win over it. */
route(model, "PUT /v1/model", { ...OWNER, confirm: true, body: ModelBody }, async (c, { token, body }) => {
  if (namesModel(c.env))
    throw new HttpError(
      409,
      "conflict",
      "the gateway's settings name a model (LLM_BASE_URL, LLM_MODEL or LLM_MODELS); change it there",
    );
  const endpoint = await endpointOf(c.env, token.home, body);
  await homeOf(c.env, token.home).models.setOwn(endpoint, token, body.api_key === undefined);
  return json(c, await viewOf(c.env, token.home));
});

/** Forgets the model that was set, with its key. */
route(model, "DELETE /v1/model", OWNER, async (c, { token }) => {
  await homeOf(c.env, token.home).models.removeOwn(token);
  return nothing(c);
});

/**
 * Tries a model with about seven small requests, and streams what is found. Without a body it tries the one in use. The trial ends when the
 * client hangs up. It costs the model's usage.
 */
route(
  model,
  "POST /v1/model/try",
  { ...OWNER, confirm: true, body: z.union([ModelBody, z.strictObject({})]), optionalBody: true },
  async (c, { token, body }) => {
    const tried = await triedOf(c.env, token.home, body);
    const stream = trialStream(tried, modelFetch(c.env.AI, tried.baseUrl), c.req.raw.signal);
    return typedAnswer<ModelTrialEvent, 200, "text/event-stream">(c.body(stream, 200, SSE));
  },
);

/** Only a gateway on a machine of its own is given a way to the web that leaves its network out. */
function reachOf(env: Env): Reach {
  return env.WEB ? "home" : "cloudflare";
}

/** @throws HttpError 400, which names the field */
async function endpointOf(env: Env, home: string, asked: ModelBody): Promise<ModelEndpoint> {
  const address = checkModelAddress(asked.base_url, reachOf(env));
  if (!address.ok) throw new HttpError(400, "invalid_body", address.error);
  const { model, api, api_key } = asked;
  const stored = api_key === undefined ? await homeOf(env, home).models.endpoint() : undefined;
  // The stored key goes to no other address than the one that it was typed for.
  const apiKey = stored?.baseUrl === address.value ? stored.apiKey : (api_key ?? undefined);
  return {
    baseUrl: address.value,
    model,
    ...(api && { api }),
    ...(apiKey !== undefined && { apiKey }),
  };
}

/** @throws HttpError 400, 409 */
async function triedOf(env: Env, home: string, asked: ModelBody | object): Promise<NamedModel> {
  if ("base_url" in asked) {
    const endpoint = await endpointOf(env, home, asked);
    return withModelDefaults(env, { ...endpoint, name: endpoint.model });
  }
  const [first] = await modelsAt(env, home);
  if (first) return first;
  throw new HttpError(409, "no_model", "this home has no model yet; name the one to try");
}

async function viewOf(env: Env, home: string): Promise<ModelView> {
  const reach = reachOf(env);
  const [first] = readSettings(env).models;
  const none = { api: null, has_key: false, by: null, at: null, reach, found: [] };
  if (namesModel(env))
    return {
      ...none,
      set_by: "variables",
      base_url:
        first === undefined || first.baseUrl === WORKERS_AI_URL ? null : new URL(first.baseUrl).origin,
      model: first?.model ?? null,
      api: first?.api ?? null,
      has_key: first?.apiKey !== undefined,
    };
  const [own, servers] = await Promise.all([
    homeOf(env, home).models.own(),
    reach === "home" ? findLocalModels() : [],
  ]);
  const found = servers.map(({ server, baseUrl, models }) => ({ server, base_url: baseUrl, models }));
  if (!own)
    return {
      ...none,
      found,
      set_by: first ? "cloudflare" : "none",
      base_url: null,
      model: first?.model ?? null,
    };
  const { set_by: by, set_at: at, ...shown } = own;
  return { ...shown, reach, found, set_by: "setup", by, at };
}
