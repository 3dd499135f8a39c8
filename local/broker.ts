/**
 * The embedded MQTT broker of the one-machine stack: aedes, MQTT 3.1.1, in memory, loopback only.
 * Anything with a network uses Mosquitto: one frozen subscriber can stall aedes, and it knows no accounts.
 */

import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { Aedes } from "aedes";

export type Broker = { url: string; stop(): Promise<void> };

/** @param options.port 0 = any free one */
export async function startBroker(options: { port?: number } = {}): Promise<Broker> {
  const aedes = await Aedes.createBroker();
  const sockets = new Set<Socket>();
  // Nagle's algorithm and the delayed ACK of the other side would cost 44 ms a message.
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
