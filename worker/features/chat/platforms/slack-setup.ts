/** Connects Slack. The person makes the app from a manifest on Slack's page; the gateway checks the token. */
import { check, type Parsed, z } from "@edgecall/core/protocol/parse.ts";
import type { SlackConnection } from "../../../kernel/settings/chat.ts";
import { send } from "./platform-request.ts";
import type { Account, Setup } from "./platform-setup.ts";

const Tested = z.looseObject({ team: z.string(), user: z.string(), url: z.optional(z.string()) });

export const slackSetup: Setup<SlackConnection> = {
  account,

  async install(_, address) {
    return {
      ok: true,
      value: [
        `At api.slack.com, under Event Subscriptions, the request URL is ${address}; press Retry there, now that the signing secret is known here.`,
      ],
    };
  },

  /** Slack does not report an app's deliveries, so only the token is checked. */
  async deliveries(connection) {
    const tested = await account(connection);
    return tested.ok ? { ok: true, value: {} } : tested;
  },
};

async function account({ base_url, token }: SlackConnection): Promise<Parsed<Account>> {
  const reply = await send("slack auth.test", `${base_url}/auth.test`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-www-form-urlencoded" },
  });
  if (reply.body.ok !== true)
    return {
      ok: false,
      error: `Slack refused the token: ${String(reply.body.error ?? reply.status)}. The app's page shows it under OAuth & Permissions, xoxb-…`,
    };
  const tested = check(Tested, reply.body);
  if (!tested.ok) return tested;
  const { team, user, url } = tested.value;
  return {
    ok: true,
    value: { name: `${user} in ${team}`, ...(url?.startsWith("https://") && { link: url }) },
  };
}
