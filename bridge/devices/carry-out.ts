/**
 * Carries out one command of a hosted device: plan → ledger → publish → wait for the state that confirms it.
 *
 * The topics of states are subscribed to before anything is published, and only messages after the plan's mark count. So "done"
 * is said of a command alone after which the device reported what was asked for.
 */

import { errorText } from "@edgecall/core/tools/errors.ts";
import type { DeviceCatalog } from "@edgecall/discovery/catalog.ts";
import type { DeviceAction, HostedDevice, Mark, Plan } from "@edgecall/discovery/model/device.ts";
import type { Clock } from "@edgecall/node/clock.ts";
import type { Log } from "@edgecall/node/log.ts";
import type { DeviceLedger } from "./command-ledger.ts";
import type { Corrections } from "./corrections.ts";
import { type DeviceCall, type Ended, notRun } from "./device-call.ts";
import type { MessageWatch } from "./message-watch.ts";
import { failed, type Outcome, succeeded, unknown } from "./reports.ts";
import type { Sender, Senders } from "./sender.ts";

/** Home and the line to it need this of a call's time. */
const REPORT_MS = 500;
/** A report counts when the device has not taken it back after so long. */
const HOLDS_MS = 20;
/** After the publisher's own error a confirmation may still come, of another part of the command. */
const AFTER_FAILURE_MS = 500;

const NO_FOLDER = {
  text: "Error: The bridge has no folder for its files, so after a restart it could send a command twice. It only reads devices until BRIDGE_STATE names a folder. Nothing was sent.",
  advice: "Explain to the user.",
};

export type CarryOutParts = {
  log: Log;
  clock: Clock;
  senders: Senders;
  catalog: DeviceCatalog;
  watch: MessageWatch;
  corrections: Corrections;
  /**
   * Hears of each command that is sent: what it changes is no news.
   * @returns to be called when the device has confirmed it: what changes after that is another's doing
   */
  onCommand(call: string, device: string, readings: readonly string[], waitMs: number): () => void;
};

type Prepared = { device: HostedDevice; plan: Plan; sender: Sender };

/** @returns how the call would end at once if it had its turn now; undefined: it would be sent */
export function problemOf(
  parts: CarryOutParts,
  ledger: DeviceLedger | undefined,
  call: DeviceCall,
): Ended | undefined {
  if (!ledger) return { report: failed(call.action, "permission_denied", NO_FOLDER) };
  const prepared = prepare(parts, call);
  return "plan" in prepared ? undefined : prepared;
}

/** @param ledger undefined: the bridge has no folder for it */
export async function carryOut(
  parts: CarryOutParts,
  ledger: DeviceLedger | undefined,
  call: DeviceCall,
): Promise<Ended> {
  const { catalog, clock } = parts;
  const { id, agent, action, route } = call;
  if (!ledger) return { report: failed(action, "permission_denied", NO_FOLDER) };
  const unready = await senderOf(parts, call).ready();
  if (unready !== undefined) return { refuse: "broker_offline", message: unready };
  const prepared = prepare(parts, call);
  if (!("plan" in prepared)) return prepared;
  const { device, plan } = prepared;
  const problem = await ledger.begin({
    id,
    agent,
    action,
    device: device.name,
    ...(plan.confirm === null && { unconfirmable: plan.unconfirmed(catalog.mark(clock.wall())) }),
    ...(route !== undefined && { route }),
    ...(call.own && { own: true as const }),
  });
  if (problem !== undefined) {
    const words = `Error: Nothing was sent: the bridge cannot write the command down (${problem}).`;
    return { report: failed(action, "execution_failed", words) };
  }
  // The disk may have taken its time.
  const late = tooLate(parts, call);
  if (late) {
    ledger.void(id);
    return late;
  }
  parts.corrections.superseded(plan.changesOthers ? undefined : plan.targets);
  const since = catalog.mark(clock.wall());
  const endOwn = parts.onCommand(id, device.key, plan.readings, plan.waitMs);
  const sent = await send(ledger, call, prepared);
  if (sent === "all" || sent === "unsure") {
    const report = await outcomeOf(parts, call, prepared, since, sent === "unsure");
    const { confirm } = plan;
    if (report.payload.confirmed === true) {
      endOwn();
      const takenBack = () => correctionOf(call, prepared, since);
      return { report, ...(!call.interrupted && { confirmed: { targets: plan.targets, takenBack } }) };
    }
    const isOpen = report.payload.error_type === "outcome_unknown" && !call.interrupted && confirm !== null;
    const settleMs = Math.max(HOLDS_MS, plan.settleMs);
    return { report, ...(isOpen && { later: { look: () => confirm(since)?.text, settleMs } }) };
  }
  return sent === "a part" ? { report: partlySent(call, prepared) } : sent;
}

