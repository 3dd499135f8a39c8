/** `/v1/rules`: what is watched, and what people are reminded of. Rules are made in a conversation. */

import { RULE_ID } from "@edgecall/core/protocol/rules.ts";
import type { Pressed } from "../../kernel/api/notices.ts";
import { homeOf } from "../../kernel/api/stubs.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { text } from "../../kernel/http/fields.ts";
import { json, nothing, route } from "../../kernel/http/route.ts";
import { PressBody, RuleBody, type RuleList, type RuleView } from "./contract.ts";
import { rulesAt } from "./rules-api.ts";

export const rules = newRoutes();

const path = { rule: text(RULE_ID, "a rule's id, as in w-7f2c") };

/** Lists the caller's rules, and to administrators all of the home. */
route(rules, "GET /v1/rules", { scope: "ask" }, async (c, { token }) => {
  const list: RuleList = await rulesAt(c.env, token.home).list(token);
  return json(c, list);
});

/**
 * Changes a rule: pauses, resumes or edits it. 403: only an owner may make a watch `critical`. 422: its maker is no owner,
 * its device is gone, or the field does not fit this rule; the message says what would be right.
 */
route(
  rules,
  "PATCH /v1/rules/:rule",
  { scope: "ask", path, body: RuleBody },
  async (c, { token, path: { rule }, body }) => {
    const changed = await rulesAt(c.env, token.home).change(rule, body, token);
    if (!changed.ok)
      throw new HttpError(
        changed.status,
        changed.status === 404 ? "not_found" : changed.status === 403 ? "forbidden" : "invalid_request",
        changed.message,
      );
    const view: RuleView = changed.rule;
    return json(c, view);
  },
);

/** Removes a rule, with its history. */
route(rules, "DELETE /v1/rules/:rule", { scope: "ask", path }, async (c, { token, path: { rule } }) => {
  if (!(await rulesAt(c.env, token.home).remove(rule, token)))
    throw new HttpError(404, "not_found", "no such rule");
  return nothing(c);
});

/** A rule, one that acts, or a permission as the button "It wasn't me" names it. */
const PRESSED = /^(?:[wra]-[0-9a-f]{4,12}|g-[0-9a-f]{12})$/;

/**
 * Answers a firing, as a button of its message does. Owners and the rule's maker may, and members who see a conversation that
 * the rule tells. `done: false`: this person may not.
 */
route(
  rules,
  "POST /v1/rules/:rule/press",
  { scope: "ask", path: { rule: text(PRESSED, "a rule's id, as in w-7f2c") }, body: PressBody },
  async (c, { token, path: { rule }, body }) => {
    const by = { principal: token.name, role: token.role };
    const { do: what, occurrence, minutes } = body;
    const press = {
      do: what,
      rule,
      by,
      ...(occurrence !== undefined && { occurrence }),
      ...(minutes !== undefined && { minutes }),
    };
    const pressed: Pressed = await homeOf(c.env, token.home).notices.pressRule(press);
    return json(c, pressed);
  },
);
