/** The Worker and the bridge as they are released, for every part of the bench that starts a home of its own. */
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundleBridge, bundleWorker } from "../local/bundles.ts";
import { type Gateway, type GatewayOptions, startWorker } from "../local/gateway.ts";
import { childrenNamed } from "../local/workerd-guard.ts";
import { TOKENS } from "../test/tokens.ts";
import type { NodeStart } from "./node-starts.ts";
import type { Leashed, Processes } from "./processes.ts";

/** @param entry of a Worker that counts, or of the floor's @returns `pid`: of its workerd */
export async function startBenchWorker(
  dir: string,
  name: string,
  {
    entry,
    ...options
  }: Pick<GatewayOptions, "vars" | "inspector" | "config"> & {
    port?: number;
    entry?: string;
  },
): Promise<{ worker: Gateway; pid: number }> {
  const others = new Set(childrenNamed("workerd"));
  const worker = await startWorker({
    port: 0,
    dir: join(dir, name),
    bundle: await bundleWorker({ ...(entry && { entry }), minify: true }),
    onLog: (line) => appendFileSync(join(dir, `${name}.log`), `${line}\n`),
    ...options,
  });
  const [pid = 0] = childrenNamed("workerd").filter((one) => !others.has(one));
  return { worker, pid };
}

/** @param name of its process @param start Node's flags and variables; none, if it is left out */
export async function startBenchBridge(
  dir: string,
  processes: Processes,
  {
    gatewayUrl,
    mqttUrl,
    name = "bridge",
    env,
    start = { flags: [], env: {} },
  }: { gatewayUrl: string; mqttUrl: string; name?: string; env?: Record<string, string>; start?: NodeStart },
): Promise<Leashed> {
  const program = join(dir, "bridge.mjs");
  writeFileSync(program, await bundleBridge());
  return await processes.start(name, [process.execPath, ...start.flags, program], {
    GATEWAY_URL: gatewayUrl,
    BRIDGE_TOKEN: TOKENS.bridge,
    BRIDGE_ID: "bench",
    MQTT_URL: mqttUrl,
    HEALTH_PORT: "0",
    ...start.env,
    ...env,
  });
}
