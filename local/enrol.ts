/** Pairs an agent of this machine with its gateway, directly: each learns the other's public key. */

import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { openIdentity, rememberGateway } from "../pi-agent/link/identity.ts";

const Enrolled = z.object({ gateway_key: z.string() });
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

export type Enrolment = {
  /** The gateway's address, without a slash at its end. */
  url: string;
  /** An administrator's. */
  token: string;
  agentId: string;
  /** The agent's state directory: its key is made there, and the gateway's remembered. */
  stateDir: string;
};

/** @throws with words when the gateway does not take the key */
export async function enrol({ url, token, agentId, stateDir }: Enrolment): Promise<void> {
  const { publicKey } = await openIdentity(stateDir);
  const path = `${url}/v1/agents/${agentId}/key`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const put = async () => {
    const response = await fetch(path, {
      method: "POST",
      headers,
      body: JSON.stringify({ public_key: publicKey }),
    });
    return { ok: response.ok, text: await response.text() };
  };
  let reply = await put();
  // The agent's folder was removed, and the gateway's rows were not: whoever starts both may say which one counts.
  if (!reply.ok && codeOf(reply.text) === "has_a_key") {
    await fetch(path, { method: "DELETE", headers });
    reply = await put();
  }
  const enrolled = reply.ok ? checkJson(Enrolled, reply.text) : { ok: false as const, error: reply.text };
  if (!enrolled.ok)
    throw new Error(`the gateway did not take the key of '${agentId}': ${cutText(enrolled.error, 300)}`);
  await rememberGateway(stateDir, enrolled.value.gateway_key);
}

function codeOf(text: string): string | undefined {
  const refused = checkJson(Refused, text);
  return refused.ok ? refused.value.error.code : undefined;
}
