/** Tells a person's browsers and topics what a rule says, and what waits for their yes or no. Each is a row of its own until its server has it. */

import type { Phrases } from "@edgecall/core/phrases/phrases.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { withTimeLimit } from "@edgecall/core/time-limit.ts";
import type { Notice, NoticeQuestion } from "../../../kernel/api/notices.ts";
import type { Env } from "../../../kernel/env.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { DeliverLaterError } from "../../../kernel/home/notices/reach.ts";
import { OTHER_KEY } from "../../../kernel/home/stored-secrets.ts";
import { logInfo } from "../../../kernel/log.ts";
import { noticeIn } from "../../../kernel/notice-language.ts";
import { phrasesOf, readLanguage } from "../../../kernel/phrases.ts";
import { readSettings } from "../../../kernel/settings/settings.ts";
import type { BrowserTarget, NtfyTarget } from "../contract.ts";
import { encryptPush } from "../encrypt.ts";
import { pressLink } from "../press-links.ts";
import { isOwnServer, pushUrl } from "../settings.ts";
import { vapidHeader } from "../vapid.ts";
import { viewerOf } from "./subscription-access.ts";
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
/** Safari ends a subscription whose messages show nothing. */
const SHOWS_EACH = /(^|\.)push\.apple\.com$/;

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
  if (!row || now >= endOf(notice)) return;
  const viewer = viewerOf(home, row, now);
  if (!viewer) {
    subscriptions.remove(row.id);
    return;
  }
  const { target } = row;
  if (notice.question?.isOver && !canTakeBack(target)) return;
  const mayApprove = viewer.scopes.includes("approve");
  // The settings may have named its server when it was turned on.
  const checked = pushUrl(env, target.kind === "browser" ? target.endpoint : target.server);
  if ("problem" in checked) return subscriptions.noteProblem(row.id, `its address ${checked.problem}`);
  const access = target.kind === "ntfy" && target.token ? await subscriptions.accessToken(row, target) : "";
  if (access === undefined)
    return subscriptions.noteProblem(
      row.id,
      `its access token ${OTHER_KEY}; remove it here and add it again`,
    );
  const phrases = row.language === null ? phrasesOf() : await readLanguage(env, row.language);
  const told = { ...noticeIn(notice, phrases), mayApprove, phrases };
  const response =
    target.kind === "browser"
      ? await toBrowser(home, row, target, opens, told)
      : await toTopic(env, home.name, row, { ...target, token: access }, told);
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

/** What nobody took by then is not told any more. @returns epoch ms */
function endOf({ at, question }: Notice): number {
  return question === undefined ? at + LIFE_MS : Math.min(question.expiresAt, at + LIFE_MS);
}

/** Seconds in which a push service keeps it. */
function ttlOf(notice: Notice, now: number): number {
  return notice.question === undefined ? LIFE_MS / 1_000 : Math.ceil((endOf(notice) - now) / 1_000);
}

/** What ntfy has shown stays. */
function canTakeBack(target: BrowserTarget | NtfyTarget): boolean {
  return target.kind === "browser" && !SHOWS_EACH.test(new URL(target.endpoint).hostname);
}

/** @property mayApprove the person may, by the token that turned it on @property phrases of their language */
type ToTell = Notice & { mayApprove: boolean; phrases: Phrases };

/** What is shown there of its words. */
function textFor({ words }: Subscription, { text, question, phrases }: ToTell): string {
  // In place of a rule's words, where a lock screen shows none.
  return cutText(words === "all" ? text : (question?.kind ?? phrases.say("homeTells")), TEXT_MAX);
}

/** Answers that may be pressed there: not without the words that say to what. */
function answersFor({ words }: Subscription, { question, mayApprove }: ToTell): NoticeQuestion["answers"] {
  return words === "all" && mayApprove ? (question?.answers ?? []) : [];
}

function pauseOf(response: Response): number {
  const seconds = Number(response.headers.get("retry-after"));
  return Math.min(seconds > 0 ? seconds : 60, LONGEST_PAUSE_S) * 1_000;
}

async function toBrowser(
  home: HomeContext,
  row: Subscription,
  { endpoint, keys }: BrowserTarget,
  opens: string | null,
  notice: ToTell,
): Promise<Response> {
  const { env } = home;
  const { origin } = row;
  const { id, critical, rules, question } = notice;
  const message = question?.isOver
    ? { id: question.id, over: true }
    : {
        id: question?.id ?? id,
        text: textFor(row, notice),
        critical,
        // The console opens those of the API.
        conversation: /^[^/]+\/api\/(.+)$/.exec(opens ?? "")?.[1],
        question: question?.id,
        buttons: question ? await linksOf(home, row, notice) : notice.buttons.slice(0, BROWSER_BUTTONS),
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
      ttl: String(ttlOf(notice, Date.now())),
      urgency: critical ? "high" : "normal",
      // A newer message of a rule replaces one that its browser did not fetch. One of several rules has what no newer one has.
      ...(rules.length === 1 && { topic: rules[0] }),
      // So that what became of a question replaces it.
      ...(question && { topic: question.id.replaceAll("-", "") }),
    },
    body: await encryptPush(JSON.stringify(message), keys),
  });
}

/** Buttons of a question for a browser: each has the link that presses it. */
async function linksOf(home: HomeContext, row: Subscription, notice: ToTell) {
  const { id = "" } = notice.question ?? {};
  const links = answersFor(row, notice).map(async ({ label, answer }) => {
    const press = { home: home.name, outlet: row.id, question: id, answer };
    return { label, link: new URL(await pressLink(home.env, row.origin, press)).pathname };
  });
  return await Promise.all(links);
}

async function toTopic(
  env: Env,
  home: string,
  row: Subscription,
  { server, topic, token }: NtfyTarget,
  notice: ToTell,
): Promise<Response> {
  const { buttons, critical, question, phrases } = notice;
  const { id, origin } = row;
  const console = readSettings(env).publicUrl ?? origin;
  const click = question ? `${console}/#/waiting/${question.id}` : console;
  // Whoever can read an open topic could press them.
  const answers = token ? answersFor(row, notice) : [];
  const pressed = [
    ...answers.map(({ label, answer }) => ({ label, press: { question: question?.id ?? "", answer } })),
    ...buttons.map(({ label, ...press }) => ({ label, press })),
  ];
  const actions = pressed.slice(0, NTFY_BUTTONS).map(async ({ label, press }) => ({
    action: "http",
    label,
    method: "POST",
    clear: true,
    url: await pressLink(env, origin, { home, outlet: id, ...press }),
  }));
  const view =
    question && answers.length === 0 ? [{ action: "view", label: phrases.say("openIt"), url: click }] : [];
  return await send(env, server, {
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({
      topic,
      message: textFor(row, notice),
      priority: critical ? NTFY_PRIORITY.critical : NTFY_PRIORITY.normal,
      click,
      actions: [...(await Promise.all(actions)), ...view],
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
