/** `/v1/home/clock`: the time zone and the quiet hours by which rules speak. */

import { ClockBody, type ClockView } from "../../kernel/api/clock.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { json, route } from "../../kernel/http/route.ts";
import { rulesAt } from "./rules-api.ts";

export const clock = newRoutes();

/** Shows the home's time zone and quiet hours. */
route(clock, "GET /v1/home/clock", { scope: "ask" }, async (c, { token }) => {
  const view: ClockView = await rulesAt(c.env, token.home).clock();
  return json(c, view);
});

/**
 * Sets the home's time zone and quiet hours, in place of the gateway's settings. Rules keep their times of the clock. null is
 * what the setting says. 422: there is no such zone, or these are no hours.
 */
route(
  clock,
  "PATCH /v1/home/clock",
  { scope: "admin", owner: true, body: ClockBody },
  async (c, { token, body }) => {
    const changed = await rulesAt(c.env, token.home).changeClock(body, token.name);
    if (!changed.ok) throw new HttpError(422, "invalid_request", changed.error);
    const view: ClockView = changed.value;
    return json(c, view);
  },
);
