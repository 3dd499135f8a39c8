/** A TCP proxy in front of a WebSocket server that records every frame on the wire. It can die silently. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** As seen from the client. */
export type Way = "up" | "down";

/** One frame (RFC 6455, 5.2); the payload of a text frame is its text. */
export type Frame = { at: number; way: Way; kind: "text" | "binary" | "control"; text: string };

export class WireTap {
  readonly frames: Frame[] = [];
  /** The number of carried bytes, including the handshake. */
  readonly bytes: Record<Way, number> = { up: 0, down: 0 };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Sockets whose connection carries nothing any more, without being closed. */
  readonly #dead = new WeakSet<Socket>();
  #takesNone = false;

  private constructor(to: string) {
    const { hostname: host, port } = new URL(to);
    this.#server = createServer({ noDelay: true }, (client) => {
      if (this.#takesNone) {
        this.#sockets.add(client);
        client.on("error", () => {}).on("close", () => this.#sockets.delete(client));
        client.resume();
        return;
      }
      const server = connect({ host, port: Number(port), noDelay: true });
      this.#carry("up", client, server);
      this.#carry("down", server, client);
    });
  }

  /** @param to the server's address, `http://host:port` */
  static async open(to: string): Promise<WireTap> {
    const tap = new WireTap(to);
    await new Promise<void>((resolve) => tap.#server.listen(0, "127.0.0.1", resolve));
    return tap;
  }

  /** The address that the client uses instead of the server's. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /**
   * From now on nothing passes in either direction, and nothing is closed. @param newToo true: nor on later connections
   */
  die({ newToo }: { newToo: boolean }): void {
    for (const socket of this.#sockets) this.#dead.add(socket);
    this.#takesNone = newToo;
  }

  /** Connections that are opened from now on are carried again. Those that died stay dead. */
  live(): void {
    this.#takesNone = false;
    for (const socket of this.#sockets) if (this.#dead.has(socket)) socket.destroy();
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #carry(way: Way, from: Socket, to: Socket): void {
    this.#sockets.add(from);
    const read = frameReader();
    from.on("data", (chunk: Buffer) => {
      if (this.#dead.has(from)) return;
      this.bytes[way] += chunk.length;
      for (const frame of read(chunk)) this.frames.push({ at: performance.now(), way, ...frame });
      to.write(chunk);
    });
    from.on("error", () => {});
    from.on("close", () => {
      this.#sockets.delete(from);
      if (!this.#dead.has(from)) to.destroy();
    });
  }
}

const HEAD_END = "\r\n\r\n";

/** Cuts one direction of a connection into frames, which follow directly after the handshake's head. */
function frameReader(): (chunk: Buffer) => Array<Pick<Frame, "kind" | "text">> {
  let upgraded = false;
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    if (!upgraded) {
      const end = rest.indexOf(HEAD_END);
      if (end < 0) return [];
      upgraded = true;
      rest = rest.subarray(end + HEAD_END.length);
    }
    const frames: Array<Pick<Frame, "kind" | "text">> = [];
    for (let cut = firstFrame(rest); cut; cut = firstFrame(rest)) {
      frames.push(cut.frame);
      rest = rest.subarray(cut.size);
    }
    return frames;
  };
}

/** Returns the frame at the beginning of the bytes, or undefined when it is incomplete. */
function firstFrame(bytes: Buffer): { frame: Pick<Frame, "kind" | "text">; size: number } | undefined {
  if (bytes.length < 2) return undefined;
  const opcode = bytes.readUInt8(0) & 0x0f;
  const masked = (bytes.readUInt8(1) & 0x80) !== 0;
  const short = bytes.readUInt8(1) & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const start = 2 + lengthBytes + (masked ? 4 : 0);
  if (bytes.length < start) return undefined;
  const length = lengthBytes === 2 ? bytes.readUInt16BE(2) : lengthBytes === 8 ? longLength(bytes) : short;
  if (bytes.length < start + length) return undefined;
  const payload = Buffer.from(bytes.subarray(start, start + length));
  if (masked) {
    const mask = bytes.subarray(start - 4, start);
    for (const [at, byte] of payload.entries()) payload[at] = byte ^ mask.readUInt8(at % 4);
  }
  const kind = opcode >= 0x8 ? "control" : opcode === 0x2 ? "binary" : "text";
  return { frame: { kind, text: kind === "text" ? payload.toString("utf8") : "" }, size: start + length };
}

function longLength(bytes: Buffer): number {
  return Number(bytes.readBigUInt64BE(2));
}
