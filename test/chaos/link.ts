/**
 * A connection between two programs that can be cut, left half open, slowed and, for MQTT, have its messages changed.
 */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { type Direction, Meddler, type Meddling } from "./meddler.ts";
import { PacketCutter } from "./mqtt-packets.ts";
import { SlowQueue } from "./slow-queue.ts";

export type LinkOptions = {
  /** The server's port on the loopback. */
  to: number;
  mqtt: boolean;
  random: () => number;
};

/** The deaf direction, or both. One direction is a fault of its own: an ack that never arrives. */
export type Deaf = "both" | Direction;

type Mode = { is: "open" } | { is: "cut" } | { is: "half-open"; deaf: Deaf } | { is: "slow"; ms: number };

/** One connection through the link. */
type Line = {
  client: Socket;
  server: Socket;
  queues: Record<Direction, SlowQueue>;
  /** Directions in which bytes were lost, so that nothing after them makes sense. */
  holed: Record<Direction, boolean>;
};

export class Link {
  readonly #options: LinkOptions;
  readonly #listener: Server;
  readonly #lines = new Set<Line>();
  readonly #meddler: Meddler;
  /** Wait for the next bytes in a direction. */
  #watchers: Array<{ direction: Direction; seen: () => void }> = [];
  #mode: Mode = { is: "open" };

  private constructor(options: LinkOptions) {
    this.#options = options;
    this.#listener = createServer({ noDelay: true }, (client) => this.#connected(client));
    this.#meddler = new Meddler((direction, packet) => this.#sendNow(direction, packet), options.random);
  }

  static async open(options: LinkOptions): Promise<Link> {
    const link = new Link(options);
    await new Promise<void>((resolve) => link.#listener.listen(0, "127.0.0.1", resolve));
    return link;
  }

  /** The port that the client connects to instead of the server's. */
  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  get meddledWith(): number {
    return this.#meddler.count;
  }

  /** Resets every connection, and each new one, until the link is mended. */
  cut(): void {
    this.#mode = { is: "cut" };
    this.#resetAll(() => true);
  }

  /** Drops all bytes and notifies no side. When the link is mended it resets the connections, as a router would. */
  halfOpen(deaf: Deaf): void {
    this.#mode = { is: "half-open", deaf };
  }

  slow(ms: number): void {
    this.#mode = { is: "slow", ms };
  }

  /** Resolves when the next message on such a topic passes. */
  nextMessage(topic: Meddling["topic"]): Promise<void> {
    return this.#meddler.next(topic);
  }

  /** Resolves when the next bytes pass in this direction. */
  nextBytes(direction: Direction): Promise<void> {
    return new Promise((seen) => this.#watchers.push({ direction, seen }));
  }

  meddle(meddling: Meddling): void {
    this.#meddler.begin(meddling);
  }

  mend(): void {
    this.#mode = { is: "open" };
    this.#meddler.end();
    this.#resetAll(({ holed }) => holed.toServer || holed.toClient);
  }

  close(): Promise<void> {
    this.#meddler.stop();
    this.#resetAll(() => true);
    return new Promise((resolve) => this.#listener.close(() => resolve()));
  }

  #connected(client: Socket): void {
    client.on("error", () => {});
    if (this.#mode.is === "cut") {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ port: this.#options.to, host: "127.0.0.1", noDelay: true });
    const line: Line = {
      client,
      server,
      queues: { toServer: new SlowQueue(), toClient: new SlowQueue() },
      holed: { toServer: false, toClient: false },
    };
    this.#lines.add(line);
    this.#carry(line, "toServer", client, server);
    this.#carry(line, "toClient", server, client);
  }

  #carry(line: Line, direction: Direction, from: Socket, to: Socket): void {
    from.on("error", () => {});
    // The end of the stream follows its last bytes, and is lost like them.
    from.on("close", () => this.#pass(line, direction, () => this.#end(line, to)));
    from.on("data", () => this.#notify(direction));
    const write = (bytes: Buffer) =>
      this.#pass(line, direction, () => {
        if (to.writable) to.write(bytes);
      });
    if (!this.#options.mqtt) {
      from.on("data", write);
      return;
    }
    const cutter = new PacketCutter();
    from.on("data", (chunk: Buffer) => {
      for (const packet of cutter.push(chunk)) this.#meddler.packet(direction, packet, write);
    });
  }

  #notify(direction: Direction): void {
    if (this.#watchers.length === 0) return;
    const seen = this.#watchers.filter((one) => one.direction === direction);
    this.#watchers = this.#watchers.filter((one) => one.direction !== direction);
    for (const one of seen) one.seen();
  }

  #pass(line: Line, direction: Direction, work: () => void): void {
    if (this.#swallows(direction)) line.holed[direction] = true;
    if (line.holed[direction]) return;
    const delay = this.#mode.is === "slow" ? this.#mode.ms : 0;
    line.queues[direction].add(delay, work);
  }

  #end(line: Line, to: Socket): void {
    to.destroy();
    if (line.client.destroyed && line.server.destroyed) this.#lines.delete(line);
  }

  #swallows(direction: Direction): boolean {
    return this.#mode.is === "half-open" && (this.#mode.deaf === "both" || this.#mode.deaf === direction);
  }

  #sendNow(direction: Direction, packet: Buffer): void {
    const line = [...this.#lines].findLast(({ holed }) => !holed.toServer && !holed.toClient);
    if (!line) return;
    const to = direction === "toServer" ? line.server : line.client;
    this.#pass(line, direction, () => {
      if (to.writable) to.write(packet);
    });
  }

  #resetAll(which: (line: Line) => boolean): void {
    for (const line of [...this.#lines].filter(which)) {
      this.#lines.delete(line);
      line.queues.toServer.clear();
      line.queues.toClient.clear();
      line.client.resetAndDestroy();
      line.server.resetAndDestroy();
    }
  }
}
