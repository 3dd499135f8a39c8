/** The bridge tells what became of rules that act. Each piece of news is stored before the bridge learns so, and comes again until then. */
import { meanwhileText, newsText, pausedText, type ToldNews } from "@edgecall/core/automations/news-text.ts";
import { NEWS_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import type { AutomationNews, AutomationRun } from "@edgecall/core/protocol/automation.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { MINUTE_MS } from "@edgecall/core/time/zone.ts";
import type { RuleButton } from "../../../kernel/api/notices.ts";
import { hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import { addToAudit } from "../../../kernel/home/audit/add-to-audit.ts";
import { homeLine } from "../../../kernel/home/audit/audit-lines.ts";
import { bridgeOf } from "../../../kernel/home/bridge/bridge-socket.ts";
import { clockOf } from "../../../kernel/home/clock.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { sendNotice } from "../../../kernel/home/notices/hand-over.ts";
import { ownersHear } from "../../../kernel/home/notices/owners.ts";
import { permissionsOf } from "../../../kernel/home/permissions/permission-store.ts";
import { logInfo } from "../../../kernel/log.ts";
import { phrasesOf, readLanguage } from "../../../kernel/phrases.ts";
import { rowsOf } from "./allow.ts";
import { type AutomationRow, automationsOf } from "./automation-store.ts";
import { idOf } from "./faithful.ts";
import { makersOwn, stopRule } from "./pause.ts";

/** An end of something dangerous that nobody answered is told again after so long, and then ever more seldom. */
const AGAIN_MS = 5 * MINUTE_MS;
const AGAIN_MAX_MS = 60 * MINUTE_MS;
/** More news of one person's rules at once are one message. */
const GATHERED_MIN = 3;

type Told = { row: AutomationRow; news: AutomationNews };

/** The bridge says what became of rules. What was stored before is not told twice. */
export async function onNews(home: HomeContext, { news, lost }: BridgeFrame & { t: "news" }): Promise<void> {
  const rows = news.flatMap(({ rule }) => automationsOf(home).get(rule) ?? []);
  await Promise.all(rows.map(({ maker }) => readLanguage(home.env, maker.language)));
  // No await until all is stored.
  const before = automationsOf(home).newsStored();
  const sorted = news.filter(({ n }) => n > before).toSorted((a, b) => a.n - b.n);
  const told = sorted.flatMap((one): Told[] => {
    const row = automationsOf(home).get(one.rule);
    // What has stopped meanwhile was told so, or a person did it.
    const isStale = one.paused !== undefined && row?.status !== "active";
    return row && !isStale && one.version <= row.automation.version ? [{ row, news: one }] : [];
  });
  for (const one of told) apply(home, one);
  const isUrgent = ({ news: { critical, paused } }: Told) => critical === true || paused !== undefined;
  const many = Map.groupBy(
    told,
    (one) => `${isUrgent(one)} ${one.row.maker.principal} ${one.row.maker.conversation}`,
  );
  for (const all of many.values()) tell(home, all);
  if (lost !== undefined && sorted.length > 0) tellLost(home, lost, rows[0]);
  const last = sorted.at(-1)?.n;
  if (last !== undefined) automationsOf(home).storeNews(last);
  if (news.length > 0)
    bridgeOf(home).send({ t: "news_stored", upto: Math.max(...news.map(({ n }) => n)) }, Date.now());
  await home.alarm.arm();
}

function apply(home: HomeContext, { row, news }: Told): void {
  if (news.version !== row.automation.version) return;
  if (news.run || (news.silent ?? 0) > 0)
    for (const { id } of rowsOf(home, row.automation)) permissionsOf(home).use(id, Date.now());
  if (news.run) record(home, row, news.run);
  // A rule that ran too often rests for an hour, and goes on by itself.
  const phrases = phrasesOf(row.maker.language);
  const stopped = news.paused === "too_often" ? undefined : pausedText(news, phrases);
  // A person may have stopped it meanwhile.
  if (stopped !== undefined && row.status === "active") stopRule(home, row, "paused", stopped);
}

/** Of one maker. After a long absence they read one message. */
function tell(home: HomeContext, told: readonly Told[]): void {
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const texts = told.map(({ row: { automation, maker }, news }): ToldNews => {
    const nameOf = (step: AutomationRow["automation"]["do"][number]) => nameIn(home, step);
    return { news, automation, nameOf, zone, now, phrases: phrasesOf(maker.language) };
  });
  const [first] = told;
  const isMuch =
    told.length > GATHERED_MIN && told.every(({ news }) => !news.critical && news.paused === undefined);
  if (isMuch && first)
    send(home, first.row, 0, meanwhileText(texts), {}, [...new Set(told.map(({ row }) => row))]);
  else
    for (const [at, one] of texts.entries()) {
      const { row, news } = told[at] as Told;
      const text = newsText(one);
      send(home, row, news.n, text, news);
      if (!news.critical) continue;
      const current = automationsOf(home).get(row.automation.id) ?? row;
      automationsOf(home).put({ ...current, critical: { n: news.n, text, times: 1, due: now + AGAIN_MS } });
    }
}

/** What gave way at the bridge is of no rule that is known, so owners hear it. @param row one whose maker reads their language */
function tellLost(home: HomeContext, count: number, row: AutomationRow | undefined): void {
  logInfo("automations.news_lost", { count });
  const text = phrasesOf(row?.maker.language ?? "en").sayOf(NEWS_WORDS, "newsLost", { count });
  const notice = { id: crypto.randomUUID(), text, rules: [], buttons: [], critical: false, at: Date.now() };
  sendNotice(home, ownersHear(home), notice, null);
}

function nameIn(home: HomeContext, step: AutomationRow["automation"]["do"][number]): string {
  const id = idOf(home, step) ?? step.agent;
  const device = hostedDevicesOf(home).get(id);
  return device?.setting?.name ?? device?.hosted.name ?? id;
}

/** @param about all rules of which the text tells */
function send(
  home: HomeContext,
  row: AutomationRow,
  n: number,
  text: string,
  { run, paused, critical = false }: Pick<AutomationNews, "run" | "paused" | "critical">,
  about = [row],
): void {
  const { automation, maker } = row;
  const phrases = phrasesOf(maker.language);
  const button = (label: string, what: RuleButton["do"], occurrence = n): RuleButton => ({
    ...{ label, do: what, rule: automation.id, occurrence },
  });
  const isActive = automationsOf(home).get(automation.id)?.status === "active";
  const buttons = [
    ...(critical ? [button(phrases.say("gotIt"), "ack")] : []),
    ...(run?.undo ? [button(phrases.say("undo"), "undo", run.firing)] : []),
    ...(isActive && n > 0 ? [button(phrases.sayOf(NEWS_WORDS, "stopRule"), "stop")] : []),
  ];
  const owners = ownersHear(home);
  const own = makersOwn(home, row);
  const isForAll = critical || paused !== undefined || own.length === 0;
  const to = [...new Set(isForAll ? [...own, ...owners] : own)];
  const next = owners.filter((one) => !to.includes(one));
  const notice = {
    id: crypto.randomUUID(),
    text,
    rules: about.map((one) => one.automation.id),
    buttons,
    critical,
    at: Date.now(),
    next,
  };
  const areWordsPlain = about.every((one) => isPlain(home, one));
  sendNotice(home, to, { ...notice, sources: areWordsPlain ? [] : [STRANGER] }, maker.conversation);
}

/** True if none of its devices has words of strangers. */
function isPlain(home: HomeContext, { automation: { when, do: steps, end } }: AutomationRow): boolean {
  return [...when, ...steps, ...end].every(
    (one) => one.of === "hosted" && hostedDevicesOf(home).isPlain(idOf(home, one) ?? ""),
  );
}

/** Tells again what is critical, until a person answers. */
export async function tellAgain(home: HomeContext, now: number): Promise<void> {
  for (const { automation, maker, critical: told } of automationsOf(home).whole()) {
    if (!told || told.due > now) continue;
    await readLanguage(home.env, maker.language);
    // It may have been answered or stopped meanwhile.
    const row = automationsOf(home).get(automation.id);
    const critical = row?.critical;
    if (!critical || critical.due > now) continue;
    const due = now + Math.min(AGAIN_MS * 2 ** critical.times, AGAIN_MAX_MS);
    automationsOf(home).put({ ...row, critical: { ...critical, times: critical.times + 1, due } });
    send(home, row, critical.n, critical.text, { critical: true });
  }
}

/** The steps that the bridge ran stand in the record, each with who allowed the rule. What the gateway carried out stands there already. */
function record(home: HomeContext, { automation, allowed }: AutomationRow, run: AutomationRun): void {
  const all = [...automation.do, ...automation.end];
  const rows = rowsOf(home, automation);
  for (const { step, outcome, text, at } of run.steps) {
    const one = all[step];
    if (!one || isCarriedOut(one)) continue;
    const { action, parameters, key } = one;
    const id = `${run.rule}:${run.version}:${run.firing}:${step}`;
    const agent = idOf(home, one) ?? one.agent;
    const payload = { tool: action, parameters };
    const status = outcome === "confirmed" || outcome === "sent" || outcome === "late" ? "success" : "error";
    const line = homeLine(
      { id, agent, command: "tool", payload, caller: callerOf(automation) },
      { status, text: `${outcome}: ${text}`, elapsedMs: 0 },
      at,
    );
    const permission = rows.find((row) => row.key === key && Object.hasOwn(row.actions, action))?.id;
    const approval = {
      approved: true,
      by: allowed.by,
      at: new Date(allowed.at).toISOString(),
      ...(permission !== undefined && { permission }),
    };
    addToAudit(home, agent, id, [{ ...line, approval }]);
  }
}

/** The rule, as the caller of its steps. */
export function callerOf({ id }: AutomationRow["automation"]): Caller {
  return { principal: `rule:${id}`, role: "member", channel: "rule" };
}

/** The gateway carries it out: an action of a paired agent, and what asks a person at that moment. */
export function isCarriedOut({ of, danger }: AutomationRow["automation"]["do"][number]): boolean {
  return of === "agent" || danger === "way_in";
}
