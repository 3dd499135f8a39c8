/** What the bridge says of agents: a snapshot of all, those that changed since, and those that are gone. */

import { type AgentState, type BridgeFrame, CLOSE, encodeFrame } from "@edgecall/core/protocol/frames.ts";
import { SESSION_FEATURE } from "@edgecall/core/protocol/session.ts";
import { closeQuietly, sendQuietly } from "../../sockets.ts";
import { keysOf } from "../agents/agent-keys.ts";
import { agentRowsOf } from "../agents/agent-rows.ts";
import { agentUpdatesOf } from "../agents/agent-updates.ts";
import { hostedDevicesOf } from "../agents/hosted-devices.ts";
import { NO_TEXTS, type VerifiedState, verifyPresence } from "../agents/verify-presence.ts";
import { bridgeOf } from "../bridge/bridge-socket.ts";
import { greetAgent } from "../calls/commands.ts";
import { resend } from "../calls/dispatch.ts";
import type { HomeContext } from "../context.ts";
import { emit } from "../feature.ts";
import { permissionsOf } from "../permissions/permission-store.ts";
import { onDeviceTold } from "../permissions/written-out.ts";
import { slot } from "../slot.ts";
import { admits } from "./admission.ts";
import { inOrder } from "./verified-order.ts";

/** Agents without a key that the settings do not name, and that are listed all the same. */
const UNSERVED_MAX = 32;

/** The snapshot that is on its way, by its connection, and the agents that it has named so far. */
type Snapshot = { of: number; named: Set<string> };

const snapshotOf = slot((): { begun?: Snapshot } => ({}));

/** A part of all that there are. After the last part the agents that it did not name are offline. */
export async function onSnapshot(
  home: HomeContext,
  frame: BridgeFrame & { t: "snapshot" },
  socket: WebSocket,
): Promise<void> {
  const bridge = bridgeOf(home);
  const snapshot = snapshotOf(home);
  const of = bridge.connectedAt(socket);
  if (snapshot.begun?.of !== of) {
    // The object was rebuilt within a snapshot, so what the frames before it named is not known.
    if (bridge.isInSnapshot(socket))
      return closeQuietly(socket, "the snapshot was interrupted", CLOSE.silent);
    snapshot.begun = { of, named: new Set() };
  }
  const { named } = snapshot.begun;
  bridge.snapshotBegun(socket, frame.over);
  for (const { id } of frame.agents) named.add(id);
  // Before the next frame is applied: an agent that comes after the last part is not absent.
  const atEnd = frame.last ? () => agentRowsOf(home).setAbsentExcept(named) : undefined;
  await apply(home, socket, frame.agents, atEnd);
  if (!frame.last) return;
  delete snapshot.begun;
  bridge.snapshotStored(socket);
  await resend(home, undefined);
  await emit("presence", home);
  await home.alarm.arm();
}

/** One agent changed. */
export async function onAgent(
  home: HomeContext,
  { agent }: BridgeFrame & { t: "agent" },
  socket: WebSocket,
): Promise<void> {
  await applyStates(home, socket, [agent]);
}

/** Agents changed, or are gone. */
export async function onAgents(
  home: HomeContext,
  { agents, gone = [], over }: BridgeFrame & { t: "agents" },
  socket: WebSocket,
): Promise<void> {
  if (over !== undefined) bridgeOf(home).storeOver(socket, over);
  // A device that comes may need the room of one that goes.
  for (const agent of gone) await remove(home, agent);
  await applyStates(home, socket, agents);
}

/** The broker has no advert of it any more. Anybody on the broker can delete adverts, so an agent with a key is only offline. */
export async function onGone(home: HomeContext, { agent }: BridgeFrame & { t: "gone" }): Promise<void> {
  await remove(home, agent);
}

async function applyStates(home: HomeContext, socket: WebSocket, reported: AgentState[]): Promise<void> {
  const arrived = await apply(home, socket, reported);
  await emit("presence", home);
  if (arrived.length > 0) await resend(home, arrived);
  else if (hostedDevicesOf(home).voided().length + permissionsOf(home).untold().length === 0) return;
  await home.alarm.arm();
}

