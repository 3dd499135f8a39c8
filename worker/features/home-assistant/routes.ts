/** `/v1/home-assistant`: the Home Assistant that a home's bridge is connected to, and its sign-in by the person's browser. */
import {
  type AssistantAnswer,
  type AssistantQuestion,
  SignInCode,
} from "@edgecall/core/protocol/assistant.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { type App, newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { json, route } from "../../kernel/http/route.ts";
import { ownOrigin } from "../../kernel/http/session.ts";
import { originOf } from "../../kernel/http/wait.ts";
import { homeAssistantAt } from "./home-assistant-api.ts";

export const homeAssistant = newRoutes();

/** A home's Home Assistant. `connected` is null if the bridge has none. */
type HomeAssistantView = { connected: AssistantAnswer["state"] };

const ADMIN = { scope: "admin" } as const;
const Address = z.strictObject({ url: z.string().check(z.minLength(1), z.maxLength(300)) });
const Code = z.strictObject(SignInCode.shape);

/** Says how the bridge is connected to Home Assistant. 409 `bridge_offline`; 409 `cannot_connect`: the bridge is older, or takes no sign-in. */
route(homeAssistant, "GET /v1/home-assistant", ADMIN, async (c) => {
  const view: HomeAssistantView = { connected: (await ask(c, {})).state };
  return json(c, view);
});

/**
 * Begins to connect one: the browser opens the address of the answer, the person signs in there, and comes back to the console with `code` and `state`.
 * The bridge reaches Home Assistant, so the address is one of its network.
 */
route(
  homeAssistant,
  "POST /v1/home-assistant",
  { ...ADMIN, confirm: true, body: Address },
  async (c, { body }) => {
    // The browser comes back to the page that it left, and to no other site.
    const page = `${ownOrigin(c) ?? originOf(c)}/`;
    const state = crypto.randomUUID();
    const begin = { url: body.url.trim(), client: page, redirect: page, state };
    const { authorize = "" } = await ask(c, { begin });
    return json(c, { authorize, state });
  },
);

/** Ends the sign-in: the bridge redeems the code, once and within ten minutes of its begin. 409 `not_connected`: it could not. */
route(homeAssistant, "POST /v1/home-assistant/code", { ...ADMIN, body: Code }, async (c, { body }) => {
  const view: HomeAssistantView = { connected: (await ask(c, { finish: body })).state };
  return json(c, view);
});

/** Gives up what a sign-in gave; its devices are agents no more. One that the bridge's settings name stays. */
route(homeAssistant, "DELETE /v1/home-assistant", ADMIN, async (c) => {
  const view: HomeAssistantView = { connected: (await ask(c, { forget: true })).state };
  return json(c, view);
});

async function ask(c: Context<App>, question: AssistantQuestion): Promise<AssistantAnswer> {
  const { home, name, role } = c.get("token");
  const answer = await homeAssistantAt(c.env, home).ask(question, { name, role });
  if (answer === "offline")
    throw new HttpError(409, "bridge_offline", "the bridge is not connected, or did not answer");
  if (answer === "too_old")
    throw new HttpError(
      409,
      "cannot_connect",
      "this bridge is older than sign-ins at Home Assistant, or HA_DEVICES is off where it runs; update it, or set HA_URL there",
    );
  if (answer.error !== undefined) throw new HttpError(409, "not_connected", answer.error);
  return answer;
}
