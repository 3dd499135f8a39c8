/** The WebSocket to the gateway: dials, says hello, sends keepalives, and dials again after a loss. */

import type { IncomingMessage } from "node:http";
import { STALE_TOKEN } from "@edgecall/core/protocol/bridge-token.ts";
import { BridgeFrame, CLOSE, encodeFrame, STANDBY } from "@edgecall/core/protocol/frames.ts";
import { type AgentKey, HomeFrame, type StoredTexts } from "@edgecall/core/protocol/home-frames.ts";
import { CALL_FEATURE } from "@edgecall/core/protocol/mqtt.ts";
import {
  BRIDGE_PROTOCOL,
  FRAME_MAX_BYTES,
  KEEPALIVE_EVERY_MS,
  VERSION,
} from "@edgecall/core/protocol/names.ts";
import { check, checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { versionProblem } from "@edgecall/core/protocol/versions.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { ReconnectSchedule, type RetryPolicy } from "@edgecall/node/backoff.ts";
import type { Log } from "@edgecall/node/log.ts";
import { type RawData, WebSocket } from "ws";
import { GatewayClock } from "./gateway-clock.ts";

export type GatewayOptions = {
  /** `ws(s)://…/bridge` */
  url: string;
  /** The token for a dial. @param now epoch ms, by the gateway's clock */
  token(now: number): string;
  bridgeId: string;
  /** Features beyond those of every bridge, for the hello. */
  features?: readonly string[];
  /** The hash of the rules that the bridge watches, for the hello; undefined: it watches none ever. */
  rules?: () => string | undefined;
  /** The same of rules that act. */
  automations?: () => string | undefined;
  log: Log;
  /** Every frame after the welcome. */
  onFrame(frame: HomeFrame): void;
  /** @param texts the hashes of what Home has stored; undefined: an older gateway does not say */
  onWelcome(frame: Welcome, texts: readonly StoredTexts[] | undefined): void;
  onDown(): void;
  /** The home has revoked this bridge's key. */
  onRevoked?(): void;
};

export type Welcome = Extract<HomeFrame, { t: "welcome" }>;

/** The end of a connection: by an HTTP answer instead of an upgrade, or by a close code. */
export type Ending = { status: number; refusal?: Refusal | undefined } | { code: number };
type Refusal = { code: string; message: string };

/** With full jitter, since a deploy drops the sockets of all bridges at once. */
const RETRIES: RetryPolicy = { baseMs: 500, capMs: 30_000, stableMs: 1_000, jitter: "full" };
/** The wait after a refusal that only a person can mend (token, version), or after a newer bridge took over at an older gateway. */
export const STAY_AWAY_MS = 300_000;
/** A replaced bridge asks this often whether its place is free. With KEEPALIVE_LOST_MS it is back within half a minute. */
export const STANDBY_EVERY_MS = 5_000;
/** The upgrade, and after it the welcome, must come within this. */
const HANDSHAKE_MS = 10_000;
/** After two keepalives without an answer the line is dead, whatever TCP says. */
const UNANSWERED_MAX = 2;
/** More than a home produces in minutes: if this much waits to be sent, the line is dead. */
const BUFFERED_MAX_BYTES = 8 * 1024 * 1024;
/** A slow line takes so long at most. */
const TIME_OFF_MAX_MS = 60_000;
const GOING_AWAY = 1001;
/** Of a refusal's body, `{error: {code, message}}`. */
const REFUSAL_MAX_CHARS = 4_096;

/** True if only a person or another bridge can change what ended the connection, so trying every few seconds is useless. */
export function staysAway(ending: Ending): boolean {
  if ("status" in ending)
    return (ending.status === 401 || ending.status === 403) && ending.refusal?.code !== STALE_TOKEN;
  return [CLOSE.replaced, CLOSE.badProtocol, CLOSE.revoked].some((code) => code === ending.code);
}

export class GatewayLink {
  readonly #options: GatewayOptions;
  #socket: WebSocket | undefined;
  #welcomedAt: number | undefined;
  /** A welcome whose `known` frames are not complete. */
  #learning: { welcome: Welcome; keys: AgentKey[]; texts: StoredTexts[] } | undefined;
  readonly #retries = new ReconnectSchedule(RETRIES);
  #unanswered = 0;
  #keepalive: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #clock: GatewayClock;
  /** What the gateway said last (epoch ms), and the monotonic time at which it came. */
  #timeSaid: { time: number; at: number } | undefined;
  #problem: string | undefined;
  /** The gateway can distinguish a bridge that waits for its place from one that takes it. */
  #mayStandBy = false;
  /** A newer bridge has this one's place. This one asks for it, and does not take it. */
  #standsBy = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#clock = new GatewayClock(options.log);
  }

  /** True while the gateway has welcomed this bridge. */
  get up(): boolean {
    return this.#welcomedAt !== undefined;
  }

  /** The reason why it is not up or does not fit its gateway, for a person. Says what to do where that is known. */
  get problem(): string | undefined {
    return this.#problem ?? (this.up ? undefined : "the gateway was not reached yet");
  }

  /** The gateway's time now, epoch ms; undefined: it said none since this program began. */
  get time(): number | undefined {
    return this.#timeSaid && this.#timeSaid.time + performance.now() - this.#timeSaid.at;
  }

  /** The gateway's time is ours now, also when the clock was set since; undefined: it said none since this program began. */
  get timeAgrees(): boolean | undefined {
    const { time } = this;
    return time === undefined ? undefined : Math.abs(time - Date.now()) < TIME_OFF_MAX_MS;
  }

  start(): void {
    const { url, log } = this.#options;
    const token = this.#options.token(this.#clock.now());
    const socket = new WebSocket(url, {
      headers: { authorization: `Bearer ${token}`, ...(this.#standsBy && { [STANDBY]: "1" }) },
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: FRAME_MAX_BYTES,
    });
    this.#socket = socket;
    let ending: Ending | undefined;
    const welcomeBy = setTimeout(() => {
      log("warn", "gateway.silent", { reason: `no welcome within ${2 * HANDSHAKE_MS} ms` });
      socket.terminate();
    }, 2 * HANDSHAKE_MS);

    socket.on("open", () => {
      const { bridgeId: bridge, features = [] } = this.#options;
      const rules = this.#options.rules?.();
      const automations = this.#options.automations?.();
      const hello = {
        protocol: BRIDGE_PROTOCOL,
        bridge,
        version: VERSION,
        features: [...features, "keepalive", "kept", "session", "acks", CALL_FEATURE],
        ...(rules !== undefined && { rules }),
        ...(automations !== undefined && { automations }),
      };
      socket.send(encodeFrame({ t: "hello", ...hello }));
    });
    socket.on("unexpected-response", (request, response) => {
      const status = response.statusCode ?? 0;
      ending = { status };
      const { date } = response.headers;
      void readRefusal(response).then((refusal) => {
        ending = { status, refusal };
        if (refusal?.code === STALE_TOKEN) {
          const problem = this.#clock.setFrom(date);
          if (problem !== undefined) refusal.message += `; ${problem}`;
        }
        request.destroy();
        socket.terminate();
      });
    });
    socket.on("message", (data, isBinary) => {
      if (socket !== this.#socket || this.#stopped) return;
      this.#unanswered = 0;
      const welcomed = this.up;
      this.#message(socket, data, isBinary);
      if (!welcomed && this.up) clearTimeout(welcomeBy);
    });
    socket.on("error", (error) => {
      if (ending !== undefined) return;
      this.#problem = `the gateway cannot be reached (${error.message})`;
      log("warn", "gateway.error", { error: error.message });
    });
    socket.on("close", (code, reason) => {
      clearTimeout(welcomeBy);
      if (socket === this.#socket) this.#lost(ending ?? { code }, reason.toString("utf8"));
    });
  }

  /** Sends a frame if the gateway is connected. @param onSent called when the frame has left this process, or could not */
  send(frame: BridgeFrame, onSent?: (error?: Error) => void): boolean {
    const socket = this.#socket;
    if (!this.up || socket === undefined || socket.readyState !== WebSocket.OPEN) return false;
    const fits = check(BridgeFrame, frame);
    const text = encodeFrame(frame);
    if (!fits.ok || Buffer.byteLength(text) > FRAME_MAX_BYTES) {
      const error = fits.ok ? `over ${FRAME_MAX_BYTES} bytes` : fits.error;
      this.#options.log("error", "gateway.frame_not_sent", { frame: frame.t, error });
      onSent?.();
      return true;
    }
    if (socket.bufferedAmount > BUFFERED_MAX_BYTES) {
      this.#options.log("error", "gateway.stuck", { buffered: socket.bufferedAmount });
      socket.terminate();
      return false;
    }
    socket.send(text, onSent);
    return true;
  }

  /** Closes the connection, within 1 s even if the gateway does not answer. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#retry);
    clearInterval(this.#keepalive);
    const socket = this.#socket;
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    if (socket.readyState === WebSocket.OPEN) socket.close(GOING_AWAY, "the bridge is stopping");
    else socket.terminate();
    const force = setTimeout(() => socket.terminate(), 1_000);
    await closed;
    clearTimeout(force);
  }

  #message(socket: WebSocket, data: RawData, isBinary: boolean): void {
    const { log } = this.#options;
    const text = isBinary ? "" : data.toString();
    if (text === "pong") return;
    const frame = checkJson(HomeFrame, text);
    if (!frame.ok) {
      // A newer gateway may have frames that this bridge does not know.
      const type = checkJson(AnyFrame, text);
      const t = type.ok ? type.value.t.slice(0, 32) : undefined;
      log("warn", "gateway.frame_ignored", { frame: t, error: cutText(frame.error, 500) });
      const call = checkJson(AnyCall, text);
      if (call.ok) {
        this.send({ t: "refused", id: call.value.id, code: "invalid", message: cutText(frame.error, 1_000) });
      }
    } else if (frame.value.t === "error") {
      const { code, message } = frame.value;
      log("error", "gateway.says", { code: code.slice(0, 64), message: cutText(message, 500) });
    } else if (frame.value.t === "welcome") {
      this.#welcome(socket, frame.value);
    } else if (frame.value.t === "known") {
      this.#onInventory(frame.value);
    } else if (this.up) {
      this.#options.onFrame(frame.value);
    } else {
      log("warn", "gateway.frame_ignored", { frame: frame.value.t, error: "before the welcome" });
    }
  }

  #welcome(socket: WebSocket, frame: Welcome): void {
    const { log } = this.#options;
    if (this.up) return;
    if (frame.protocol !== BRIDGE_PROTOCOL) {
      log("error", "gateway.protocol", { wanted: BRIDGE_PROTOCOL, got: frame.protocol });
      socket.close(CLOSE.badProtocol, `this bridge speaks protocol ${BRIDGE_PROTOCOL}`);
      this.#lost({ code: CLOSE.badProtocol }, "protocol");
      return;
    }
    this.#welcomedAt = performance.now();
    if (frame.time !== undefined) this.#timeSaid = { time: frame.time, at: performance.now() };
    this.#mayStandBy = frame.standby === true;
    this.#standsBy = false;
    this.#unanswered = 0;
    this.#keepalive = setInterval(() => this.#ping(socket), KEEPALIVE_EVERY_MS);
    log("info", "gateway.up", { home: frame.home.slice(0, 64), version: frame.version.slice(0, 64) });
    // Only a gateway of 0.1.0 welcomes a bridge of any version.
    this.#problem = versionProblem("bridge", VERSION, frame.version);
    if (this.#problem !== undefined) log("error", "gateway.version", { problem: this.#problem });
    if (frame.kept) this.#learning = { welcome: frame, keys: [...(frame.keys ?? [])], texts: [] };
    else this.#options.onWelcome(frame, undefined);
  }

  #onInventory({ keys, texts, last }: Extract<HomeFrame, { t: "known" }>): void {
    const learning = this.#learning;
    if (learning === undefined) return;
    for (const key of keys) learning.keys.push(key);
    for (const text of texts) learning.texts.push(text);
    if (!last) return;
    this.#learning = undefined;
    this.#options.onWelcome({ ...learning.welcome, keys: learning.keys }, learning.texts);
  }

  /** A newer bridge may have taken over. @returns true if this one stands by; it asks again soon, without a log line each time */
  #standBy(ending: Ending): boolean {
    const isReplaced = "code" in ending && ending.code === CLOSE.replaced && this.#mayStandBy;
    if (isReplaced) {
      this.#problem = "another bridge of this home is connected; this one waits until it is gone";
      this.#options.log("warn", "gateway.standby", { retry_in_ms: STANDBY_EVERY_MS });
      this.#standsBy = true;
    }
    const isTaken = this.#standsBy && "status" in ending && ending.status === 409;
    if (isReplaced || isTaken) this.#retry = setTimeout(() => this.start(), STANDBY_EVERY_MS);
    return isReplaced || isTaken;
  }

  #ping(socket: WebSocket): void {
    if (this.#unanswered >= UNANSWERED_MAX) {
      this.#options.log("warn", "gateway.silent", {
        reason: `${UNANSWERED_MAX} keepalives without an answer`,
      });
      socket.terminate();
      return;
    }
    this.#unanswered += 1;
    if (socket.readyState === WebSocket.OPEN) socket.send("ping");
  }

  #lost(ending: Ending, reason: string): void {
    const { log } = this.#options;
    clearInterval(this.#keepalive);
    const wasUp = this.#welcomedAt;
    this.#welcomedAt = undefined;
    this.#learning = undefined;
    this.#socket = undefined;
    if (wasUp !== undefined) this.#options.onDown();
    if (this.#stopped) return;
    if ("code" in ending && ending.code === CLOSE.revoked) this.#options.onRevoked?.();
    if (this.#standBy(ending)) return;
    const away = staysAway(ending);
    const workedMs = wasUp === undefined ? 0 : performance.now() - wasUp;
    const delay = away ? STAY_AWAY_MS : this.#retries.lost(workedMs);
    if ("status" in ending) {
      const { status, refusal } = ending;
      this.#problem = `the gateway refuses: ${refusal?.message ?? `HTTP ${status}`}`;
      const fields = { status, code: refusal?.code, message: refusal?.message, retry_in_ms: delay };
      log(away ? "error" : "warn", away ? "gateway.refuses" : "gateway.down", fields);
    } else {
      if (away) this.#problem = `the gateway ended the connection: ${reason || ending.code}`;
      const fields = { ...ending, reason: cutText(reason, 200) || undefined, retry_in_ms: delay };
      log(away ? "error" : "warn", "gateway.down", fields);
    }
    this.#retry = setTimeout(() => this.start(), delay);
  }
}

/** @returns the gateway's words for a person; undefined: something else answered */
async function readRefusal(response: IncomingMessage): Promise<Refusal | undefined> {
  let text = "";
  try {
    for await (const chunk of response) {
      text += String(chunk);
      if (text.length > REFUSAL_MAX_CHARS) break;
    }
  } catch {
    return undefined;
  }
  const body = checkJson(RefusalBody, text);
  if (!body.ok) return undefined;
  const { code, message } = body.value.error;
  return { code: code.slice(0, 64), message: cutText(message, 500) };
}

const RefusalBody = z.looseObject({ error: z.looseObject({ code: z.string(), message: z.string() }) });
const AnyFrame = z.looseObject({ t: z.string() });
/** The least that a call needs so that it can be refused. */
const AnyCall = z.looseObject({
  t: z.literal("call"),
  id: z.string().check(z.minLength(1), z.maxLength(128)),
});
