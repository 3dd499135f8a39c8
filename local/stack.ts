/** Starts the parts of the one-machine stack side by side and ends them together. */
import { join, resolve } from "node:path";
import { withoutLogin } from "@edgecall/core/protocol/addresses.ts";
import { PROGRAMS } from "@edgecall/node/places.ts";
import { BRIDGE_NODE_ENVIRONMENT, BRIDGE_NODE_FLAGS } from "../bridge/node-options.ts";
import { NODE_ENVIRONMENT, NODE_FLAGS } from "../pi-agent/config/node-options.ts";
import { agentIn, type BrokerAccess, writeAgentToml } from "./agent-toml.ts";
import { allReady } from "./all-ready.ts";
import { startKeptBroker } from "./broker.ts";
import { enrol } from "./enrol.ts";
import { type Environment, type StartSettings, workerVars } from "./settings.ts";
import { type Child, supervise } from "./supervisor.ts";
import type { KeptTokens } from "./tokens.ts";

export type Stack = {
  /** The form for display. */
  mqttUrl: string;
  /** This machine's. */
  agentId: string;
  /**
   * Resolves when every program is connected.
   * @param tell a line for a person who waits long
   * @throws when one ended, or was not connected in five minutes
   */
  ready(tell: (line: string) => void): Promise<void>;
  stop(): Promise<void>;
};

export type StackOptions = {
  settings: StartSettings;
  port: number;
  tokens: KeptTokens;
  env: Environment;
  say(name: string, line: string): void;
};

export async function startStack({ settings, port, tokens, env, say }: StackOptions): Promise<Stack> {
  const config = join(settings.dir, "agent.toml");
  // The person may have given this machine another name there. A broken file is told before anything starts.
  const { agentId = settings.agentId, stateDir = join(settings.dir, "agent") } = agentIn(config);
  const broker =
    settings.mqttUrl === undefined
      ? await startKeptBroker(settings.dir, (line) => say("broker", line))
      : undefined;
  const mqttUrl = settings.mqttUrl ?? broker?.url ?? "";
  const shown = withoutLogin(mqttUrl);
  try {
    await writeAgentToml(config, { agentId, stateDir }, brokerAccess(mqttUrl, env));
  } catch (error) {
    await broker?.stop();
    throw error;
  }
  const common = { ...env, MQTT_URL: mqttUrl, PORT: String(port), EDGECALL_DIR: settings.dir };
  const lastLines = new Map<string, string>();
  const start = (name: string, args: readonly string[], more: Environment): Child =>
    supervise({
      name,
      args,
      env: { ...common, ...more },
      say(line) {
        lastLines.set(name, line);
        say(name, line);
      },
    });

  const worker = start("worker", PROGRAMS.worker, {
    CONNECTIONS_KEY: tokens.connections,
    TELEGRAM_POLLING: settings.polls ? "on" : "off",
    // Paired devices get the address without the login, which is a setting of the device.
    BROKER_URL: shown,
    ...workerVars(env),
    // It makes their records, since it replaces the owner's on request.
    OWN_TOKENS: "yes",
    ALLOW_UNSIGNED_AGENTS: env.ALLOW_UNSIGNED_AGENTS ?? "*",
  });
  // Only after the Worker listens, because a log that begins with refused connections looks broken.
  const bridge = startAfter(worker.ready, () =>
    start("bridge", [...BRIDGE_NODE_FLAGS, ...PROGRAMS.bridge], {
      ...BRIDGE_NODE_ENVIRONMENT,
      GATEWAY_URL: `http://127.0.0.1:${port}`,
      BRIDGE_TOKEN: tokens.bridge,
      BRIDGE_STATE: join(settings.dir, "bridge"),
      HEALTH_PORT: env.HEALTH_PORT ?? "0",
    }),
  );
  // Paired before it starts, so that the local stack works exactly like a real device.
  const paired = worker.ready.then(() =>
    enrol({ url: `http://127.0.0.1:${port}`, token: tokens.api, agentId, stateDir }),
  );
  const agent = startAfter(paired, () =>
    start("agent", [...NODE_FLAGS, ...PROGRAMS.agent, "--config", config], NODE_ENVIRONMENT),
  );
  const children = { worker, bridge, agent };

  return {
    agentId,
    mqttUrl: shown,
    // The broker without user and password.
    ready: (tell) =>
      allReady({
        children,
        foreignBroker: broker ? undefined : new URL(mqttUrl).host,
        lastLine: (name) => lastLines.get(name),
        say: tell,
      }),
    async stop() {
      // The broker ends last, since the agent says goodbye through it.
      await Promise.all(Object.values(children).map((child) => child.stop()));
      await broker?.stop();
    },
  };
}

/** Starts a program after something else is done. */
function startAfter(done: Promise<unknown>, start: () => Child): Pick<Child, "ready" | "stop"> {
  let child: Child | undefined;
  let stopped = false;
  const ready = done.then(() => {
    if (stopped) throw new Error("it was stopped before it was started");
    child = start();
    return child.ready;
  });
  // Avoids an unhandled rejection when it fails late.
  ready.catch(() => {});
  return {
    ready,
    async stop() {
      stopped = true;
      await child?.stop();
    },
  };
}

/** The same values as the bridge's, for the same broker. */
function brokerAccess(url: string, env: Environment): BrokerAccess {
  return {
    url,
    ...(env.MQTT_USERNAME && { username: env.MQTT_USERNAME }),
    ...(env.MQTT_PASSWORD && { password: env.MQTT_PASSWORD }),
    ...(env.MQTT_CA && { ca: resolve(env.MQTT_CA) }),
  };
}
