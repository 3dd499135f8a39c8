/** Ports of this machine. */
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The children of a stack that was killed let go of its port within this time. */
const TAKEN_FOR_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** Any free port, for a moment: nobody holds it for us. */
export async function freePort(): Promise<number> {
  const port = await tryPort(0);
  if (port === undefined) throw new Error("no free port on 127.0.0.1");
  return port;
}

/** Whether the port is free, or becomes so within a moment. */
export async function isFree(port: number, withinMs = TAKEN_FOR_MS): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    if ((await tryPort(port)) !== undefined) return true;
    if (performance.now() >= end) return false;
    await sleep(LOOK_EVERY_MS);
  }
}

function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const bound = (server.address() as AddressInfo).port;
      server.close(() => resolve(bound));
    });
  });
}
