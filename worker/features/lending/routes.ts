/** `/v1/lending` and `/v1/borrowing`: agents that this home lends to other homes, and those that it borrows. For owners. */

import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { text } from "../../kernel/http/fields.ts";
import { UUID } from "../../kernel/http/request.ts";
import { json, nothing, route } from "../../kernel/http/route.ts";
import { originOf } from "../../kernel/http/wait.ts";
import { HOME_ID, isNamedHome } from "../../kernel/settings/tokens.ts";
import { invitationText, NewBorrowing, NewLending, type Refused, readInvitation } from "./contract.ts";
import { lendingAt } from "./lending-api.ts";

export const lending = newRoutes();

/** Lending gives rights over devices to people of another house: that is an owner's to decide. */
const OWNERS = { scope: "admin", owner: true } as const;
const BORROWED = { name: text(HOME_ID, "the name of what is borrowed: a-z, 0-9 and -") };

/** Lists the grants that this home lends and borrows. */
route(lending, "GET /v1/lending", OWNERS, async (c, { token }) =>
  json(c, await lendingAt(c.env, token.home).view()),
);

/**
 * Lends agents to another home. Only this answer contains the invitation. 409 when the label is in use.
 */
route(
  lending,
  "POST /v1/lending",
  { ...OWNERS, confirm: true, body: NewLending },
  async (c, { token: { home, name }, body }) => {
    const made = await lendingAt(c.env, home).lend(body, name, originOf(c));
    if (!made.ok) throw refusal(made);
    return json(c, { invitation: invitationText(made.invitation), lent: made.lent }, 201);
  },
);

/**
 * Takes lent agents back at once. Its open calls end.
 */
route(
  lending,
  "DELETE /v1/lending/:grant",
  { ...OWNERS, path: { grant: text(UUID, "a grant's id, a UUID") } },
  async (c, { token: { home, name }, path: { grant } }) => {
    if (await lendingAt(c.env, home).takeBack(grant, name)) return nothing(c);
    throw new HttpError(404, "not_found", "no such grant that counts");
  },
);

/**
 * Borrows the agents of an invitation. 409 `not_lent`: the invitation is wrong, used, taken back or too old. 502: the
 * lender's gateway gave no answer to use; the same request may be sent again.
 */
route(
  lending,
  "POST /v1/borrowing",
  { ...OWNERS, confirm: true, body: NewBorrowing },
  async (c, { token, body }) => {
    const invitation = readInvitation(body.invitation);
    if (!invitation)
      throw new HttpError(400, "invalid_body", "invitation: expected the text that begins with 'ecl_'");
    const ownUrl = originOf(c);
    // A Worker may not send a request to itself.
    const isHere = invitation.url === ownUrl && isNamedHome(c.env, invitation.home);
    const into = { name: body.name, by: token.name, ownUrl, isHere };
    const made = await lendingAt(c.env, token.home).borrow(invitation, into);
    if (!made.ok) throw refusal(made);
    return json(c, { borrowed: made.borrowed }, 201);
  },
);

/** Accepts the texts by which borrowed agents describe themselves to a model. */
route(
  lending,
  "POST /v1/borrowing/:name/accept-text",
  { ...OWNERS, confirm: true, path: BORROWED },
  async (c, { token: { home }, path: { name } }) => {
    if (await lendingAt(c.env, home).acceptLentWords(name)) return nothing(c);
    throw notBorrowed();
  },
);

/**
 * Gives borrowed agents back. Their open calls end.
 */
route(
  lending,
  "DELETE /v1/borrowing/:name",
  { ...OWNERS, path: BORROWED },
  async (c, { token, path: { name } }) => {
    if (await lendingAt(c.env, token.home).giveBack(name, token.name)) return nothing(c);
    throw notBorrowed();
  },
);

function notBorrowed(): HttpError {
  return new HttpError(404, "not_found", "nothing of this name is borrowed");
}

function refusal({ status, code, message }: Refused): HttpError {
  return new HttpError(status, code, message);
}
