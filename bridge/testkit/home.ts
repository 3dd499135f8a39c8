/** A real WebSocket server that plays Home, for tests. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { BridgeFrame, encodeFrame, STANDBY } from "@edgecall/core/protocol/frames.ts";
import type { AgentKey, HomeFrame, StoredTexts } from "@edgecall/core/protocol/home-frames.ts";
import { BRIDGE_PROTOCOL } from "@edgecall/core/protocol/names.ts";
import { checkJson } from "@edgecall/core/protocol/parse.ts";
import { type WebSocket, WebSocketServer } from "ws";
import { until } from "../../test/wait.ts";

export type Frame<T extends BridgeFrame["t"]> = Extract<BridgeFrame, { t: T }>;

export class PlayedHome {
  readonly #server = createServer();
  readonly #sockets = new WebSocketServer({ noServer: true });
  /** Every frame of every connection. */
  readonly frames: BridgeFrame[] = [];
  readonly closes: number[] = [];
  connections = 0;
  pings = 0;
  /** Accepts keepalives and answers none, like a zombie socket. */
  silent = false;
  /** The HTTP status of the answer to upgrades; undefined: a client with the token is accepted. */
  refuseWith: number | undefined;
  protocol = BRIDGE_PROTOCOL;
  /** An unreadable version says nothing. */
  version = "test";
  /** True: it says that a bridge may wait for its place. `asked` counts the bridges that ask while `isTaken`. */
  standby = false;
  isTaken = false;
  asked = 0;
  /** Undefined: like a gateway without keys. */
  keys: AgentKey[] | undefined;
  /** What it has stored of the agents' texts; undefined: like a gateway that wants all texts. */
  texts: StoredTexts[] | undefined;
  /** Agents without a key that it serves; undefined: like a gateway that does not say. */
  unsigned: string[] | undefined;
  /** True: it says that the bridge may send hosted devices. */
  devices = false;
  /** True: it says that the bridge may send changes of rules. */
  rules = false;
  /** True: it says that the bridge may send what is wrong with itself. */
  conditions = false;
  /** The public key that it says is its own; undefined: like an older gateway. */
  gatewayKey: string | undefined;
  /** Sent right behind each welcome. */
  afterWelcome: HomeFrame[] = [];
  #socket: WebSocket | undefined;

  async start(token = "secret"): Promise<string> {
    this.#server.on("upgrade", (request, socket, head) => {
      // A refused client may reset the connection, and without a listener Node would end the process.
      socket.on("error", () => {});
      const known = request.headers.authorization === `Bearer ${token}` && request.url === "/bridge";
      const waits = request.headers[STANDBY] !== undefined;
      if (waits) this.asked += 1;
      const status =
        (waits && this.isTaken ? 409 : undefined) ?? this.refuseWith ?? (known ? undefined : 401);
      if (status !== undefined) {
        socket.end(`HTTP/1.1 ${status} No\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
        return;
      }
      this.#sockets.handleUpgrade(request, socket, head, (ws) => this.#welcome(ws));
    });
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  send(frame: HomeFrame): void {
    this.sendText(encodeFrame(frame));
  }

  sendText(text: string | Buffer): void {
    this.#socket?.send(text);
  }

  /** Cuts the connection, like a crash or a deploy; with a code, closes it properly. */
  drop(code?: number): void {
    if (code === undefined) this.#socket?.terminate();
    else this.#socket?.close(code, "test");
  }

  of<T extends BridgeFrame["t"]>(t: T): Frame<T>[] {
    return this.frames.filter((frame): frame is Frame<T> => frame.t === t);
  }

  /** Waits for the first frame of this kind that fits. */
  next<T extends BridgeFrame["t"]>(t: T, fits: (frame: Frame<T>) => boolean = () => true): Promise<Frame<T>> {
    return until(() => this.of(t).find(fits), { what: `a ${t} frame that fits ${fits}` });
  }

  async stop(): Promise<void> {
    this.#socket?.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #welcome(ws: WebSocket): void {
    this.connections += 1;
    this.#socket = ws;
    ws.on("error", () => {});
    ws.on("close", (code) => this.closes.push(code));
    ws.on("message", (data) => {
      const text = data.toString();
      if (text === "ping") {
        this.pings += 1;
        if (!this.silent) ws.send("pong");
        return;
      }
      const frame = checkJson(BridgeFrame, text);
      if (!frame.ok) throw new Error(`the bridge sent a wrong frame: ${frame.error}`);
      this.frames.push(frame.value);
      if (frame.value.t !== "hello") return;
      const { protocol, version, keys, standby, texts, unsigned, devices, rules, conditions } = this;
      const { gatewayKey } = this;
      const more = {
        ...(keys && { keys }),
        ...(standby && { standby }),
        ...(texts && { kept: true }),
        ...(unsigned && { unsigned }),
        ...(devices && { devices }),
        ...(rules && { rules }),
        ...(conditions && { conditions }),
        ...(gatewayKey !== undefined && { gateway_key: gatewayKey, time: Date.now() }),
      };
      ws.send(encodeFrame({ t: "welcome", protocol, home: "h1", version, ...more }));
      if (texts) ws.send(encodeFrame({ t: "known", keys: [], texts, last: true }));
      for (const next of this.afterWelcome) ws.send(encodeFrame(next));
    });
  }
}
