/** The Worker on this machine, and its door to the network where HOST opens one. */
import { startFront } from "./front.ts";
import { type Gateway, type GatewayOptions, startWorker } from "./gateway.ts";
import { type Network, networkUrl } from "./network.ts";
import { freePort, isFree } from "./port.ts";

export type NetworkedGateway = Pick<Gateway, "url" | "stop"> & {
  /** The address for other machines; undefined: only this one is listened to. */
  networkUrl: string | undefined;
};

/** @param options.port of loopback, and without TLS of the network too. @throws as startWorker does */
export async function startGateway(
  options: GatewayOptions & { network: Network | undefined },
): Promise<NetworkedGateway> {
  const { network, port, vars = {} } = options;
  if (!network) return { ...(await startWorker(options)), networkUrl: undefined };
  if (port !== 0 && !(await isFree(port)))
    throw new Error(`port ${port} is taken by another program; set PORT to another one`);
  const url = networkUrl(network, port);
  const worker = await startWorker({
    ...options,
    port: await freePort(),
    // Others reach it, so it counts what they ask; devices and bridges are told an address that they reach.
    vars: { RATE_LIMITS: "on", ...(url !== undefined && { PUBLIC_URL: url }), ...vars },
  });
  try {
    const front = await startFront({
      target: worker.url,
      port,
      ...network,
      publicUrl: vars.PUBLIC_URL,
    });
    return {
      url: `http://127.0.0.1:${front.ports.plain}`,
      networkUrl: url,
      async stop() {
        await front.stop();
        await worker.stop();
      },
    };
  } catch (error) {
    await worker.stop();
    throw error;
  }
}
