/**
 * The WebSocket to Home Assistant: signs in, waits until Home Assistant runs, sends commands with deadlines, and dials again after a
 * loss. Nothing is believed and nothing is sent for devices before it runs: while it starts, it serves a fraction of the states.
 */
import { conditionOf } from "@edgecall/core/conditions/conditions.ts";
import type { Condition } from "@edgecall/core/protocol/conditions.ts";
import { jsonIn } from "@edgecall/core/protocol/json-text.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { ReconnectSchedule, type RetryPolicy } from "@edgecall/node/backoff.ts";
import { type Log, messageOf } from "@edgecall/node/log.ts";
import { type RawData, WebSocket } from "ws";

export type HomeAssistantOptions = {
  /** `ws(s)://HOST:PORT/api/websocket`; `ws://supervisor/core/websocket` as an app of Home Assistant. */
  url: string;
  /** A long-lived token, one of the Supervisor's, or what a sign-in gave. It is read at each dial. */
  token(): string;
  /**
   * Gets the token for this connection, where `token` is not shown itself.
   * @throws TokenRefused: Home Assistant gives none any more
   */
  access?(): Promise<string>;
  log: Log;
  /** It runs: states and registries may be asked for. It may have been another one before. */
  onRunning(info: RunningInfo): void;
  /** It stopped, or was lost: what was known is not known any more. Called once for each `onRunning`. */
  onLost(): void;
};

type RunningInfo = { version: string };

/** Home Assistant does not give a token any more: what a person granted was revoked. */
export class TokenRefused extends Error {}

/** `silent`: no answer in time. `lost`: the connection ended first. In both cases it may have acted, unless `sent` is false. */
export type Answer =
  | { kind: "result"; result: unknown }
  | { kind: "error"; code: string; message: string }
  | { kind: "silent" | "lost"; sent: boolean };

type Json = Readonly<Record<string, unknown>>;
type Waiting = { end(answer: Answer): void; onEvent: ((event: unknown) => void) | undefined };

const RETRIES: RetryPolicy = { baseMs: 500, capMs: 30_000, stableMs: 5_000, jitter: "half" };
/** The upgrade, and after it the sign-in, must be done within this. Home Assistant itself waits 10 s. */
const HANDSHAKE_MS = 10_000;
const ANSWER_MS = 10_000;
/** A refused token is tried again so often, since Home Assistant tells the household of each failed try. */
const REFUSED_AGAIN_MS = 3_600_000;
/** Another token is noticed within this. */
const TOKEN_LOOK_MS = 5_000;
/** A ping that is not answered within ANSWER_MS ends the line, so a dead one is noticed within half a minute. */
const PING_EVERY_MS = 20_000;
/** No event says so to a user who is no administrator. */
const STARTING_ASK_EVERY_MS = 500;
/** A first subscription of 2,000 entities has half a megabyte. Home Assistant's own bound through the Supervisor is 64 MiB. */
const MESSAGE_MAX_BYTES = 32 * 1_024 * 1_024;
const BUFFERED_MAX_BYTES = 4 * 1_024 * 1_024;

const WRONG_TOKEN =
  "Home Assistant refuses the token: it was revoked, or its user is not active. Sign in again in the console (Setup, Home Assistant), or make a new one in Home Assistant (your profile → Security → Long-lived access tokens) and set HA_TOKEN. edgecall tries the old one again once an hour, since Home Assistant tells the household of each failed try";
const BANNED =
  "Home Assistant has banned this machine's address after failed sign-ins: delete it from ip_bans.yaml in Home Assistant's folder, and restart Home Assistant";

export class HomeAssistantConnection {
  readonly #options: HomeAssistantOptions;
  readonly #retries = new ReconnectSchedule(RETRIES);
  readonly #waiting = new Map<number, Waiting>();
  #socket: WebSocket | undefined;
  #lastId = 0;
  /** Monotonic ms. */
  #runningSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #problem: string | undefined = "Home Assistant was not reached yet";
  /** The token that was refused. */
  #refused: string | undefined;
  /** The reason for which the last dial failed, and the one that the log has. */
  #failure: string | undefined;
  #logged: string | undefined;
  #isStopped = false;

  constructor(options: HomeAssistantOptions) {
    this.#options = options;
  }

  /** True while Home Assistant runs and this is signed in. */
  get running(): boolean {
    return this.#runningSince !== undefined;
  }

  /** The reason why it is not, for a person; it says what to do where that is known. */
  get problem(): string | undefined {
    return this.running ? undefined : this.#problem;
  }

