/** A rule is allowed: its permissions, its signature, its row, and its way to the bridge. */
import { LIFE_MAX_MS, type StandingPermission } from "@edgecall/core/permissions/permission.ts";
import type { AllowedAutomation, Automation } from "@edgecall/core/protocol/automation.ts";
import { gatewayKeyOf } from "../../../kernel/home/agents/gateway-key.ts";
import { stop } from "../../../kernel/home/calls/dispatch.ts";
import type { HomeContext } from "../../../kernel/home/context.ts";
import { ledgerOf } from "../../../kernel/home/ledger/ledger.ts";
import { rightsOf } from "../../../kernel/home/notices/rights.ts";
import { prepareVersion } from "../../../kernel/home/permissions/bound-device.ts";
import { endPermission } from "../../../kernel/home/permissions/ends.ts";
import { keepPermissions } from "../../../kernel/home/permissions/offers.ts";
import { permissionsOf } from "../../../kernel/home/permissions/permission-store.ts";
import { closeQuestions } from "../../../kernel/home/questions/approvals.ts";
import { type AutomationMaker, type AutomationRow, automationsOf } from "./automation-store.ts";
import { boundsOf, idOf, unallowed } from "./faithful.ts";
import { placeConditions, sendRules } from "./sync.ts";

/** All rules of a home are in one frame. */
const SIGNED_MAX = 8_000;

export type Draft = { automation: Automation; card: string[]; second_tap: string[] };

type By = { principal: string; how: StandingPermission["how"]; question: string | null };

/** The versions of agents' actions, which take time to compute. Has to be awaited before `unallowed`. */
export async function prepareSteps(home: HomeContext, { do: steps, end }: Automation): Promise<void> {
  for (const step of [...steps, ...end]) {
    const id = idOf(home, step);
    if (id !== undefined) await prepareVersion(home, id, step.action);
  }
}

/** @returns the rule's row; a text: why it cannot be allowed any more */
export async function allow(
  home: HomeContext,
  { automation, card, input }: Pick<Draft, "automation" | "card"> & { input: string },
  by: By,
  maker: AutomationMaker,
): Promise<AutomationRow | string> {
  const now = Date.now();
  const allowed = { by: by.principal, at: now, until: now + LIFE_MAX_MS };
  const signed = await sign(home, automation, allowed);
  await prepareSteps(home, automation);
  // No await from here on: what is looked at is what is allowed.
  const rights = rightsOf(home, by.principal);
  if (rights?.role !== "owner" || !rights.approves) return "an owner of the home has to allow it";
  const why = unallowed(home, automation);
  if (why !== undefined) return why;
  if (signed.length > SIGNED_MAX) return "the rule is too long; make two of it";
  const before = automationsOf(home).get(automation.id);
  // Another card may have been allowed meanwhile: a version never has two contents.
  if ((before?.automation.version ?? 0) !== automation.version - 1 || before?.status === "gone")
    return "the rule was changed or ended meanwhile";
  const made = permissionsFor(home, automation, by, allowed);
  const room = before ? rowsOf(home, before.automation).length : 0;
  if (!permissionsOf(home).hasRoomFor(made.length - room))
    return "this home has too many standing permissions; end some first";
  const row: AutomationRow = {
    ...{ automation, signed, card, input, maker, allowed },
    status: "active",
    why: null,
    changedAt: now,
    madeAt: before?.madeAt ?? now,
    ...(before?.critical && { critical: before.critical }),
  };
  automationsOf(home).put(row);
  // Of an earlier version: none of them holds for this one.
  if (before) endRows(home, before.automation);
  keepPermissions(home, made, now);
  row.unsent = !sendRules(home, [row], []);
  if (row.unsent) automationsOf(home).put(row);
  placeConditions(home, before?.automation, automation);
  return row;
}

/** Of the home's key: the bridge runs no other text. */
export async function sign(
  home: HomeContext,
  automation: Automation,
  allowed: AutomationRow["allowed"],
): Promise<string> {
  const whole: AllowedAutomation = { ...automation, home: home.name, allowed };
  return await gatewayKeyOf(home).signAutomation(JSON.stringify(whole));
}

/** Those of a rule that hold. */
export function rowsOf(home: HomeContext, { id, version }: Automation): StandingPermission[] {
  return permissionsOf(home)
    .open()
    .flatMap(({ permission }) => {
      const { who } = permission;
      const isIts = typeof who === "object" && "rule" in who && who.rule === id && who.version === version;
      return isIts ? permission : [];
    });
}

/** What was allowed to a version ends, and so does what it asked for: a late yes to its question opens nothing. */
export function endRows(home: HomeContext, automation: Automation): void {
  for (const { id } of rowsOf(home, automation)) endPermission(home, id, "rule");
  for (const call of ledgerOf(home).open()) {
    const { id, asker } = call;
    if (asker?.by !== "rule" || asker.rule !== automation.id || asker.version !== automation.version)
      continue;
    home.ctx.waitUntil(stop(home, call, Date.now()).then(() => closeQuestions(home, id)));
  }
}

/** One for each device; another where the rule tells it the same action with other values. */
function permissionsFor(
  home: HomeContext,
  { id: rule, version, do: steps, end }: Automation,
  { principal, how, question }: By,
  { at, until }: AutomationRow["allowed"],
): StandingPermission[] {
  const made: StandingPermission[] = [];
  for (const step of [...steps, ...end]) {
    const bounds = boundsOf(step) ?? {};
    const isFree = ({ actions }: StandingPermission) =>
      !Object.hasOwn(actions, step.action) || JSON.stringify(actions[step.action]) === JSON.stringify(bounds);
    const own = made.find((one) => one.key === step.key && isFree(one));
    if (own) own.actions[step.action] = bounds;
    else
      made.push({
        id: crypto.randomUUID(),
        device: idOf(home, step) ?? step.agent,
        key: step.key,
        version: step.allow,
        actions: { [step.action]: bounds },
        who: { rule, version },
        conversation: null,
        channels: null,
        tainted: false,
        chain: false,
        hours: null,
        ...{ until, by: principal, how, question, at },
      });
  }
  return made;
}
