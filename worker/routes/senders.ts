/** `/v1/senders`: strangers who ask to be let in, and people who were let in. For administrators. */
import { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { pathName, readBody, readText } from "../http/request.ts";
import { CHANNEL_NAMES, CONNECTION_ID, ROLES } from "../settings/channels.ts";

export const senders = newRoutes();

senders.get("/v1/senders/requests", showSenders);
senders.post("/v1/senders/requests/:code", approveRequest);
senders.delete("/v1/senders/requests/:code", dismissRequest);
// The names before 0.3.
senders.get("/v1/pairings", showSenders);
senders.post("/v1/pairings/:code", approveRequest);
senders.delete("/v1/pairings/:code", dismissRequest);
senders.delete("/v1/senders/:channel/:connection/:sender", removeSender);

const CODE = /^[A-Za-z0-9]{6}$/;
const CHANNEL = new RegExp(`^(${CHANNEL_NAMES.join("|")})$`);
const SENDER = /^[A-Za-z0-9._@-]{1,64}$/;
const Approval = z.strictObject({ role: z._default(z.enum(ROLES), "member") });

/** Requests and people together. */
async function showSenders(c: Context<App>): Promise<Response> {
  const home = homeOf(c.env, requireScope(c, "admin").home);
  return c.json(await home.senders());
}

/** Body: nothing, or `{"role": "member"}`. */
async function approveRequest(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const code = pathName(c, "code", CODE, "a code of six characters");
  const empty = c.req.header("content-length") === "0" || c.req.raw.body === null;
  const { role } =
    empty && (await readText(c)) === "" ? { role: "member" as const } : await readBody(c, Approval);
  const sender = await homeOf(c.env, token.home).approveSender(code, role, token.name);
  if (!sender)
    throw new HttpError(
      404,
      "not_found",
      "there is no such code; it may have expired, or a thousand people are let in: remove one first",
    );
  return c.json(sender);
}

async function dismissRequest(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const code = pathName(c, "code", CODE, "a code of six characters");
  if (!(await homeOf(c.env, token.home).dismissSender(code)))
    throw new HttpError(404, "not_found", "there is no such code; it may have expired");
  return c.body(null, 204);
}

/** Removes a person whom a code let in. One who is named in CHANNELS is removed there. */
async function removeSender(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const channel = pathName(c, "channel", CHANNEL, `one of ${CHANNEL_NAMES.join(", ")}`);
  const connection = pathName(c, "connection", CONNECTION_ID, "a connection's name");
  const sender = pathName(c, "sender", SENDER, "a sender's id");
  if (!(await homeOf(c.env, token.home).removeSender({ channel, connection, sender })))
    throw new HttpError(404, "not_found", "no such sender was let in");
  return c.body(null, 204);
}
