/** `/v1/lending` and `/v1/borrowing`: agents that this home lends to other homes, and those that it borrows. For owners. */
import type { Context } from "hono";
import { invitationText, NewBorrowing, NewLending, type Refused, readInvitation } from "../api/peers.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { pathName, readBody, UUID } from "../http/request.ts";
import { isNamedHome } from "../http/tokens.ts";
import { readSettings } from "../settings/settings.ts";
import { type ApiToken, HOME_ID } from "../settings/tokens.ts";

export const lending = newRoutes();

lending.get("/v1/lending", async (c) => c.json(await homeOf(c.env, requireOwner(c).home).lending()));
lending.post("/v1/lending", lend);
lending.delete("/v1/lending/:grant", takeBack);
lending.post("/v1/borrowing", borrow);
lending.post("/v1/borrowing/:name/accept-text", acceptText);
lending.delete("/v1/borrowing/:name", giveBack);

/** Lending gives rights over devices to people of another house: that is an owner's to decide. @throws HttpError 403 */
function requireOwner(c: Context<App>): ApiToken {
  const token = requireScope(c, "admin");
  if (token.role === "owner") return token;
  throw new HttpError(403, "forbidden", `the token '${token.name}' is not an owner's`);
}

/** Only this answer contains the invitation. */
async function lend(c: Context<App>): Promise<Response> {
  const { home, name } = requireOwner(c);
  const made = await homeOf(c.env, home).lend(await readBody(c, NewLending), name, ownOrigin(c));
  if (!made.ok) throw refusal(made);
  return c.json({ invitation: invitationText(made.invitation), lent: made.lent }, 201);
}

async function takeBack(c: Context<App>): Promise<Response> {
  const { home, name } = requireOwner(c);
  const grant = pathName(c, "grant", UUID, "a grant's id, a UUID");
  if (await homeOf(c.env, home).takeBack(grant, name)) return c.body(null, 204);
  throw new HttpError(404, "not_found", "no such grant that counts");
}

async function borrow(c: Context<App>): Promise<Response> {
  const token = requireOwner(c);
  const { invitation: text, name } = await readBody(c, NewBorrowing);
  const invitation = readInvitation(text);
  if (!invitation)
    throw new HttpError(400, "invalid_body", "invitation: expected the text that begins with 'ecl_'");
  const ownUrl = ownOrigin(c);
  // A Worker may not send a request to itself.
  const isHere = invitation.url === ownUrl && isNamedHome(c.env, invitation.home);
  const into = { name, by: token.name, ownUrl, isHere };
  const made = await homeOf(c.env, token.home).borrow(invitation, into);
  if (!made.ok) throw refusal(made);
  return c.json({ borrowed: made.borrowed }, 201);
}

async function acceptText(c: Context<App>): Promise<Response> {
  const { home } = requireOwner(c);
  if (await homeOf(c.env, home).acceptLentWords(borrowedName(c))) return c.body(null, 204);
  throw notBorrowed();
}

async function giveBack(c: Context<App>): Promise<Response> {
  const { home, name } = requireOwner(c);
  if (await homeOf(c.env, home).giveBack(borrowedName(c), name)) return c.body(null, 204);
  throw notBorrowed();
}

function borrowedName(c: Context<App>): string {
  return pathName(c, "name", HOME_ID, "the name of what is borrowed: a-z, 0-9 and -");
}

function notBorrowed(): HttpError {
  return new HttpError(404, "not_found", "nothing of this name is borrowed");
}

function ownOrigin(c: Context<App>): string {
  return readSettings(c.env).publicUrl ?? new URL(c.req.url).origin;
}

function refusal({ status, code, message }: Refused): HttpError {
  return new HttpError(status, code, message);
}
