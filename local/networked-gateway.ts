/** The Worker on this machine, its door to the network where HOST opens one, and the fetching of Telegram's messages. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { startFront } from "./front.ts";
import { type Gateway, type GatewayOptions, startWorker } from "./gateway.ts";
import { type Network, networkUrl } from "./network.ts";
import { type BotState, type Polling, startPolling } from "./polling/polling.ts";
import { freePort, isFree } from "./port.ts";

export type NetworkedGateway = Pick<Gateway, "url" | "stop"> & {
  /** The address for other machines; undefined: only this one is listened to. */
  networkUrl: string | undefined;
};

export type NetworkedGatewayOptions = GatewayOptions & {
  network: Network | undefined;
  /** Fetches the messages of Telegram's bots, which no webhook can bring here. */
  polls: boolean;
  /** A line about the polling. */
  say(line: string): void;
  onPolling?(bots: readonly BotState[]): void;
};

/** Bytes of the secret between the Worker and the polling. */
const POLLING_TOKEN_BYTES = 32;

/** @param options.port of loopback, and without TLS of the network too. @throws as startWorker does */
export async function startGateway(options: NetworkedGatewayOptions): Promise<NetworkedGateway> {
  const { network, port, polls, dir, say, onPolling, vars = {} } = options;
  if (network && port !== 0 && !(await isFree(port)))
    throw new Error(`port ${port} is taken by another program; set PORT to another one`);
  const url = network && networkUrl(network, port);
  const token = polls ? randomBytes(POLLING_TOKEN_BYTES).toString("base64url") : undefined;
  const worker = await startWorker({
    ...options,
    port: network ? await freePort() : port,
    vars: {
      // Others reach it, so it counts what they ask; devices and bridges are told an address that they reach.
      ...(network && { RATE_LIMITS: "on" }),
      ...(url !== undefined && { PUBLIC_URL: url }),
      ...vars,
      ...(token !== undefined && { POLLING_TOKEN: token }),
    },
  });
  let polling: Polling | undefined;
  try {
    const front =
      network && (await startFront({ target: worker.url, port, ...network, publicUrl: vars.PUBLIC_URL }));
    polling =
      token === undefined
        ? undefined
        : startPolling({
            workerUrl: worker.url,
            token,
            dir: join(dir, "polling"),
            say,
            ...(onPolling && { onChange: onPolling }),
          });
    return {
      url: front ? `http://127.0.0.1:${front.ports.plain}` : worker.url,
      networkUrl: url,
      async stop() {
        await polling?.stop();
        await front?.stop();
        await worker.stop();
      },
    };
  } catch (error) {
    await worker.stop();
    throw error;
  }
}