  /** A dial has failed, or a connection has ended, since the start. */
  get hasEnded(): boolean {
    return this.#failure !== undefined || this.#refused !== undefined;
  }

  /** What is wrong with the connection. */
  condition(): Condition | undefined {
    const { url } = this.#options;
    if (this.running) return undefined;
    if (this.#refused !== undefined) return conditionOf("home_assistant_refuses", { url });
    return this.#failure === undefined
      ? undefined
      : conditionOf("home_assistant_unreachable", { url, error: this.#failure });
  }

  /** Ends this connection and makes another one: what came over it is not whole. */
  again(): void {
    this.#socket?.terminate();
  }

  start(): void {
    const { url, log } = this.#options;
    const socket = new WebSocket(url, {
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: MESSAGE_MAX_BYTES,
    });
    this.#socket = socket;
    this.#lastId = 0;
    const signedInBy = setTimeout(() => socket.terminate(), 2 * HANDSHAKE_MS);
    let refused: string | undefined;
    let shown = "";
    socket.on("message", (data, isBinary) => {
      if (socket !== this.#socket || this.#isStopped || isBinary) return;
      for (const message of messagesIn(data)) {
        if (message.type === "auth_required") {
          shown = this.#options.token();
          void this.#show(socket, shown).then((isRefused) => {
            if (isRefused) refused = shown;
            if (isRefused !== undefined) socket.close();
          });
        } else if (message.type === "auth_invalid") refused = shown;
        else if (message.type === "auth_ok") {
          clearTimeout(signedInBy);
          void this.#signedIn(socket, message);
        } else this.#answered(message);
      }
    });
    socket.on("error", (error) => {
      const isBanned = / 403$/.test(error.message);
      this.#failure = isBanned ? BANNED : error.message;
      this.#problem = isBanned ? BANNED : `Home Assistant cannot be reached at ${url} (${error.message})`;
    });
    socket.on("close", () => {
      clearTimeout(signedInBy);
      if (socket === this.#socket) this.#ended(refused);
    });
    log("debug", "home_assistant.dial");
  }

  /**
   * Sends one command.
   * @param withinMs Home Assistant has no time limit of its own: a call to a device that hangs is never answered
   */
  command(command: Json & { type: string }, withinMs = ANSWER_MS): Promise<Answer> {
    return this.#send(command, withinMs, undefined);
  }

  /** Sends one command that is answered by a result and then by events, until the connection ends. */
  subscribe(command: Json & { type: string }, onEvent: (event: unknown) => void): Promise<Answer> {
    return this.#send(command, ANSWER_MS, onEvent);
  }

  /** Sends one command that is answered by events, and returns the first one: a rendered template goes on for ever. */
  async first(command: Json & { type: string }, withinMs = ANSWER_MS): Promise<Answer> {
    const event = Promise.withResolvers<Answer>();
    const late = setTimeout(() => event.resolve({ kind: "silent", sent: true }), withinMs);
    const begun = this.#send(command, withinMs, (result) => event.resolve({ kind: "result", result }));
    const id = this.#lastId;
    const answer = await begun;
    const found = answer.kind === "result" ? await event.promise : answer;
    clearTimeout(late);
    // Nothing has its id, or it went with the connection.
    if (answer.kind === "lost") return answer;
    this.#waiting.delete(id);
    void this.command({ type: "unsubscribe_events", subscription: id });
    return found;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#retry);
    const socket = this.#socket;
    if (socket === undefined || socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    if (socket.readyState === WebSocket.OPEN) socket.close();
    else socket.terminate();
    const force = setTimeout(() => socket.terminate(), 1_000);
    await closed;
    clearTimeout(force);
  }

  /** @returns undefined: it is shown; whether Home Assistant gives none any more */
  async #show(socket: WebSocket, token: string): Promise<boolean | undefined> {
    try {
      const access = this.#options.access ? await this.#options.access() : token;
      if (socket.readyState === WebSocket.OPEN)
        socket.send(JSON.stringify({ type: "auth", access_token: access }));
      return undefined;
    } catch (error) {
      this.#failure = messageOf(error);
      this.#problem = `Home Assistant gives no token (${this.#failure})`;
      return error instanceof TokenRefused;
    }
  }

  #send(command: Json, withinMs: number, onEvent: Waiting["onEvent"]): Promise<Answer> {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN) return Promise.resolve({ kind: "lost", sent: false });
    if (socket.bufferedAmount > BUFFERED_MAX_BYTES) {
      socket.terminate();
      return Promise.resolve({ kind: "lost", sent: false });
    }
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const late = setTimeout(() => end({ kind: "silent", sent: true }), withinMs);
      const end = (answer: Answer) => {
        clearTimeout(late);
        // Events of a subscription go on after its result.
        if (onEvent === undefined || answer.kind !== "result") this.#waiting.delete(id);
        resolve(answer);
      };
      this.#waiting.set(id, { end, onEvent });
      socket.send(JSON.stringify({ ...command, id }));
    });
  }

