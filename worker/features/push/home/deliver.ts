/** Tells a person's browsers and topics what a rule says. Each is a row of its own until its server has it. */

import { cutText } from "@edgecall/core/text/cut.ts";
import { withTimeLimit } from "@edgecall/core/time-limit.ts";
import type { Notice } from "../../../kernel/api/notices.ts";
import type { Env } from "../../../kernel/env.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { DeliverLaterError } from "../../../kernel/home/notices/reach.ts";
import { OTHER_KEY } from "../../../kernel/home/stored-secrets.ts";
import { logInfo } from "../../../kernel/log.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import type { BrowserTarget, NtfyTarget } from "../contract.ts";
import { encryptPush } from "../encrypt.ts";
import { pressLink } from "../press-links.ts";
import { isOwnServer, pushUrl } from "../settings.ts";
import { vapidHeader } from "../vapid.ts";
import { hasAccess } from "./subscription-access.ts";
import type { Subscription } from "./subscription-store.ts";
import { subscriptionStoreOf } from "./subscription-store.ts";

/** What nobody took within a day is not told any more. */
const LIFE_MS = 24 * 3_600_000;
/** Both take 4,096 bytes with everything around; a character has three at most in a script of one unit. */
const TEXT_MAX = 900;
const WAIT_MS = 15_000;
/** A server that says when to come again is asked then, within reason. */
const LONGEST_PAUSE_S = 3_600;
const BROWSER_BUTTONS = 2;
const NTFY_BUTTONS = 3;
const NTFY_PRIORITY = { critical: 5, normal: 3 };

/** @param id of one @param opens the conversation that its notification opens @throws an error: try again later */
export async function deliverPush(
  home: HomeContext,
  id: string,
  opens: string | null,
  notice: Notice,
): Promise<void> {
  const subscriptions = subscriptionStoreOf(home);
  const { env } = home;
  const now = Date.now();
  const row = subscriptions.get(id);
  if (!row || now - notice.at > LIFE_MS) return;
  if (!hasAccess(home, row, now)) {
    subscriptions.remove(row.id);
    return;
  }
  const { target } = row;
  // The settings may have named its server when it was turned on.
  const checked = pushUrl(env, target.kind === "browser" ? target.endpoint : target.server);
  if ("problem" in checked) return subscriptions.noteProblem(row.id, `its address ${checked.problem}`);
  const access = target.kind === "ntfy" && target.token ? await subscriptions.accessToken(row, target) : "";
  if (access === undefined)
    return subscriptions.noteProblem(
      row.id,
      `its access token ${OTHER_KEY}; remove it here and add it again`,
    );
  const response =
    target.kind === "browser"
      ? await toBrowser(home, row, target, opens, notice)
      : await toTopic(env, home.name, row, { ...target, token: access }, notice);
  await response.body?.cancel();
  const { status } = response;
  if (response.ok) return subscriptions.noteProblem(row.id, null);
  logInfo("push.refused", { kind: target.kind, status });
  if (target.kind === "browser" && (status === 404 || status === 410)) {
    subscriptions.remove(row.id);
    return;
  }
  subscriptions.noteProblem(row.id, `the server answered ${status}`);
  if (status === 429 || status >= 500) throw new DeliverLaterError(status, pauseOf(response));
}

function pauseOf(response: Response): number {
  const seconds = Number(response.headers.get("retry-after"));
  return Math.min(seconds > 0 ? seconds : 60, LONGEST_PAUSE_S) * 1_000;
}

async function toBrowser(
  home: HomeContext,
  { origin }: Subscription,
  { endpoint, keys }: BrowserTarget,
  opens: string | null,
  { id, text, buttons, critical, rules }: Notice,
): Promise<Response> {
  const { env } = home;
  const message = {
    id,
    text: cutText(text, TEXT_MAX),
    critical,
    // The console opens those of the API.
    conversation: /^[^/]+\/api\/(.+)$/.exec(opens ?? "")?.[1],
    buttons: buttons.slice(0, BROWSER_BUTTONS),
  };
  const subject = origin.startsWith("https:") ? origin : "mailto:edgecall@localhost";
  return await send(env, endpoint, {
    headers: {
      authorization: await vapidHeader(
        await subscriptionStoreOf(home).vapid(),
        endpoint,
        subject,
        Date.now(),
      ),
      "content-encoding": "aes128gcm",
      "content-type": "application/octet-stream",
      ttl: String(LIFE_MS / 1_000),
      urgency: critical ? "high" : "normal",
      // A newer message of a rule replaces one that its browser did not fetch. One of several rules has what no newer one has.
      ...(rules.length === 1 && { topic: rules[0] }),
    },
    body: await encryptPush(JSON.stringify(message), keys),
  });
}

async function toTopic(
  env: Env,
  home: string,
  { id, origin }: Subscription,
  { server, topic, token }: NtfyTarget,
  { text, buttons, critical }: Notice,
): Promise<Response> {
  const actions = buttons.slice(0, NTFY_BUTTONS).map(async ({ label, ...press }) => ({
    action: "http",
    label,
    method: "POST",
    clear: true,
    url: await pressLink(env, origin, { home, outlet: id, ...press }),
  }));
  return await send(env, server, {
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({
      topic,
      message: cutText(text, TEXT_MAX),
      priority: critical ? NTFY_PRIORITY.critical : NTFY_PRIORITY.normal,
      click: readSettings(env).publicUrl ?? origin,
      actions: await Promise.all(actions),
    }),
  });
}

async function send(
  env: Env,
  url: string,
  { headers, body }: { headers: Record<string, string>; body: Uint8Array | string },
): Promise<Response> {
  const { WEB } = env;
  return await withTimeLimit(WAIT_MS, async (signal) => {
    const init = { method: "POST", headers, body, redirect: "manual", signal } as const;
    return WEB && !isOwnServer(env, new URL(url)) ? await WEB.fetch(url, init) : await fetch(url, init);
  });
}