async function remove(home: HomeContext, agent: string): Promise<void> {
  await inOrder(home, async () => {});
  const standing = keysOf(home).standing(agent);
  if (standing === "none") agentRowsOf(home).remove(agent);
  else if (standing === "signed") agentRowsOf(home).setOffline(agent, "its advert was taken from the broker");
  await emit("presence", home);
}

/**
 * Stores what counts of the bridge's word about these agents, and does `atEnd` before the next word.
 * @returns the agents that came online, and those that can ask a person by now: their open calls have to be sent again
 */
async function apply(
  home: HomeContext,
  socket: WebSocket,
  reported: AgentState[],
  atEnd?: () => void,
): Promise<string[]> {
  const rows = agentRowsOf(home);
  const keys = keysOf(home);
  const arrived: string[] = [];
  const greeted: string[] = [];
  const missing: string[] = [];
  const served: string[] = [];
  await inOrder(home, async () => {
    for (const state of reported) {
      const { id } = state;
      if (!admits(home, state)) continue;
      const isServed = keys.serves(id) || state.hosted !== undefined;
      const known = isServed ? rows.textsOf(id) : NO_TEXTS;
      const verified = await verifyPresence(keys, isServed ? state : withoutTexts(state), known);
      if (!hasRoom(home, id, isServed) || isRemoved(home, id)) continue;
      passSession(home, verified);
      const couldAsk = rows.canAsk(id);
      const { isNew, greets } = await agentUpdatesOf(home).update(
        verified,
        keys.isLetIn(id),
        keys.isOpen(id),
      );
      if (state.hosted) onDeviceTold(home, id);
      // The advert may come after the presence: then the calls that the agent asks about itself go out.
      if (isNew || (!couldAsk && rows.canAsk(id))) arrived.push(id);
      if (greets) greeted.push(id);
      if (isServed && state.online) served.push(id);
      if (isServed && state.kept?.some((kind) => known.hashes[kind] === undefined)) missing.push(id);
    }
    atEnd?.();
    // Many frames may be waiting. Without this, all would be applied before any other request.
    if (reported.length > 1) await scheduler.wait(0);
  });
  for (const id of greeted) await greetAgent(home, id);
  for (const id of served) void emit("agentServed", home, id);
  if (missing.length > 0) sendQuietly(socket, encodeFrame({ t: "lacks", agents: missing }));
  return arrived;
}

/** The bridge has the key of a session before any message of it. */
function passSession(home: HomeContext, { state, session }: VerifiedState): void {
  const now = Date.now();
  if (session && bridgeOf(home).has(SESSION_FEATURE, now))
    bridgeOf(home).send({ t: "session", agent: state.id, session }, now);
}

/**
 * True if an agent may have a row. One that is not served may, so that a person sees its name, but without its adverts.
 * There may be only a few of these: a stranger on the broker must not fill the home. (An older bridge reports all.)
 */
function hasRoom(home: HomeContext, id: string, isServed: boolean): boolean {
  const rows = agentRowsOf(home);
  if (rows.has(id)) return true;
  if (isServed) return rows.hasRoomFor(id);
  const unserved = rows
    .ids()
    .filter((other) => !keysOf(home).serves(other) && !hostedDevicesOf(home).get(other));
  return unserved.length < UNSERVED_MAX;
}

/** Its key was revoked and it was taken off the list. What the broker still retains of it does not bring it back. */
function isRemoved(home: HomeContext, agent: string): boolean {
  return keysOf(home).standing(agent) === "revoked" && agentRowsOf(home).isHidden(agent);
}

/** What is stored of an agent that this home does not serve. */
function withoutTexts({ id, online, reason, last_seen, foreign }: AgentState): AgentState {
  return { id, online, ...(reason !== undefined && { reason }), last_seen, foreign };
}