  #answered(message: Json): void {
    const waiting = typeof message.id === "number" ? this.#waiting.get(message.id) : undefined;
    if (message.type === "event") waiting?.onEvent?.(message.event);
    else if (message.type === "pong") waiting?.end({ kind: "result", result: null });
    else if (message.type === "result" && message.success === true)
      waiting?.end({ kind: "result", result: message.result });
    else if (message.type === "result") waiting?.end({ kind: "error", ...errorIn(message.error) });
  }

  async #signedIn(socket: WebSocket, { ha_version: version }: Json): Promise<void> {
    await this.command({ type: "supported_features", features: { coalesce_messages: 1 } });
    for (;;) {
      const answer = await this.command({ type: "get_config" });
      if (socket !== this.#socket || socket.readyState !== WebSocket.OPEN) return;
      if (answer.kind === "result" && stateIn(answer.result) === "RUNNING") break;
      if (answer.kind === "silent") {
        socket.terminate();
        return;
      }
      this.#problem = "Home Assistant is starting";
      this.#failure = "it is starting";
      await new Promise((resolve) => setTimeout(resolve, STARTING_ASK_EVERY_MS));
    }
    this.#runningSince = performance.now();
    this.#refused = undefined;
    this.#failure = undefined;
    this.#logged = undefined;
    this.#timer = setInterval(() => void this.#ping(socket), PING_EVERY_MS);
    const info = { version: typeof version === "string" ? version.slice(0, 40) : "unknown" };
    this.#options.log("info", "home_assistant.up", info);
    this.#options.onRunning(info);
  }

  async #ping(socket: WebSocket): Promise<void> {
    const { kind } = await this.command({ type: "ping" });
    if (kind !== "silent" || socket !== this.#socket) return;
    this.#options.log("warn", "home_assistant.silent");
    this.#problem = "Home Assistant does not answer";
    this.#failure = "it does not answer";
    socket.terminate();
  }

  /** @param refused the token that was shown, if Home Assistant refused it */
  #ended(refused: string | undefined): void {
    const { log, onLost } = this.#options;
    const since = this.#runningSince;
    clearInterval(this.#timer);
    this.#runningSince = undefined;
    this.#socket = undefined;
    for (const { end } of [...this.#waiting.values()]) end({ kind: "lost", sent: true });
    this.#waiting.clear();
    this.#failure ??= "the connection was closed";
    if (since !== undefined) {
      log("warn", "home_assistant.down");
      this.#problem = "the connection to Home Assistant was lost";
      onLost();
    }
    this.#refused = refused;
    if (this.#isStopped) return;
    if (refused !== undefined) {
      this.#problem = WRONG_TOKEN;
      log("error", "home_assistant.refused", { error: WRONG_TOKEN });
      this.#lookForToken(refused, REFUSED_AGAIN_MS / TOKEN_LOOK_MS);
      return;
    }
    const wait = this.#retries.lost(since === undefined ? 0 : performance.now() - since);
    if (since === undefined && this.#failure !== this.#logged) {
      this.#logged = this.#failure;
      log("warn", "home_assistant.error", { error: this.#failure });
    }
    this.#retry = setTimeout(() => this.start(), wait);
  }

  /** @param looks after so many the refused one is tried again */
  #lookForToken(refused: string, looks: number): void {
    this.#retry = setTimeout(() => {
      if (looks <= 1 || this.#options.token() !== refused) this.start();
      else this.#lookForToken(refused, looks - 1);
    }, TOKEN_LOOK_MS);
  }
}

/** One frame has one message or, coalesced, a list of them. What is none is left out. */
function messagesIn(data: RawData): Json[] {
  const value = jsonIn(data.toString());
  return (Array.isArray(value) ? value : [value]).filter(isJson);
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function stateIn(config: unknown): unknown {
  return isJson(config) ? config.state : undefined;
}

/** Its words may quote names and values of strangers. A Python error without words has an empty message. */
function errorIn(error: unknown): { code: string; message: string } {
  const { code, message } = isJson(error) ? error : {};
  return {
    code: typeof code === "string" ? code.slice(0, 60) : "unknown",
    message: typeof message === "string" ? cutText(message, 500) : "",
  };
}
