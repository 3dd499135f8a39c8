/** `/v1/devices/{device}/past`: what a reading was. The home's bridge keeps it and answers, and nothing of it is stored here. */
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { AGENT, text, wholeNumber } from "../../kernel/http/fields.ts";
import { json, route } from "../../kernel/http/route.ts";
import { historyAt, type PastView } from "./history-api.ts";

export const history = newRoutes();

const READING = text(/^.{1,100}$/, "the name of a reading, of at most 100 characters");
const DAYS_MAX = 31;

/**
 * Returns what a reading was in the last days. 403 for guests; 404: the bridge keeps nothing of it, or `history` is not in
 * GATEWAY_TOOLS; 409 `bridge_offline`: it is kept at home, by the bridge, which did not answer.
 */
route(
  history,
  "GET /v1/devices/:device/past",
  {
    scope: "ask",
    path: { device: AGENT },
    query: { reading: READING, days: wholeNumber({ fallback: 1, max: DAYS_MAX }) },
  },
  async (c, { token, path: { device }, query: { reading, days } }) => {
    if (token.role === "guest")
      throw new HttpError(403, "forbidden", "the past of devices is for members of the home");
    const found = await historyAt(c.env, token.home).lastDays(device, reading, days);
    if (found === "unknown") throw new HttpError(404, "not_found", `no such device: ${device}`);
    if (found === "off") throw new HttpError(404, "not_found", "GATEWAY_TOOLS has no 'history'");
    if (found === "offline")
      throw new HttpError(409, "bridge_offline", "the bridge, which keeps the past, did not answer");
    if ("error" in found) throw new HttpError(404, "not_found", found.error);
    const view: PastView = found;
    return json(c, view);
  },
);