/** @returns what the call sends, or why nothing is sent */
function prepare(parts: CarryOutParts, call: DeviceCall): Prepared | Ended {
  const { catalog, clock, log } = parts;
  const { agent, action, allow, parameters } = call;
  const late = tooLate(parts, call);
  if (late) return late;
  const device = catalog.device(agent, clock.wall());
  if (!device)
    return { refuse: "agent_offline", message: `${agent} is not online: no such device is known here` };
  if (![...device.actions, ...(device.settings ?? [])].some(({ name }) => name === action))
    return { report: noSuchAction(action, device.actions) };
  if (allow !== undefined && allow !== device.allowHash && allow !== device.allowHashBefore)
    return {
      refuse: "invalid",
      message: `${device.name} has changed since it was allowed; nothing was sent`,
    };
  const plan = catalog.plan(agent, action, parameters, clock.wall());
  if ("error" in plan)
    return plan.offline
      ? { refuse: "agent_offline", message: plan.error }
      : { report: failed(action, "invalid_params", `Error: ${plan.error}`, plan.tainted) };
  const sender = senderOf(parts, call);
  const wrong = plan.steps.map((step) => sender.forbidden(step)).find((one) => one !== undefined);
  if (wrong === undefined && plan.steps.length > 0) return { device, plan, sender };
  log("error", "devices.command_refused", { device: agent, topic: wrong });
  return {
    report: failed(
      action,
      "permission_denied",
      "Error: Nothing may be published on its command's topic. Nothing was sent.",
    ),
  };
}

/** @returns why nothing may be sent any more */
function tooLate(parts: CarryOutParts, call: DeviceCall): Ended | undefined {
  if (call.interrupted) return { report: notRun(call) };
  if (parts.clock.now() >= call.deadline - REPORT_MS)
    return { refuse: "expired", message: "its time ran out before the bridge could send it" };
  const message = senderOf(parts, call).problem();
  return message === undefined ? undefined : { refuse: "broker_offline", message };
}

/** Of the source that has the device; of one that is not known it is the broker's. */
function senderOf({ catalog, clock, senders }: CarryOutParts, { agent }: DeviceCall): Sender {
  return senders[catalog.device(agent, clock.wall())?.source ?? "mqtt"];
}

/** Sends the command's steps in their order. @returns how much was sent, `unsure` if some of it may be lost; the call's end if nothing was */
async function send(
  ledger: DeviceLedger,
  call: DeviceCall,
  { device, plan, sender }: Prepared,
): Promise<"all" | "unsure" | "a part" | Ended> {
  let isOut = false;
  let isUnsure = false;
  let isCut = false;
  let refused: Ended | undefined;
  for (const step of plan.steps) {
    // Before the first one, tooLate has looked.
    if (call.interrupted) {
      isCut = true;
      break;
    }
    const sent = await sender.send(step, plan.waitMs);
    if (sent.kind === "offline" || sent.kind === "refused") {
      refused ??=
        sent.kind === "offline"
          ? { refuse: "broker_offline", message: sent.why }
          : {
              report: failed(call.action, "execution_failed", `Error: ${sent.why}. Nothing was sent.`, true),
            };
      isCut = true;
      break;
    }
    if (sent.kind === "unheard") refused ??= notListening(device);
    else {
      isOut = true;
      isUnsure ||= sent.kind === "out" && sent.isUnsure === true;
      ledger.sent(call.id);
    }
  }
  if (isOut) return isCut ? "a part" : isUnsure ? "unsure" : "all";
  ledger.void(call.id);
  return refused ?? { report: notRun(call) };
}

/** Of a command with several messages, of which the last ones were not sent. */
function partlySent({ action, interrupted }: DeviceCall, { device, sender }: Prepared): Outcome {
  const why =
    interrupted === "cancelled"
      ? "it was cancelled"
      : interrupted === "stopped"
        ? "a later call stopped it"
        : `${sender.name.replace(/^The/, "the")} took no more`;
  return unknown(action, `Error: Only a part of the command was sent to ${device.name}: then ${why}.`);
}

function notListening({ name }: HostedDevice): Ended {
  return {
    refuse: "not_listening",
    message: `nobody listens to the commands of ${name} at the moment; nothing was sent`,
  };
}

