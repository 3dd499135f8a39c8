/**
 * The bridge's socket at Home: who is connected, whether it still lives, and which of two wins.
 *
 * Sockets are accepted with the hibernation API, so an idle home costs nothing. `ping` is answered by the
 * runtime without waking the object; its time-stamp is how a zombie is told (workerd#1187: a socket may
 * report OPEN long after its peer is gone).
 */
import { BRIDGE } from "@edgecall/core/protocol/bridge-token.ts";
import { CLOSE, encodeFrame, type HomeFrame } from "@edgecall/core/protocol/frames.ts";
import { HELLO_WITHIN_MS, KEEPALIVE_LOST_MS, KEEPALIVE_LOST_SLOW_MS } from "@edgecall/core/protocol/names.ts";
import type { BridgeUpdate } from "../../api/answers.ts";
import { acceptSocket, closeQuietly } from "../../sockets.ts";

const TAG = "bridge";
/** What to do, at the bridge's log: at most 123 bytes, as a close frame has it. */
export const KEY_REVOKED =
  "the bridge's key was revoked; the console's 'Replace' beside @bridge makes a code to let it in";

/** The same for a home that there is not. */
export const UNSIGNED_BRIDGE =
  "the bridge's token is not signed with a key that a home of this gateway knows";

/** Kept with the socket over hibernation. */
type Attachment = {
  /** Its name; `@bridge`: it was made of the bridge's key. */
  token: string;
  /** Where it reached this gateway: devices beside it do, too. */
  origin: string | undefined;
  connectedAt: number;
  welcomed: boolean;
  /** Its snapshot is in: until then the rows are of the connection before. */
  told: boolean;
  /** It asks for a sign of life often enough that a dead line is known soon. */
  isQuick?: boolean;
  /** It can be told to update itself. */
  updates?: boolean;
  update?: BridgeUpdate;
};

