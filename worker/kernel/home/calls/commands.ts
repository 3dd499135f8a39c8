/** What Home sends to an agent: the text of a command, which the bridge publishes as it is, and notices that nobody answers. */

import type { StandingPermission } from "@edgecall/core/permissions/permission.ts";
import type { Caller } from "@edgecall/core/protocol/mqtt.ts";
import { CALL_FEATURE, PERMISSIONS_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import { isLent } from "../../api/agent-ids.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { gatewayFeatures } from "../agents/gateway-features.ts";
import { gatewayKeyOf } from "../agents/gateway-key.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import type { HomeContext } from "../context.ts";
import { featuresOf } from "../feature.ts";
import type { CallFlags, LedgerCall } from "../ledger/ledger.ts";
import { ledgerOf } from "../ledger/ledger.ts";
import { permissionsOf } from "../permissions/permission-store.ts";
import { stillHolds } from "../permissions/standing.ts";
import { traceForAgent } from "../trace.ts";

/** A `cancel` or an `ack` that is older than this is useless. */
const NOTICE_LIFE_MS = 60_000;
/** The caller of what Home sends on its own. */
export const GATEWAY_CALLER: Caller = { principal: "gateway", role: "member", channel: "gateway" };

export type Command = Pick<LedgerCall, "agent" | "command" | "payload" | "id" | "caller" | "n"> & {
  flags?: CallFlags;
  /** Of a call without a row (route.ts). */
  route?: string | undefined;
  /** Reports of the agent that are stored (acks.ts). */
  acks?: readonly string[];
};

export type Notice = "cancel" | "ack" | "watch" | "upload" | "gateway" | "called";

type Recipient = Pick<LedgerCall, "agent" | "caller">;

/**
 * A command's text. A foreign agent gets EvoClaw's fields and no others. For an agent whose key is on record, the text
 * names the run that it is for, and is signed, or carries the HMAC of that run's session.
 */
export async function encodeCommand(
  home: HomeContext,
  command: Command,
  expiresInMs: number,
  now: number,
): Promise<string> {
  const { agent, n } = command;
  const base = { command: command.command, payload: command.payload, request_id: command.id };
  const boot_id = keysOf(home).bootOf(agent);
  // An agent of ours that has just started has not advertised its features yet. With a key it accepts only signed commands.
  if (boot_id === undefined && agentRowsOf(home).isForeign(agent)) return JSON.stringify(base);
  const left = Math.max(0, Math.round(expiresInMs));
  const { watch, tainted } = command.flags ?? {};
  const { acks = [] } = command;
  const permission = permissionIn(home, command);
  const full = {
    ...base,
    ...(acks.length > 0 && { acks }),
    ...(watch && { watch }),
    ...(tainted && { tainted }),
    ...(permission && { permission }),
    ...(command.route !== undefined && { route: command.route }),
    ...traceForAgent(home, command, now),
    expires_in_ms: left,
    expires_at: now + left,
    caller: command.caller,
  };
  if (boot_id === undefined) return JSON.stringify({ ...full, n });
  // A bridge that does not know sessions drops their messages.
  const session = bridgeOf(home).has("session", now) ? keysOf(home).sessionOf(agent) : undefined;
  if (session?.isUsed) return await session.seal(stamped(JSON.stringify(full), { boot_id, n }));
  const signed = { ...full, ...(session && { session: session.half }) };
  return await gatewayKeyOf(home).sign(agent, stamped(JSON.stringify(signed), { boot_id, n }));
}

/** The permission under which an agent of its own need not ask, as it is now. */
function permissionIn(home: HomeContext, { agent, flags }: Command): StandingPermission | undefined {
  const id = flags?.approved?.permission;
  const isKnown = id !== undefined && agentRowsOf(home).features(agent).includes(PERMISSIONS_FEATURE);
  return isKnown && stillHolds(home, id, Date.now()) ? permissionsOf(home).get(id)?.permission : undefined;
}

/** @returns undefined: the agent does not know this notice */
export async function encodeNotice(
  home: HomeContext,
  { agent, caller }: Recipient,
  command: Notice,
  payload: Record<string, unknown>,
  now: number,
): Promise<string | undefined> {
  const feature = command === "called" ? CALL_FEATURE : command;
  if (!agentRowsOf(home).features(agent).includes(feature)) return undefined;
  const notice = { agent, command, payload, id: crypto.randomUUID(), caller, n: ledgerOf(home).nextN(now) };
  return await encodeCommand(home, notice, NOTICE_LIFE_MS, now);
}

export async function sendNotice(
  home: HomeContext,
  recipient: Recipient,
  command: Notice,
  payload: Record<string, unknown>,
): Promise<void> {
  const now = Date.now();
  const text = await encodeNotice(home, recipient, command, payload, now);
  if (text !== undefined) bridgeOf(home).send({ t: "publish", agent: recipient.agent, payload: text }, now);
}

/** An agent learns its gateway's version, so that its own log and status can tell whether the two fit. */
export async function greetAgent(home: HomeContext, agent: string): Promise<void> {
  const features = gatewayFeatures(bridgeOf(home), home.env);
  const payload = { version: VERSION, ...(features.length > 0 && { features }) };
  await sendNotice(home, { agent, caller: GATEWAY_CALLER }, "gateway", payload);
}

/** Refuses a question before any person sees it. Nothing is stored: an agent that repeats it is refused again. */
export async function refuseQuestion(
  home: HomeContext,
  { agent, caller }: Recipient,
  question: { id: string; isApproval: boolean },
  why: string,
): Promise<void> {
  const now = Date.now();
  const payload = {
    question_id: question.id,
    answer: question.isApproval ? "deny" : why,
    by: "gateway",
    refused: why,
  };
  const id = crypto.randomUUID();
  const command = { agent, command: "answer", payload, id, caller, n: ledgerOf(home).nextN(now) };
  const text = await encodeCommand(home, command, NOTICE_LIFE_MS, now);
  bridgeOf(home).send({ t: "publish", agent, payload: text }, now);
}

/** The program that has the call is to stop it. That may be lost; the call ends by itself then. */
export async function sendCancel(home: HomeContext, call: LedgerCall): Promise<void> {
  if (!isLent(call.agent)) return await sendNotice(home, call, "cancel", { request_id: call.id });
  for (const { elsewhere } of featuresOf(home)) elsewhere?.cancel(home, call);
}
