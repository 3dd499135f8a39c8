/** `/v1/senders`: strangers who ask to be let in, and people who were let in. For administrators. */

import { z } from "@edgecall/core/protocol/parse.ts";
import { newRoutes } from "../../../kernel/http/app.ts";
import { HttpError } from "../../../kernel/http/errors.ts";
import { text } from "../../../kernel/http/fields.ts";
import { json, nothing, route } from "../../../kernel/http/route.ts";
import { CONNECTION_ID, PLATFORM_NAMES, ROLES } from "../../../kernel/settings/chat.ts";
import { chatAt } from "../chat-api.ts";

export const senders = newRoutes();

const CODE = { code: text(/^[A-Za-z0-9]{6}$/, "a code of six characters") };
const CHANNEL = new RegExp(`^(${PLATFORM_NAMES.join("|")})$`);
const SENDER = /^[A-Za-z0-9._@-]{1,64}$/;
const Approval = z.strictObject({ role: z._default(z.enum(ROLES), "member") });

/** Lists the strangers who ask to be let in, and the people who were let in. */
const showSenders = route(senders, "GET /v1/senders/requests", { scope: "admin" }, async (c, { token }) =>
  json(c, await chatAt(c.env, token.home).senders()),
);

/** Lets a stranger in. */
const approveRequest = route(
  senders,
  "POST /v1/senders/requests/:code",
  { scope: "admin", confirm: true, path: CODE, body: Approval, optionalBody: true },
  async (c, { token, path: { code }, body: { role } }) => {
    const sender = await chatAt(c.env, token.home).approveSender(code, role, token.name);
    if (!sender)
      throw new HttpError(
        404,
        "not_found",
        "there is no such code; it may have expired, or a thousand people are let in: remove one first",
      );
    return json(c, sender);
  },
);

/** Refuses a stranger. */
const dismissRequest = route(
  senders,
  "DELETE /v1/senders/requests/:code",
  { scope: "admin", path: CODE },
  async (c, { token, path: { code } }) => {
    if (await chatAt(c.env, token.home).dismissSender(code)) return nothing(c);
    throw new HttpError(404, "not_found", "there is no such code; it may have expired");
  },
);

// The names before 0.3.
senders.get("/v1/pairings", showSenders);
senders.post("/v1/pairings/:code", approveRequest);
senders.delete("/v1/pairings/:code", dismissRequest);

/** Removes a person whom a code let in. One who is named in CHANNELS is removed there. */
route(
  senders,
  "DELETE /v1/senders/:channel/:connection/:sender",
  {
    scope: "admin",
    path: {
      channel: text(CHANNEL, `one of ${PLATFORM_NAMES.join(", ")}`),
      connection: text(CONNECTION_ID, "a connection's name"),
      sender: text(SENDER, "a sender's id"),
    },
  },
  async (c, { token, path }) => {
    if (await chatAt(c.env, token.home).removeSender(path)) return nothing(c);
    throw new HttpError(404, "not_found", "no such sender was let in");
  },
);
