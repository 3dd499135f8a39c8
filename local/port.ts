/** Ports of this machine. */
import { createServer, type ListenOptions, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** The children of a killed stack release its port within this time. */
const TAKEN_FOR_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** Below the ports of outgoing connections (Linux: from 32,768), which may be taken at any time. */
const LOWEST = 20_000;
const HIGHEST = 29_999;
const TRIES = 100;

/**
 * Returns a free port outside the range that the system assigns. On Linux it is not given again until this process ends, so that a program
 * that was stopped finds it free when it starts again.
 */
export async function freePort(): Promise<number> {
  for (let n = 0; n < TRIES; n += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST + 1));
    if ((await claim(port)) && (await tryPort(port))) return port;
  }
  throw new Error(`no free port on 127.0.0.1: ${TRIES} between ${LOWEST} and ${HIGHEST} are taken`);
}

/**
 * Takes the port's name by an abstract socket, which goes with its process and leaves no file. Other systems have none.
 * @returns false: it is taken
 */
async function claim(port: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  const held = await listen({ path: `\0edgecall-port-${port}` });
  held?.unref();
  return held !== undefined;
}

/** Whether the port is free, or becomes so within a moment. */
export async function isFree(port: number, withinMs = TAKEN_FOR_MS): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    if (await tryPort(port)) return true;
    if (performance.now() >= end) return false;
    await sleep(LOOK_EVERY_MS);
  }
}

async function tryPort(port: number): Promise<boolean> {
  const server = await listen({ port, host: "127.0.0.1" });
  if (!server) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** @returns undefined: it is taken */
function listen(where: ListenOptions): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen({ ...where, exclusive: true }, () => resolve(server));
  });
}
