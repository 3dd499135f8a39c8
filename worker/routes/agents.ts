/** `/v1/agents`: lists the agents of a home; an administrator accepts an agent's texts or removes it. keys.ts has the keys. */
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import { AGENT_WORDS_MAX, AGENTS_LISTED, AGENTS_LISTED_MAX } from "../api/agent-list.ts";
import { homeOf } from "../api/stubs.ts";
import { type App, newRoutes } from "../http/app.ts";
import { requireScope } from "../http/auth.ts";
import { HttpError } from "../http/errors.ts";
import { pathName, readText, readWholeNumber, readWords, readYesOrNo } from "../http/request.ts";

export const agents = newRoutes();

agents.get("/v1/agents", listAgents);
agents.get("/v1/agents/:agent", showAgent);
agents.delete("/v1/agents/:agent", removeAgent);
agents.post("/v1/agents/:agent/accept-text", acceptText);

/** Query: `limit` (500, at most 1000), `after` (`next` of the page before), `q` (words), `online` (yes or no). */
async function listAgents(c: Context<App>): Promise<Response> {
  const { home } = requireScope(c, "ask");
  const limit = readWholeNumber(c, "limit", { fallback: AGENTS_LISTED, max: AGENTS_LISTED_MAX });
  const after = c.req.query("after");
  if (after !== undefined && !AGENT_ID.test(after)) throw noPlace("expected 'next' of an earlier answer");
  const words = readWords(c, "q", AGENT_WORDS_MAX);
  const online = c.req.query("online") === undefined ? undefined : readYesOrNo(c, "online");
  const page = await homeOf(c.env, home).agents({ limit, after, words, online });
  if (!page) throw noPlace("the list has changed meanwhile; begin with its first page");
  return c.json(page);
}

function noPlace(why: string): HttpError {
  return new HttpError(400, "invalid_query", `after: ${why}`);
}

async function showAgent(c: Context<App>): Promise<Response> {
  const { home } = requireScope(c, "ask");
  const id = pathName(c, "agent", AGENT_ID, "an agent's id");
  const agent = await homeOf(c.env, home).agent(id);
  if (!agent) throw new HttpError(404, "not_found", `no such agent: ${id}`);
  return c.json(agent);
}

const AcceptBody = z.strictObject({
  /** The line that the person read: another line that came meanwhile is not accepted. */
  line: z.optional(z.string().check(z.maxLength(4_000))),
});

/** Accepts the texts by which a device describes itself to a model. */
async function acceptText(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const agent = pathName(c, "agent", AGENT_ID, "an agent's id");
  const body = checkJson(AcceptBody, (await readText(c)) || "{}");
  if (!body.ok) throw new HttpError(400, "invalid_body", body.error);
  const accepted = await homeOf(c.env, token.home).acceptText(agent, body.value.line);
  if (accepted === "changed")
    throw new HttpError(409, "text_changed", "line: the agent says something else by now; read it again");
  if (accepted === "unknown") throw new HttpError(404, "not_found", `there is no agent '${agent}'`);
  return c.body(null, 204);
}

/** Removes a device that is gone from the list. */
async function removeAgent(c: Context<App>): Promise<Response> {
  const token = requireScope(c, "admin");
  const agent = pathName(c, "agent", AGENT_ID, "an agent's id");
  const removed = await homeOf(c.env, token.home).removeAgent(agent);
  if (removed === "unknown") throw new HttpError(404, "not_found", `no such agent: ${agent}`);
  if (removed === "has_a_key")
    throw new HttpError(409, "has_a_key", `'${agent}' is paired: revoke its key first`);
  if (removed === "in_use")
    throw new HttpError(409, "in_use", `'${agent}' is online, or a call waits for it; stop it first`);
  return c.body(null, 204);
}
