/** The bridge tells what became of rules that act. Each piece of news is stored before the bridge learns so, and comes again until then. */
import { newsText, whyText } from "@edgecall/core/automations/news-text.ts";
import { NEWS_WORDS } from "@edgecall/core/automations/words/news-words.ts";
import { STRANGER } from "@edgecall/core/loop/taint.ts";
import type { AutomationNews, AutomationRun } from "@edgecall/core/protocol/automation.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import { MINUTE_MS } from "@edgecall/core/time/zone.ts";
import { auditLine } from "@edgecall/core/tools/audit-line.ts";
import type { RuleButton } from "../../../kernel/api/notices.ts";
import { hostedDevicesOf } from "../../../kernel/home/agents/hosted-devices.ts";
import { addToAudit } from "../../../kernel/home/audit/add-to-audit.ts";
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
const WHY_MAX = 300;

/** The bridge says what became of rules. What was stored before is not told twice. */
export async function onNews(home: HomeContext, { news, lost }: BridgeFrame & { t: "news" }): Promise<void> {
  if (lost !== undefined) logInfo("automations.news_lost", { count: lost });
  const told = news.flatMap(({ rule }) => automationsOf(home).get(rule) ?? []);
  await Promise.all(told.map(({ maker }) => readLanguage(home.env, maker.language)));
  // No await until all is stored.
  let upto = automationsOf(home).newsStored();
  const before = upto;
  for (const one of news.toSorted((a, b) => a.n - b.n)) {
    if (one.n <= upto) continue;
    upto = one.n;
    const row = automationsOf(home).get(one.rule);
    if (row && one.version <= row.automation.version) apply(home, row, one);
  }
  if (upto > before) automationsOf(home).storeNews(upto);
  const last = Math.max(...news.map(({ n }) => n));
  if (news.length > 0) bridgeOf(home).send({ t: "news_stored", upto: last }, Date.now());
  await home.alarm.arm();
}

function apply(home: HomeContext, row: AutomationRow, news: AutomationNews): void {
  const isPresent = news.version === row.automation.version;
  if (isPresent && (news.run || (news.silent ?? 0) > 0))
    for (const { id } of rowsOf(home, row.automation)) permissionsOf(home).use(id, Date.now());
  if (isPresent && news.run) record(home, row, news.run);
  // A person may have stopped it meanwhile.
  if (news.paused !== undefined && isPresent && row.status === "active")
    stopRule(home, row, "paused", whyText(news.paused, phrasesOf(row.maker.language)).slice(0, WHY_MAX));
  tell(home, row, news);
}

function tell(home: HomeContext, row: AutomationRow, news: AutomationNews): void {
  const { automation, maker } = row;
  const phrases = phrasesOf(maker.language);
  const now = Date.now();
  const { zone } = clockOf(home).read();
  const text = newsText({ news, automation, nameOf: (step) => nameOf(home, step), zone, now, phrases });
  send(home, row, news.n, text, news);
  if (!news.critical) return;
  const current = automationsOf(home).get(automation.id) ?? row;
  automationsOf(home).put({ ...current, critical: { n: news.n, text, times: 1, due: now + AGAIN_MS } });
}

function send(
  home: HomeContext,
  row: AutomationRow,
  n: number,
  text: string,
  { run, paused, critical = false }: Pick<AutomationNews, "run" | "paused" | "critical">,
  times = 0,
): void {
  const { automation, maker } = row;
  const phrases = phrasesOf(maker.language);
  const button = (label: string, what: RuleButton["do"], occurrence = n): RuleButton => ({
    ...{ label, do: what, rule: automation.id, occurrence },
  });
  const buttons = [
    ...(critical ? [button(phrases.say("gotIt"), "ack")] : []),
    ...(run?.undo ? [button(phrases.say("undo"), "undo", run.firing)] : []),
    ...(automationsOf(home).get(automation.id)?.status === "active"
      ? [button(phrases.sayOf(NEWS_WORDS, "stopRule"), "stop")]
      : []),
  ];
  const owners = ownersHear(home);
  const own = makersOwn(home, row);
  const isForAll = critical || paused !== undefined || own.length === 0;
  const to = [...new Set(isForAll ? [...own, ...owners] : own)];
  const id = `${automation.id}:${automation.version}:${n}${times > 0 ? `:${times}` : ""}`;
  const next = owners.filter((one) => !to.includes(one));
  const notice = { id, text, rules: [automation.id], buttons, critical, at: Date.now(), next };
  sendNotice(home, to, { ...notice, sources: isPlain(home, row) ? [] : [STRANGER] }, maker.conversation);
}

/** As people call the device of a step; its id where it is gone. */
function nameOf(home: HomeContext, step: AutomationRow["automation"]["do"][number]): string {
  const id = idOf(home, step) ?? step.agent;
  const device = hostedDevicesOf(home).get(id);
  return device ? (device.setting?.name ?? device.hosted.name) : id;
}

/** True if none of its devices has words of strangers. */
function isPlain(home: HomeContext, { automation: { when, do: steps, end } }: AutomationRow): boolean {
  return [...when, ...steps, ...end].every(
    (one) => one.of === "hosted" && hostedDevicesOf(home).isPlain(idOf(home, one) ?? ""),
  );
}

/** Tells again what is critical, until a person answers. */
export async function tellAgain(home: HomeContext, now: number): Promise<void> {
  for (const row of automationsOf(home).all()) {
    const { critical, maker } = row;
    if (!critical || critical.due > now) continue;
    await readLanguage(home.env, maker.language);
    const due = now + Math.min(AGAIN_MS * 2 ** critical.times, AGAIN_MAX_MS);
    automationsOf(home).put({ ...row, critical: { ...critical, times: critical.times + 1, due } });
    send(home, row, critical.n, critical.text, { critical: true }, critical.times);
  }
}

/** The steps that the bridge ran stand in the record, each with who allowed the rule. What the gateway carried out stands there already. */
function record(home: HomeContext, { automation, allowed }: AutomationRow, run: AutomationRun): void {
  const all = [...automation.do, ...automation.end];
  const by = rowsOf(home, automation);
  const lines = run.steps.flatMap(({ step, outcome, text, at }) => {
    const one = all[step];
    if (!one || isCarriedOut(one)) return [];
    const id = `${run.rule}:${run.version}:${run.firing}:${step}`;
    const isDone = outcome === "confirmed" || outcome === "sent" || outcome === "late";
    const permission = by.find(({ key, actions }) => key === one.key && Object.hasOwn(actions, one.action));
    const agent = idOf(home, one) ?? one.agent;
    const line = {
      timestamp: new Date(at).toISOString(),
      agent_id: agent,
      tool: one.action,
      parameters: one.parameters,
      result: isDone ? ("success" as const) : ("error" as const),
      ...(!isDone && { error: `${outcome}: ${text}`.slice(0, 500) }),
      exit_code: null,
      elapsed_ms: 0,
      call_id: id,
      request_id: id,
      caller: { principal: `rule:${automation.id}`, role: "member", channel: "rule" },
      approval: {
        approved: true,
        by: allowed.by,
        at: new Date(allowed.at).toISOString(),
        ...(permission && { permission: permission.id }),
      },
    };
    return [{ agent, id, line: auditLine(line, []) }];
  });
  for (const { agent, id, line } of lines) addToAudit(home, agent, id, [line]);
}

/** The gateway carries it out: an action of a paired agent, and what asks a person at that moment. */
export function isCarriedOut({ of, danger }: AutomationRow["automation"]["do"][number]): boolean {
  return of === "agent" || danger === "way_in";
}
