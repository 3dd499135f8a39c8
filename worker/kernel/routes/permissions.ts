/** `/v1/permissions`: what devices may be told without a question, and its end. */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import type { PermissionView } from "../api/permissions.ts";
import { homeOf } from "../api/stubs.ts";
import { newRoutes } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";
import { optionalText, text, yesOrNo } from "../http/fields.ts";
import { UUID } from "../http/request.ts";
import { json, route } from "../http/route.ts";

export const permissions = newRoutes();

const OF = {
  /** Those that the person gave, or that are for their calls. */
  person: optionalText(/^[^\p{C}]{1,200}$/u, "a person's name, as `by` or `who` has it"),
  /** Those of this device. */
  device: optionalText(AGENT_ID, "an agent's id"),
};

type Permissions = { permissions: PermissionView[] };

/** Lists the standing permissions that the caller may see, the newest first: owners and administrators all, others their own. */
route(
  permissions,
  "GET /v1/permissions",
  {
    scope: "ask",
    query: {
      ...OF,
      /** Also those that ended in the last 90 days, with the reason. */
      ended: yesOrNo,
    },
  },
  async (c, { token, query }) => {
    const answer: Permissions = {
      permissions: await homeOf(c.env, token.home).permissions.list(token, query),
    };
    return json(c, answer);
  },
);

/** Ends a standing permission: from now on the device's change asks again. */
route(
  permissions,
  "DELETE /v1/permissions/:id",
  { scope: "ask", path: { id: text(UUID, "a permission's id, a UUID") } },
  async (c, { token, path: { id } }) => {
    const ended: PermissionView | undefined = await homeOf(c.env, token.home).permissions.end(token, id);
    if (!ended) throw new HttpError(404, "not_found", "no such permission, or it has ended");
    return json(c, ended);
  },
);

/** Ends all standing permissions of a person or a device that the caller may see. */
route(permissions, "DELETE /v1/permissions", { scope: "ask", query: OF }, async (c, { token, query }) => {
  if (query.person === undefined && query.device === undefined)
    throw new HttpError(400, "invalid_query", "person: expected a person or a device whose permissions end");
  const answer: Permissions = {
    permissions: await homeOf(c.env, token.home).permissions.endAll(token, query),
  };
  return json(c, answer);
});
