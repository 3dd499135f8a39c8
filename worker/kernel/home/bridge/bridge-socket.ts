/**
 * The bridge's socket at Home: who is connected, whether it still lives, and which of two wins.
 *
 * Sockets are accepted with the hibernation API, so an idle home costs nothing. `ping` is answered by the
 * runtime without waking the object. Its time-stamp shows a dead line, since a socket may report OPEN long after
 * its peer is gone (workerd#1187).
 */

import { ASSISTANT_FEATURE } from "@edgecall/core/protocol/assistant.ts";
import { AUTOMATIONS_FEATURE } from "@edgecall/core/protocol/automation.ts";
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { DEVICES_FEATURE } from "@edgecall/core/protocol/devices.ts";
import { CLOSE, encodeFrame } from "@edgecall/core/protocol/frames.ts";
import type { HomeFrame } from "@edgecall/core/protocol/home-frames.ts";
import { RULES_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import {
  HELLO_WITHIN_MS,
  KEEPALIVE_LOST_MS,
  KEEPALIVE_LOST_SLOW_MS,
  TRACE_FEATURE,
} from "@edgecall/core/protocol/names.ts";
import { HISTORY_FEATURE } from "@edgecall/core/protocol/past.ts";
import type { BridgeUpdate } from "../../api/answers.ts";
import { acceptSocket, closeQuietly } from "../../sockets.ts";
import { slot } from "../slot.ts";

const TAG = "bridge";
/** The bridge's log shows what to do. At most 123 bytes, the limit of a close frame. */
export const KEY_REVOKED =
  "the bridge's key was revoked; the console's 'Replace' beside @bridge makes a code to let it in";

/** Stored with the socket over hibernation. */
type Attachment = {
  /** The token's name. `@bridge`: the token was signed with the bridge's key. */
  token: string;
  /** The address at which it reached this gateway. Devices beside it reach the gateway there, too. */
  origin: string | undefined;
  connectedAt: number;
  welcomed: boolean;
  /** Its snapshot is stored. Until then the rows are those of the connection before. */
  told: boolean;
  /** A snapshot has begun, and is not stored in full. */
  isInSnapshot?: boolean;
  /** How many agents the bridge has no room for. */
  over?: number;
  /** It leaves out the texts that Home has stored, and takes single keys. */
  keepsTexts?: boolean;
  /** It asks for a sign of life so often that a dead line is known soon. */
  isQuick?: boolean;
  /** It can be told to update itself. */
  updates?: boolean;
  session?: boolean;
  acks?: boolean;
  call?: boolean;
  trace?: boolean;
  devices?: boolean;
  rules?: boolean;
  history?: boolean;
  automations?: boolean;
  assistant?: boolean;
  update?: BridgeUpdate;
};

/**
 * Features of a bridge: sessions (core/protocol/session.ts), acks of many reports at once, the event `call`, spans of its own,
 * devices that it hosts, rules on them, values that it keeps of them, and a sign-in at Home Assistant.
 */
type BridgeFeature =
  | "session"
  | "acks"
  | "call"
  | typeof TRACE_FEATURE
  | typeof DEVICES_FEATURE
  | typeof RULES_FEATURE
  | typeof HISTORY_FEATURE
  | typeof AUTOMATIONS_FEATURE
  | typeof ASSISTANT_FEATURE;

type Connection = { socket: WebSocket; attachment: Attachment; lastSeenAt: number; lostAt: number };

/** The attachment of each socket: the runtime copies it at each read, several times a frame. */
const ATTACHMENTS = new WeakMap<WebSocket, Attachment>();

/** A second bridge asks for the place every five seconds. */
const SECOND_BRIDGE_MS = 20_000;

export class BridgeSocket {
  readonly #ctx: DurableObjectState;
  /** When a second bridge asked last, epoch ms. Memory: it asks again soon. */
  #secondAskedAt = 0;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /** @param headers of the Worker's request: who it is, and where it reached this gateway */
  accept(headers: Headers, now: number): Response {
    const { socket, response } = acceptSocket(this.#ctx, [TAG]);
    store(socket, {
      token: headers.get("x-edgecall-bridge") ?? "",
      origin: headers.get("x-edgecall-origin") ?? undefined,
      connectedAt: now,
      welcomed: false,
      told: false,
    });
    return response;
  }

  isBridge(socket: WebSocket): boolean {
    return ATTACHMENTS.has(socket) || this.#ctx.getTags(socket).includes(TAG);
  }

  /** True if the key that let it in was revoked: the socket is closed, but its peer may go on sending. */
  isRevoked(socket: WebSocket): boolean {
    return socket.readyState !== WebSocket.OPEN && attachmentOf(socket).token === BRIDGE;
  }

  isWelcomed(socket: WebSocket): boolean {
    return attachmentOf(socket).welcomed;
  }

  /** `https://host` of this gateway as the bridge's side of the network sees it. */
  origin(socket: WebSocket): string | undefined {
    return attachmentOf(socket).origin;
  }

  connectedAt(socket: WebSocket): number {
    return attachmentOf(socket).connectedAt;
  }

  /** Makes a socket the bridge. The newest wins. An older one is closed with that reason, and stays away. */
  welcome(socket: WebSocket, features: readonly string[] = []): void {
    for (const other of this.#ctx.getWebSockets(TAG)) {
      if (other !== socket && attachmentOf(other).welcomed)
        closeQuietly(other, "replaced by a newer bridge", CLOSE.replaced);
    }
    attach(socket, {
      welcomed: true,
      updates: features.includes("update"),
      isQuick: features.includes("keepalive"),
      keepsTexts: features.includes("kept"),
      session: features.includes("session"),
      acks: features.includes("acks"),
      call: features.includes("call"),
      trace: features.includes(TRACE_FEATURE),
      devices: features.includes(DEVICES_FEATURE),
      rules: features.includes(RULES_FEATURE),
      history: features.includes(HISTORY_FEATURE),
      automations: features.includes(AUTOMATIONS_FEATURE),
      assistant: features.includes(ASSISTANT_FEATURE),
    });
  }

  /** True if the connected bridge knows this. */
  has(feature: BridgeFeature, now: number): boolean {
    return this.#current(now)?.attachment[feature] === true;
  }

  /** Tells the bridge to update itself. @returns why not */
  requestUpdate(id: string, now: number): "offline" | "cannot_update" | undefined {
    const connection = this.#current(now);
    if (!connection) return "offline";
    if (!connection.attachment.updates) return "cannot_update";
    this.storeUpdate(connection.socket, { id, ok: null, text: "" });
    return this.send({ t: "update", id }, now) ? undefined : "offline";
  }

  storeUpdate(socket: WebSocket, update: BridgeUpdate): void {
    attach(socket, { update });
  }

  /** True if it can be told to update itself; null: no bridge is connected. */
  takesUpdates(now: number): boolean | null {
    const connection = this.#current(now);
    return connection ? connection.attachment.updates === true : null;
  }

  lastUpdate(now: number): BridgeUpdate | null {
    return this.#current(now)?.attachment.update ?? null;
  }

  /** True if the bridge takes a single key. An older one takes a list for the list of all keys. */
  takesSingleKeys(now: number): boolean {
    return this.#current(now)?.attachment.keepsTexts === true;
  }

  /** A part of a snapshot came. @param over agents that the bridge has no room for */
  snapshotBegun(socket: WebSocket, over = 0): void {
    attach(socket, { isInSnapshot: true, over });
  }

  isInSnapshot(socket: WebSocket): boolean {
    return attachmentOf(socket).isInSnapshot === true;
  }

  /** The whole snapshot of this bridge is stored. */
  snapshotStored(socket: WebSocket): void {
    attach(socket, { told: true, isInSnapshot: false });
  }

  storeOver(socket: WebSocket, over: number): void {
    attach(socket, { over });
  }

  /** How many agents the bridge has left out, since it has no room for them. */
  over(now: number): number {
    return this.#current(now)?.attachment.over ?? 0;
  }

  /** A second bridge of this home asks for the place. */
  standbyAsked(now: number): void {
    this.#secondAskedAt = now;
  }

  hasSecond(now: number): boolean {
    return now - this.#secondAskedAt < SECOND_BRIDGE_MS;
  }

  isConnected(now: number): boolean {
    return this.#current(now) !== undefined;
  }

  /** When the bridge vouched for its agents last (epoch ms). Null: it is not connected, or has not sent its snapshot yet. */
  lastSeenAt(now: number): number | null {
    const connection = this.#current(now);
    return connection?.attachment.told ? connection.lastSeenAt : null;
  }

  /** The same, also of a bridge that has fallen silent since. */
  lastConfirmedAt(): number | null {
    const times = this.#ctx.getWebSockets(TAG).flatMap((socket) => {
      const { attachment, lastSeenAt } = this.#connection(socket);
      return attachment.told ? [lastSeenAt] : [];
    });
    return times.length > 0 ? Math.max(...times) : null;
  }

  /** The same of the bridge that is gone, where no bridge is there. */
  confirmedUntil(): number | null {
    return this.lastConfirmedAt() ?? this.#confirmedUntil();
  }

  #confirmedUntil(): number | null {
    const rows = this.#ctx.storage.sql.exec<{ vouched_at: number | null }>("SELECT vouched_at FROM bridge");
    return rows.toArray()[0]?.vouched_at ?? null;
  }

  connectedSince(now: number): number | undefined {
    return this.#current(now)?.attachment.connectedAt;
  }

  /** A frame came: the line is not dead, also if the clock was set ahead since the last ping. */
  heard(socket: WebSocket, now: number): void {
    HEARD.set(socket, now);
  }

  /** When the line counts as dead unless the bridge gives a sign of life until then (epoch ms); undefined: it is closed. */
  lostAt(): number | undefined {
    return this.#newest()?.lostAt;
  }

  /** The newest socket, if its line is not dead. */
  #current(now: number): Connection | undefined {
    const newest = this.#newest();
    return newest && now < newest.lostAt ? newest : undefined;
  }

  /** The newest socket that is open, as far as the runtime knows. */
  #newest(): Connection | undefined {
    let newest: Connection | undefined;
    for (const socket of this.#ctx.getWebSockets(TAG)) {
      if (socket.readyState !== WebSocket.OPEN) continue;
      const connection = this.#connection(socket);
      const { welcomed, connectedAt } = connection.attachment;
      if (welcomed && !(newest && newest.attachment.connectedAt >= connectedAt)) newest = connection;
    }
    return newest;
  }

  #connection(socket: WebSocket): Connection {
    const attachment = attachmentOf(socket);
    const ping = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    const lastSeenAt = Math.max(ping, attachment.connectedAt, HEARD.get(socket) ?? 0);
    const lostAt = lastSeenAt + (attachment.isQuick ? KEEPALIVE_LOST_MS : KEEPALIVE_LOST_SLOW_MS);
    return { socket, attachment, lastSeenAt, lostAt };
  }

  /** @returns false: no bridge is connected */
  send(frame: HomeFrame, now: number): boolean {
    const connection = this.#current(now);
    if (!connection) return false;
    try {
      connection.socket.send(encodeFrame(frame));
      return true;
    } catch {
      return false;
    }
  }

  /** Closes the bridge that does not take calls. It dials again, and open calls are sent again. */
  closeSilent(): void {
    const newest = this.#newest();
    if (newest) closeQuietly(newest.socket, "calls were not taken in time", CLOSE.silent);
  }

  /** Since when no bridge is there, epoch ms, as far as a close was seen. Undefined: one is there, or there never was one. */
  goneAt(): number | undefined {
    const rows = this.#ctx.storage.sql.exec<{ gone_at: number | null }>("SELECT gone_at FROM bridge");
    return rows.toArray()[0]?.gone_at ?? undefined;
  }

  /** Stores since when the bridge is away, if that is not stored already. It confirmed for its agents until then. */
  storeGone(at: number): void {
    this.#ctx.storage.sql.exec("UPDATE bridge SET gone_at = ?1, vouched_at = ?1 WHERE gone_at IS NULL", at);
  }

  /** Closes the sockets that a revoked key of the bridge opened. */
  closeRevoked(): void {
    for (const socket of this.#ctx.getWebSockets(TAG)) {
      if (attachmentOf(socket).token === BRIDGE) closeQuietly(socket, KEY_REVOKED, CLOSE.revoked);
    }
  }

  /** When the next socket has to have said hello, epoch ms. */
  nextHelloDue(): number | undefined {
    const times = this.#withoutHello().map((socket) => attachmentOf(socket).connectedAt + HELLO_WITHIN_MS);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  closeWithoutHello(now: number): void {
    for (const socket of this.#withoutHello()) {
      if (attachmentOf(socket).connectedAt + HELLO_WITHIN_MS <= now)
        closeQuietly(socket, `no hello within ${HELLO_WITHIN_MS / 1_000} s`, CLOSE.badHello);
    }
  }

  #withoutHello(): WebSocket[] {
    return this.#ctx
      .getWebSockets(TAG)
      .filter((socket) => socket.readyState === WebSocket.OPEN && !attachmentOf(socket).welcomed);
  }
}

function attachmentOf(socket: WebSocket): Attachment {
  const attachment = ATTACHMENTS.get(socket) ?? (socket.deserializeAttachment() as Attachment);
  ATTACHMENTS.set(socket, attachment);
  return attachment;
}

function store(socket: WebSocket, attachment: Attachment): void {
  socket.serializeAttachment(attachment);
  ATTACHMENTS.set(socket, attachment);
}

/** Time of the last frame, in memory alone: after a sleep the pings, of which the runtime keeps the last, are enough. */
const HEARD = new WeakMap<WebSocket, number>();

/** Exported for tests, in which a bridge was heard long ago. */
export function attach(socket: WebSocket, change: Partial<Attachment>): void {
  HEARD.delete(socket);
  store(socket, { ...attachmentOf(socket), ...change });
}

export const bridgeOf = slot(({ ctx }) => new BridgeSocket(ctx));
