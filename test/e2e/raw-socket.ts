/** A WebSocket client over plain TCP that can break the protocol: it writes frames (RFC 6455, 5.2) byte by byte. */
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";
import { until } from "../wait.ts";

/** Opcode 3 is reserved: its receiver must fail the connection. */
const RESERVED_OPCODE = 0x3;
const TEXT_OPCODE = 0x1;
/** Marks a length of 16 bits. */
const LONG = 126;

export class RawSocket {
  readonly #socket: Socket;
  /** Everything received, beginning with the handshake's answer. */
  received = "";
  closed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => {
      this.received += chunk.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.closed = true;
    });
  }

  /** Resolves after the upgrade. @param url `http://…` */
  static async open(url: string, headers: Record<string, string> = {}): Promise<RawSocket> {
    const { host, hostname, port, pathname, search } = new URL(url);
    const raw = new RawSocket(connect(Number(port), hostname));
    const lines = Object.entries({
      host,
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      ...headers,
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    raw.#socket.write(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n`);
    await until(() => raw.received.includes("\r\n\r\n"), { what: "the upgrade" });
    if (!raw.received.startsWith("HTTP/1.1 101")) throw new Error(`no upgrade: ${raw.received}`);
    return raw;
  }

  text(text: string): void {
    this.#frame(TEXT_OPCODE, Buffer.from(text));
  }

  /** Sends a frame that no peer may accept. */
  breakProtocol(): void {
    this.#frame(RESERVED_OPCODE, Buffer.from("x"));
  }

  end(): void {
    this.#socket.destroy();
  }

  #frame(opcode: number, payload: Buffer): void {
    const length =
      payload.length < LONG ? [payload.length] : [LONG, payload.length >> 8, payload.length & 0xff];
    const [first = 0, ...rest] = length;
    const mask = randomBytes(4);
    const masked = payload.map((byte, n) => byte ^ (mask[n % 4] ?? 0));
    this.#socket.write(Buffer.from([0x80 | opcode, 0x80 | first, ...rest, ...mask, ...masked]));
  }
}