async function outcomeOf(
  parts: CarryOutParts,
  call: DeviceCall,
  prepared: Prepared,
  since: Mark,
  isUnsure: boolean,
): Promise<Outcome> {
  const { clock } = parts;
  const { action } = call;
  const { device, plan, sender } = prepared;
  const sentAt = clock.now();
  const waitMs = Math.min(waitOf(prepared), call.deadline - REPORT_MS - sentAt);
  const confirmed = await confirmation(parts, call, prepared, since, waitMs);
  const values = plan.reported(since);
  const reported = values.length > 0 ? { reported: values } : {};
  if (confirmed !== undefined) return succeeded(action, confirmed, { confirmed: true, ...reported });
  const failure = plan.failure(since);
  if (plan.confirm === null && failure === undefined && isUnsure)
    return unknown(
      action,
      `Error: ${sender.name} did not say that it took the command to ${device.name}, which reports nothing back.`,
    );
  if (plan.confirm === null && failure === undefined)
    return succeeded(action, plan.unconfirmed(since), { confirmed: false });
  const after = `${Math.round((clock.now() - sentAt) / 100) / 10} s`;
  if (call.interrupted === "stopped")
    return unknown(
      action,
      `Error: Sent to ${device.name}, and a later call stopped it after ${after}, before it confirmed this one.`,
    );
  if (call.interrupted === "cancelled")
    return unknown(
      action,
      `Error: Sent to ${device.name}, and cancelled after ${after}, before it confirmed the command. It may carry it out all the same.`,
    );
  const isAway = sender.problem() === undefined ? "" : ` ${sender.name} is not connected any more.`;
  // The plan's words say how long it wanted to wait.
  const isShort = failure === undefined && !plan.reportsFailure(since) && waitMs < plan.waitMs;
  const words = isShort
    ? `Sent to ${device.name}; it did not confirm it within ${after}.`
    : plan.unconfirmed(since);
  return unknown(action, `Error: ${words}${isAway}`, failure !== undefined, {
    confirmed: false,
    ...reported,
  });
}

/** @returns what is told of a command that was told as done, when its device has taken that back */
function correctionOf({ action }: DeviceCall, { plan }: Prepared, since: Mark): Outcome | undefined {
  const text = plan.takenBack(since);
  if (text === undefined) return undefined;
  const more = { confirmed: false, corrects: true as const, reported: plan.reported(since) };
  return failed(action, "execution_failed", `Error: ${text}`, false, more);
}

function waitOf({ plan, device, sender }: Prepared): number {
  return plan.confirm !== null ? plan.waitMs : sender.failsWithinMs(device.publisher);
}

/** Waits until a state confirms the command. @returns the words; undefined: none did in time, or the wait was ended */
async function confirmation(
  { watch }: CarryOutParts,
  call: DeviceCall,
  { plan, sender }: Prepared,
  since: Mark,
  ms: number,
): Promise<string | undefined> {
  let hasFailed = false;
  let hasHeld = false;
  let held: NodeJS.Timeout | undefined;
  const ask = setTimeout(() => {
    for (const step of plan.ask ?? [])
      if (sender.forbidden(step) === undefined) void sender.send(step, plan.waitMs);
  }, ms / 2);
  let afterFailure: NodeJS.Timeout | undefined;
  const text = await watch.until(
    ms,
    () => {
      const confirmed = plan.confirm?.(since);
      if (confirmed && (hasHeld || call.interrupted)) return confirmed.text;
      if (confirmed) {
        held ??= setTimeout(
          () => {
            const timer = held;
            // A busy machine may have come late to the timer, and what the device took back may be here, unread.
            setImmediate(() => {
              if (held !== timer) return;
              hasHeld = true;
              call.wake();
            });
          },
          Math.max(HOLDS_MS, plan.settleMs),
        );
        return undefined;
      }
      clearTimeout(held);
      held = undefined;
      if (call.interrupted || hasFailed) return "";
      if (afterFailure === undefined && (plan.failure(since) !== undefined || plan.reportsFailure(since)))
        afterFailure = setTimeout(() => {
          hasFailed = true;
          call.wake();
        }, AFTER_FAILURE_MS);
      return undefined;
    },
    (look) => {
      call.wake = look;
    },
  );
  for (const timer of [ask, afterFailure, held]) clearTimeout(timer);
  // A report of the last moment counts.
  return (text ?? plan.confirm?.(since)?.text) || undefined;
}

function noSuchAction(action: string, actions: readonly DeviceAction[]): Outcome {
  return failed(
    action,
    "not_found",
    errorText.unknownTool(
      action,
      actions.map(({ name }) => name),
    ),
  );
}