export class BridgeSocket {
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState) {
    this.#ctx = ctx;
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /** @param headers of the Worker's request: who it is, and where it reached this gateway */
  accept(headers: Headers, now: number): Response {
    const { socket, response } = acceptSocket(this.#ctx, [TAG]);
    socket.serializeAttachment({
      token: headers.get("x-edgecall-bridge") ?? "",
      origin: headers.get("x-edgecall-origin") ?? undefined,
      connectedAt: now,
      welcomed: false,
      told: false,
    } satisfies Attachment);
    return response;
  }

  isBridge(socket: WebSocket): boolean {
    return this.#ctx.getTags(socket).includes(TAG);
  }

  /** Whether a key let it in that does not count any more: it is closed, but its peer may go on sending. */
  isDropped(socket: WebSocket): boolean {
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

  /** Makes a socket the bridge. The newest wins; an older one is told, and stays away. */
  welcome(socket: WebSocket, features: readonly string[] = []): void {
    for (const other of this.#ctx.getWebSockets(TAG)) {
      if (other !== socket && attachmentOf(other).welcomed)
        closeQuietly(other, "replaced by a newer bridge", CLOSE.replaced);
    }
    const can = { updates: features.includes("update"), isQuick: features.includes("keepalive") };
    socket.serializeAttachment({ ...attachmentOf(socket), welcomed: true, ...can } satisfies Attachment);
  }

  /** Tells the bridge to update itself. @returns why not */
  askUpdate(id: string, now: number): "offline" | "cannot_update" | undefined {
    const socket = this.current(now);
    if (!socket) return "offline";
    if (!attachmentOf(socket).updates) return "cannot_update";
    this.noteUpdate(socket, { id, ok: null, text: "" });
    return this.send({ t: "update", id }, now) ? undefined : "offline";
  }

  noteUpdate(socket: WebSocket, update: BridgeUpdate): void {
    socket.serializeAttachment({ ...attachmentOf(socket), update } satisfies Attachment);
  }

  /** Whether it can be told to update itself; null while there is none. */
  takesUpdates(now: number): boolean | null {
    const socket = this.current(now);
    return socket ? attachmentOf(socket).updates === true : null;
  }

  lastUpdate(now: number): BridgeUpdate | null {
    const socket = this.current(now);
    return (socket && attachmentOf(socket).update) ?? null;
  }

  /** The whole snapshot of this bridge is stored. */
  told(socket: WebSocket): void {
    socket.serializeAttachment({ ...attachmentOf(socket), told: true } satisfies Attachment);
  }

  /** The bridge, if one is connected and was heard of lately. */
  current(now: number): WebSocket | undefined {
    const open = this.#open();
    return open && now < this.#lostAt(open) ? open : undefined;
  }

  /** The newest socket that is open, as far as the runtime knows. */
  #open(): WebSocket | undefined {
    return this.#ctx
      .getWebSockets(TAG)
      .filter((socket) => socket.readyState === WebSocket.OPEN && attachmentOf(socket).welcomed)
      .sort((a, b) => attachmentOf(b).connectedAt - attachmentOf(a).connectedAt)[0];
  }

  #lostAt(socket: WebSocket): number {
    return (
      this.#heardAt(socket) + (attachmentOf(socket).isQuick ? KEEPALIVE_LOST_MS : KEEPALIVE_LOST_SLOW_MS)
    );
  }

  /** When the line counts as dead unless the bridge is heard of until then (epoch ms); undefined: it is closed. */
  lostAt(): number | undefined {
    const open = this.#open();
    return open && this.#lostAt(open);
  }

  /** When the bridge vouched for its agents last (epoch ms), or null: it is not connected, or has not told yet. */
  heardAt(now: number): number | null {
    const socket = this.current(now);
    return socket && attachmentOf(socket).told ? this.#heardAt(socket) : null;
  }

  /** The same, also of a bridge that has fallen silent since. */
  vouchedAt(): number | null {
    const told = this.#ctx.getWebSockets(TAG).filter((socket) => attachmentOf(socket).told);
    return told.length > 0 ? Math.max(...told.map((socket) => this.#heardAt(socket))) : null;
  }

  #heardAt(socket: WebSocket): number {
    const ping = this.#ctx.getWebSocketAutoResponseTimestamp(socket)?.getTime() ?? 0;
    return Math.max(ping, attachmentOf(socket).connectedAt);
  }

  connectedSince(now: number): number | undefined {
    const socket = this.current(now);
    return socket && attachmentOf(socket).connectedAt;
  }

  /** @returns false when there is nobody to send to */
  send(frame: HomeFrame, now: number): boolean {
    const socket = this.current(now);
    if (!socket) return false;
    try {
      socket.send(encodeFrame(frame));
      return true;
    } catch {
      return false;
    }
  }

  /** Closes the bridge that does not take calls; it dials again, and open calls are sent again. */
  dropSilent(): void {
    const socket = this.#open();
    if (socket) closeQuietly(socket, "calls were not taken in time", CLOSE.silent);
  }

  /** The bridge is not there since then. @returns false: that was on record */
  noteGone(at: number): boolean {
    const { sql } = this.#ctx.storage;
    return (
      sql.exec("UPDATE bridge SET gone_at = ? WHERE gone_at IS NULL RETURNING one", at).toArray().length > 0
    );
  }

  /** Ends what a key of the bridge's opened that does not count any more. */
  dropSigned(): void {
    for (const socket of this.#ctx.getWebSockets(TAG)) {
      if (attachmentOf(socket).token === BRIDGE) closeQuietly(socket, KEY_REVOKED, CLOSE.revoked);
    }
  }

  /** Closes sockets that never said hello. @returns when to look again, if one still may */
  dropStrangers(now: number): number | undefined {
    let next: number | undefined;
    for (const socket of this.#ctx.getWebSockets(TAG)) {
      const { welcomed, connectedAt } = attachmentOf(socket);
      if (welcomed || socket.readyState !== WebSocket.OPEN) continue;
      const due = connectedAt + HELLO_WITHIN_MS;
      if (due <= now) closeQuietly(socket, `no hello within ${HELLO_WITHIN_MS / 1_000} s`, CLOSE.badHello);
      else next = Math.min(due, next ?? due);
    }
    return next;
  }
}

function attachmentOf(socket: WebSocket): Attachment {
  return socket.deserializeAttachment() as Attachment;
}
