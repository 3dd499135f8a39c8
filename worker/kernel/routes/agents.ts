/** `/v1/agents`: lists the agents of a home; an administrator accepts an agent's texts or removes it. keys.ts has the keys. */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { AGENT_WORDS_MAX, AGENTS_LISTED, AGENTS_LISTED_MAX } from "../api/agent-list.ts";
import { homeOf } from "../api/stubs.ts";
import { newRoutes } from "../http/app.ts";
import { HttpError } from "../http/errors.ts";
import { AGENT, optionalText, optionalYesOrNo, wholeNumber, words } from "../http/fields.ts";
import { json, nothing, route } from "../http/route.ts";

export const agents = newRoutes();

/**
 * Lists the home's agents, page by page. `next` is null on the last page. 400: the device of `after` is not among the found
 * ones any more.
 */
route(
  agents,
  "GET /v1/agents",
  {
    scope: "ask",
    query: {
      limit: wholeNumber({ fallback: AGENTS_LISTED, max: AGENTS_LISTED_MAX }),
      /** `next` of the page before. */
      after: optionalText(AGENT_ID, "'next' of an earlier answer"),
      /** Words to find agents by. */
      q: words(AGENT_WORDS_MAX),
      /** Only those that are online, or only the others. */
      online: optionalYesOrNo,
      /** Only devices of the broker, or only the others. */
      hosted: optionalYesOrNo,
    },
  },
  async (c, { token, query: { q, ...query } }) => {
    const page = await homeOf(c.env, token.home).agents.agents({ ...query, words: q });
    if (page) return json(c, page);
    throw new HttpError(
      400,
      "invalid_query",
      "after: the list has changed meanwhile; begin with its first page",
    );
  },
);

/**
 * Shows one agent. `conditions` is all that is wrong with it, as the agent, the bridge and the gateway see it; `problem` is
 * the text of the first one. `new_text` has the words by which it describes itself and that are not accepted yet.
 */
route(agents, "GET /v1/agents/:agent", { scope: "ask", path: { agent: AGENT } }, async (c, input) => {
  const id = input.path.agent;
  const agent = await homeOf(c.env, input.token.home).agents.agent(id);
  if (!agent) throw new HttpError(404, "not_found", `no such agent: ${id}`);
  return json(c, agent);
});

const AcceptBody = z.strictObject({
  /** The line that the person read: another line that came meanwhile is not accepted. */
  line: z.optional(z.string().check(z.maxLength(4_000))),
});

/**
 * Accepts the texts by which a device describes itself to a model. 409 `text_changed`: the line in the body is not the
 * agent's any more.
 */
route(
  agents,
  "POST /v1/agents/:agent/accept-text",
  { scope: "admin", confirm: true, path: { agent: AGENT }, body: AcceptBody, optionalBody: true },
  async (c, { token, path: { agent }, body }) => {
    const accepted = await homeOf(c.env, token.home).agents.acceptText(agent, body.line);
    if (accepted === "changed")
      throw new HttpError(409, "text_changed", "line: the agent says something else by now; read it again");
    if (accepted === "unknown") throw new HttpError(404, "not_found", `there is no agent '${agent}'`);
    return nothing(c);
  },
);

/**
 * Removes a device that is gone from the list. A revoked key stays on record. 409 `has_a_key`: revoke its key first;
 * `in_use`: it is online, or a call waits for it.
 */
route(
  agents,
  "DELETE /v1/agents/:agent",
  { scope: "admin", path: { agent: AGENT } },
  async (c, { token, path: { agent } }) => {
    const removed = await homeOf(c.env, token.home).agents.removeAgent(agent);
    if (removed === "unknown") throw new HttpError(404, "not_found", `no such agent: ${agent}`);
    if (removed === "has_a_key")
      throw new HttpError(409, "has_a_key", `'${agent}' is paired: revoke its key first`);
    if (removed === "in_use")
      throw new HttpError(409, "in_use", `'${agent}' is online, or a call waits for it; stop it first`);
    return nothing(c);
  },
);
