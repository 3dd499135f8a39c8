/** Events of agents: signs of life of a call, questions, calls of other agents, uploads, and what belongs to no call. */

import { AuditBatch } from "@edgecall/core/protocol/audit.ts";
import type { BridgeFrame } from "@edgecall/core/protocol/frames.ts";
import type { UploadRequest } from "@edgecall/core/protocol/media.ts";
import { AgentEvent } from "@edgecall/core/protocol/mqtt.ts";
import { CallId } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { conversationOf } from "../../api/stubs.ts";
import { uploadCommand } from "../../api/uploads.ts";
import { logError, logInfo } from "../../log.ts";
import { readSettings } from "../../settings/settings.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { addToAudit } from "../audit/add-to-audit.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { acknowledgeReport } from "../calls/acks.ts";
import { placeOf, showProgress } from "../calls/call-watchers.ts";
import { sendNotice } from "../calls/commands.ts";
import { lifeSignsOf } from "../calls/life-signs.ts";
import type { HomeContext } from "../context.ts";
import { emit, featuresOf } from "../feature.ts";
import { type LedgerCall, ledgerOf } from "../ledger/ledger.ts";
import { askFromAgent } from "../questions/approvals.ts";
import { onAgentCall } from "../submit/delegation.ts";
import { verifyMessage } from "./verified-order.ts";

/** A sign of life is stored when the one before is this old. */
const LIFE_GRAIN_MS = 10_000;

/** Only a call that is not answered yet has signs of life. A call that is answered may still upload, and call other agents. */
export async function onEvent(
  home: HomeContext,
  frame: BridgeFrame & { t: "event" },
  socket: WebSocket,
): Promise<void> {
  const { id, agent, payload } = frame;
  if (!(await verifyMessage(home, "events", frame, () => calledIn(payload)))) return;
  const call = ledgerOf(home).get(id);
  if (!call) return await onUnrelated(home, frame);
  if (call.agent !== agent) return;
  lifeSignsOf(home).seen(agent, Date.now());
  const event = checkJson(AgentEvent, payload);
  if (!event.ok) return logInfo("event.unreadable", { call: id, agent, problem: event.error });
  // The bridge asks no question in the name of a device, so another client of the broker sent this.
  if (event.value.type === "question" && hostedDevicesOf(home).get(agent)) return;
  // A job uploads its pictures after its call was answered.
  if (event.value.type === "upload") return await onUpload(home, socket, call, event.value);
  if (event.value.type === "call") {
    await onAgentCall(home, call, event.value);
    return await home.alarm.arm();
  }
  if (call.outcome) return;
  if (event.value.type === "question") {
    ledgerOf(home).store(id);
    keysOf(home).storeCounters(agent);
    // A row needs the alarm also where the question is asked of no person.
    await Promise.all([home.alarm.arm(), askFromAgent(home, call, event.value)]);
    return;
  }
  onSignOfLife(home, call);
  if (event.value.type === "accepted") return onAccepted(home, call);
  if (event.value.type !== "progress" || event.value.text === undefined) return;
  // Only clients that watch right now see it, and it is not stored: the result has what counts.
  const { tool, text: output } = event.value;
  showProgress(home, call, output, { tool });
  void emit("progress", home, call, { text: output });
}

/** The device has the call: a client that watches shows since when. */
function onAccepted(home: HomeContext, call: LedgerCall): void {
  if (call.conversation === null || call.asker || !call.flags.watch) return;
  const { ctx, env } = home;
  const sent = conversationOf(env, call.conversation).accepted(call.lateFor ?? call.id, Date.now());
  ctx.waitUntil(sent.catch((error: unknown) => logError("accepted.lost", error, { call: call.id })));
}

/** What belongs to no open call: lines of a device's record, changes of the rules that it watches, and what it says unasked. */
async function onUnrelated(
  home: HomeContext,
  { id, agent, payload }: BridgeFrame & { t: "event" },
): Promise<void> {
  // An agent that is not served did nothing here. If its lines counted, anybody on the broker could push all others out of the record.
  if (!keysOf(home).serves(agent)) return;
  const event = checkJson(AgentEvent, payload);
  if (event.ok && event.value.type === "event" && event.value.request_id === id)
    return await emit("agentEvent", home, agent, event.value);
  if (!event.ok)
    for (const feature of featuresOf(home)) if (await feature.unsolicited?.(home, agent, payload)) return;
  const batch = checkJson(AuditBatch, payload);
  if (!batch.ok || batch.value.request_id !== id) return;
  keysOf(home).storeCounters(agent);
  addToAudit(home, agent, id, batch.value.lines);
  await acknowledgeReport(home, id, agent, undefined);
}

/** A device has a file that is too large for the broker, and learns where to upload it. */
async function onUpload(
  home: HomeContext,
  socket: WebSocket,
  call: LedgerCall,
  request: UploadRequest,
): Promise<void> {
  const { env, name } = home;
  const place = { home: name, conversation: placeOf(call, name), principal: call.caller.principal };
  const origin = readSettings(env).publicUrl ?? bridgeOf(home).origin(socket);
  await sendNotice(home, call, "upload", await uploadCommand(env, request, place, origin));
}

/** An action has its own time-out. Only an agent that was asked in words is waited for by signs of life. */
function onSignOfLife(home: HomeContext, call: LedgerCall): void {
  if (call.endsAt <= call.createdAt + call.silenceMs) return;
  const now = Date.now();
  // Each sign would be a billed row; one in a while is enough.
  if (call.deadline - now < call.silenceMs - LIFE_GRAIN_MS) ledgerOf(home).extend(call.id, now);
}

/** The call that an event names. */
function calledIn(text: string): string | undefined {
  const event = checkJson(Named, text);
  return event.ok ? event.value.request_id : undefined;
}

const Named = z.looseObject({ request_id: CallId });
