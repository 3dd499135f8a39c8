/**
 * Approvals for clients that can show a person an address (URL-mode elicitation of revision 2026-07-28): the call's result asks
 * for the person, who answers at the gateway's own page, and the client then sends the same call again with `requestState`.
 * What the client says of the person (`accept`) means that they saw the address. It is never an answer.
 */
import { sha256Hex } from "@edgecall/core/encoding.ts";
import { oneLine } from "@edgecall/core/tools/one-line.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import type { AskedQuestion } from "../../kernel/api/questions.ts";
import type { Env } from "../../kernel/env.ts";
import { seal, unseal } from "../../kernel/http/sealed.ts";
import type { ApiToken } from "../../kernel/settings/tokens.ts";
import { lookAgain, metaOf } from "./answer.ts";
import { type CallToolResult, INVALID_PARAMS, McpError } from "./protocol.ts";

/** The name of our request in `inputRequests` and `inputResponses`. */
const ASKED = "answer";
const STATE_LIFE_MS = 600_000;
const MESSAGE_MAX = 300;

/** @property until epoch ms */
type State = { call: string; agent: string; of: string; until: number };

/** The same tool with the same arguments, of the same caller. */
type Asked = { tool: string; args: Record<string, unknown>; token: ApiToken };

export type Resumed = { call: string; agent: string; isDeclined: boolean };

/** @returns a result that has the client show the person the question's page */
export async function askPerson(
  env: Env,
  question: AskedQuestion,
  { call, agent, origin }: { call: string; agent: string; origin: string },
  asked: Asked,
): Promise<CallToolResult> {
  const state: State = { call, agent, of: await digestOf(asked), until: Date.now() + STATE_LIFE_MS };
  const params = {
    mode: "url",
    elicitationId: question.id,
    url: `${origin}/#/waiting/${question.id}`,
    message: oneLine(`${agent}: ${visible(question.text)} Answer it on your gateway.`, MESSAGE_MAX),
  };
  return {
    content: [],
    resultType: "input_required",
    inputRequests: { [ASKED]: { method: "elicitation/create", params } },
    requestState: await seal(env, "mcp state", state),
    _meta: metaOf({ agent, call }, "waiting_for_person"),
  };
}

/**
 * Reads the second try of a call.
 * @param state as the client brought it
 * @throws McpError when it is not this call's
 */
export async function resumed(
  env: Env,
  state: string,
  responses: Readonly<Record<string, unknown>> | undefined,
  asked: Asked,
): Promise<Resumed> {
  const read = await unseal<State>(env, "mcp state", state);
  if (!read || read.of !== (await digestOf(asked)))
    throw new McpError(INVALID_PARAMS, "requestState: it belongs to another call; call again without it");
  if (read.until <= Date.now())
    throw new McpError(INVALID_PARAMS, `requestState: it is older than ten minutes. ${lookAgain(read)}`, {
      data: metaOf(read, "expired"),
    });
  const response = responses?.[ASKED] as { action?: unknown } | undefined;
  const isDeclined = response?.action === "decline" || response?.action === "cancel";
  return { call: read.call, agent: read.agent, isDeclined };
}

async function digestOf({ tool, args, token }: Asked): Promise<string> {
  return await sha256Hex(JSON.stringify([token.home, token.hash, tool, args]));
}
