/**
 * The embedded MQTT broker of the one-machine stack: aedes, MQTT 3.1.1, in memory, loopback only.
 * Use Mosquitto for anything with a network: one frozen subscriber can stall aedes, and it has no accounts.
 */

import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { Aedes } from "aedes";
import { isFree } from "./port.ts";

export type Broker = { url: string; stop(): Promise<void> };

/**
 * Starts the broker on its last port unless that is taken, because paired devices have that port in their settings.
 * @param dir the stack's state
 */
export async function startKeptBroker(dir: string, say: (line: string) => void): Promise<Broker> {
  const file = join(dir, "broker-port");
  const kept = readPort(file);
  if (await isFree(kept)) return await startKeeping(file, kept);
  const broker = await startKeeping(file, 0);
  say(`port ${kept} is taken; devices that were paired look for this broker there: it is ${broker.url} now`);
  return broker;
}

async function startKeeping(file: string, port: number): Promise<Broker> {
  const broker = await startBroker({ port });
  writeFileSync(file, `${new URL(broker.url).port}\n`, { mode: 0o600 });
  return broker;
}

/** @returns 0 when the file is missing or damaged */
function readPort(file: string): number {
  try {
    const port = Number(readFileSync(file, "utf8"));
    return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : 0;
  } catch {
    return 0;
  }
}

/** @param options.port 0 = any free one */
export async function startBroker(options: { port?: number } = {}): Promise<Broker> {
  const aedes = await Aedes.createBroker();
  const sockets = new Set<Socket>();
  // Nagle's algorithm with the other side's delayed ACK would cost 44 ms for each message.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    aedes.handle(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `mqtt://127.0.0.1:${port}`,
    async stop() {
      await new Promise<void>((resolve) => aedes.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
