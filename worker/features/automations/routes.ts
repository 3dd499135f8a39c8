/** `/v1/automations`: rules that act, and who says that they are away. Such rules are made in a conversation. */
import { AUTOMATION_ID } from "@edgecall/core/protocol/automation.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { text } from "../../kernel/http/fields.ts";
import { json, nothing, route } from "../../kernel/http/route.ts";
import { automationsAt } from "./automations-api.ts";
import {
  AutomationBody,
  type AutomationCard,
  type AutomationList,
  type AutomationRefused,
  type AutomationUndone,
  type AutomationView,
  PresenceBody,
  UndoBody,
} from "./contract.ts";

export const automations = newRoutes();

const path = { automation: text(AUTOMATION_ID, "the id of a rule that acts, as in a-7f2c") };

/** Lists the home's rules that act, as the bridge has them now, with their last runs. Guests see none. */
route(automations, "GET /v1/automations", { scope: "ask" }, async (c, { token }) => {
  const list: AutomationList = await automationsAt(c.env, token.home).list(token);
  return json(c, list);
});

/** Drafts a rule anew, and returns the card with which an owner would allow it now. Nothing is stored. */
route(
  automations,
  "POST /v1/automations/:automation/card",
  { scope: "admin", path },
  async (c, { token, path: { automation } }) => {
    const { ok: _, ...card } = given(await automationsAt(c.env, token.home).card(automation, token));
    const view: AutomationCard = card;
    return json(c, view);
  },
);

/**
 * Pauses a rule that acts, or changes its name or words. `status: "active"` allows it anew, as another version, and needs an owner's token with `admin` and
 * `approve`, and the card's `allow`; 409 `changed`: it would be another one by now; 409 `second_tap`: what the card names does harm, and was not said yes to again.
 */
route(
  automations,
  "PATCH /v1/automations/:automation",
  { scope: "ask", confirm: ({ status }) => status === "active", path, body: AutomationBody },
  async (c, { token, path: { automation }, body }) => {
    const changed = given(await automationsAt(c.env, token.home).change(automation, body, token));
    const view: AutomationView = changed.automation;
    return json(c, view);
  },
);

/** Ends a rule that acts. What it switched on and has to switch off is switched off all the same. */
route(
  automations,
  "DELETE /v1/automations/:automation",
  { scope: "ask", path },
  async (c, { token, path: { automation } }) => {
    if (!(await automationsAt(c.env, token.home).remove(automation, token)))
      throw new HttpError(404, "not_found", "no such rule");
    return nothing(c);
  },
);

/** Takes back what a run did, where nobody changed it since. 422: it cannot be taken back, and why. */
route(
  automations,
  "POST /v1/automations/:automation/undo",
  { scope: "ask", path, body: UndoBody },
  async (c, { token, path: { automation }, body: { firing } }) => {
    const { ok: _, ...done } = given(await automationsAt(c.env, token.home).undo(automation, firing, token));
    const undone: AutomationUndone = done;
    return json(c, undone);
  },
);

/** Says that the caller is away, or back. Rules that act take it as one of the home's sources. */
route(
  automations,
  "PUT /v1/presence",
  { scope: "ask", body: PresenceBody },
  async (c, { token, body: { away } }) => {
    if (token.role === "guest") throw new HttpError(403, "forbidden", "who is at home is for members of it");
    await automationsAt(c.env, token.home).say(away, token);
    return nothing(c);
  },
);

function given<T extends { ok: true }>(answer: T | AutomationRefused): T {
  if (answer.ok) return answer;
  throw new HttpError(answer.status, answer.code, answer.message);
}
