/** Today's events, as sentences. Pure. */
import type { AnswerOf } from "@edgecall/client/client.ts";
import { visible } from "@edgecall/core/tools/visible.ts";
import { approvalText } from "../approval-text.ts";
import { actionText, changeText, isRead } from "../change-text.ts";
import { EXPIRED, outcomeText, personText, type RuleName, ruleCaller } from "../person-text.ts";
import { RUN_STATES } from "../run-words.ts";
import { say } from "../texts/say.ts";
import type { Thing } from "../things.ts";

type Line = AnswerOf<"GET /v1/audit">["entries"][number];
type Automation = Pick<
  AnswerOf<"GET /v1/automations">["automations"][number],
  "id" | "name" | "changes" | "now"
>;
type Rule = AnswerOf<"GET /v1/rules">["rules"][number];

export type Happening = { at: number; title: string; second: string; isBad: boolean };

type Given = {
  lines: readonly Line[];
  things: readonly Thing[];
  rules: readonly Rule[];
  /** Their runs stand for the lines of what those did. */
  automations?: readonly Automation[];
  /** Of rules that are not in `automations`. */
  ruleName?: RuleName;
  now: number;
  /** The name of the person who looks. */
  me: string;
  /** Epoch ms; absent: since midnight. */
  since?: number;
};

/** @returns the newest first; equal ones after one another are one */
export function happeningsOf({
  lines,
  things,
  rules,
  automations = [],
  ruleName,
  now,
  me,
  since,
}: Given): Happening[] {
  const known = new Map(things.map((thing) => [thing.id, thing]));
  const nameOf: RuleName = (id) => automations.find((one) => one.id === id)?.name ?? ruleName?.(id);
  const told = new Map(automations.map((one) => [ruleCaller(one.id), one]));
  const from = since ?? new Date(now).setHours(0, 0, 0, 0);
  const all = [
    ...lines.flatMap((line) =>
      isOfRun(line, told.get(line.caller.principal))
        ? []
        : (happeningOf(line, known.get(line.agent_id), me, nameOf) ?? []),
    ),
    ...automations.flatMap((one) => runsOf(one, known)),
    ...rules.flatMap((rule) => firingsOf(rule)),
    ...things.flatMap(({ name, usable, tone, at, wrong }) =>
      !usable && tone === "gone" && typeof at === "number" && wrong.length > 0
        ? [{ at, title: say("wentOffline", { name }), second: "", isBad: false }]
        : [],
    ),
  ];
  return withoutRepeated(all.filter(({ at }) => at >= from && at <= now).sort((a, b) => b.at - a.at));
}

/** A rule's last runs alone are listed: what it did before them stands in the record. */
function isOfRun({ call_id, timestamp }: Line, rule: Automation | undefined): boolean {
  const runs = rule?.now?.runs ?? [];
  // The id of a rule's step names its run.
  return call_id.split(":").length === 4
    ? runs.some((run) => call_id.startsWith(`${run.rule}:${run.version}:${run.firing}:`))
    : runs.some(({ at }) => at <= Date.parse(timestamp));
}

function withoutRepeated(all: readonly Happening[]): Happening[] {
  return all.filter(({ title, second }, at) => {
    const before = all[at - 1];
    return before === undefined || before.title !== title || before.second !== second;
  });
}

function happeningOf(
  line: Line,
  thing: Thing | undefined,
  me: string,
  ruleName: RuleName,
): Happening | undefined {
  const { agent_id, tool, parameters, result, timestamp, caller } = line;
  // Decisions of people about the home are on the record's own screen.
  if (agent_id.startsWith("@") || isRead(tool)) return undefined;
  const name = thing?.name ?? agent_id;
  const isMachine = thing?.kind === "machine";
  const refusal = refusalOf(line, me);
  const isBad = result === "error" && refusal === undefined;
  return {
    at: Date.parse(timestamp),
    title: isBad
      ? isMachine
        ? say("whatFailed", { name, text: actionText(tool) })
        : say("didNotWork", { name })
      : say("named", { name, text: refusal ?? changeText(tool, parameters, isMachine) }),
    second: [whoText(caller, me, ruleName), yesOf(line, me)].filter(Boolean).join("; "),
    isBad,
  };
}

/** Why it was not run: a person said no, nobody answered, or it is not allowed. @returns undefined: it was run, or failed */
function refusalOf({ approval, error_type }: Line, me: string): string | undefined {
  if (!approval || approval.approved)
    return error_type === "permission_denied" ? say("notAllowed") : undefined;
  return outcomeText({ answer: approval.by === undefined ? EXPIRED : "deny", by: approval.by, me });
}

/** The permission under which nobody was asked, or the yes of somebody other than the caller. */
function yesOf({ approval, timestamp, caller }: Line, me: string): string | undefined {
  if (!approval?.approved) return undefined;
  if (approval.permission === undefined && approval.by === caller.principal) return undefined;
  return approvalText({ timestamp, approval }, me);
}

function whoText({ principal, channel }: Line["caller"], me: string, ruleName: RuleName): string {
  const who = personText(principal, me, ruleName);
  const where = CHANNELS[channel];
  return where === undefined ? who : say("whoWhere", { who, where });
}

/** Chat apps as people call them. */
const CHANNELS: Readonly<Record<string, string>> = {
  telegram: "Telegram",
  slack: "Slack",
  discord: "Discord",
  whatsapp: "WhatsApp",
  mcp: "MCP",
};

/** The changes of a run and why it ran, or why it stopped or did not run. */
function runsOf({ name, changes, now }: Automation, things: ReadonlyMap<string, Thing>): Happening[] {
  const changed = changes.map((id) => things.get(id)?.name ?? visible(id)).join(", ");
  return (now?.runs ?? []).map(({ at, state, because, why }) => ({
    at,
    title: say("named", { name: visible(name), text: say(RUN_STATES[state]) }),
    second:
      why === undefined
        ? [changed, because.length > 0 && say("runBecause", { text: because.map(visible).join("; ") })]
            .filter(Boolean)
            .join("; ")
        : visible(why),
    isBad: state === "stopped",
  }));
}

function firingsOf({ name, kind, device, history, to }: Rule): Happening[] {
  return history.map(({ at }) => ({
    at,
    title:
      kind === "watch" && device !== undefined
        ? say("named", { name: visible(device), text: visible(name) })
        : visible(name),
    second: say(kind === "watch" ? "toldTo" : "reminded", { to: visible(to) }),
    isBad: kind === "watch",
  }));
}
