/** The local stack's settings: command line and environment, read once, errors that name the field. */
import { hostname } from "node:os";
import { join } from "node:path";
import { GATEWAY_VARIABLES } from "@edgecall/core/protocol/gateway-variables.ts";
import { AGENT_ID } from "@edgecall/core/protocol/names.ts";
import type { Parsed } from "@edgecall/core/protocol/parse.ts";
import { stateFolder } from "@edgecall/node/places.ts";
import { type Network, readNetwork, readPolling } from "./network.ts";
import { readRecords } from "./tokens.ts";

export type Environment = Record<string, string | undefined>;

export const DEFAULT_PORT = 8787;

/** The options of `start`, as a person typed them. */
export type StartOptions = Partial<Record<"ask" | "seed" | "speed", string | undefined>> & { demo?: boolean };

/** Of `--demo`. */
type DemoSettings = { seed: number; speed: number };

export type StartSettings = {
  /** Undefined = no simulated house. */
  demo: DemoSettings | undefined;
  /** Ask one question and end; absent = run until stopped. */
  ask: string | undefined;
  /** Undefined = only this machine is listened to. */
  network: Network | undefined;
  /** Telegram's messages are fetched. */
  polls: boolean;
  /** Undefined = 8787, or for a question any free one. */
  port: number | undefined;
  dir: string;
  /** A copy is made before a newer version writes there. */
  copies: boolean;
  /** Undefined = the embedded broker. */
  mqttUrl: string | undefined;
  /** Of LLM_BASE_URL and LLM_MODEL. Undefined = none: plain sentences are understood, and LLM_MODELS may name others. */
  model: { baseUrl: string; name: string } | undefined;
  /** Undefined = generated and stored. */
  token: string | undefined;
  agentId: string;
};

/** The form of a bearer token (RFC 6750 §2.1), with the lengths that the Worker accepts. */
const TOKEN = /^[A-Za-z0-9._~+/=-]{16,256}$/;

export function readStartSettings(options: StartOptions, env: Environment): Parsed<StartSettings> {
  const { ask } = options;
  const demo = readDemo(options);
  if (!demo.ok) return demo;
  if (ask !== undefined && ask.trim() === "") return { ok: false, error: "--ask: the question is empty" };
  const port = env.PORT ? readPort(env.PORT, DEFAULT_PORT) : undefined;
  if (port?.ok === false) return port;
  const network = readNetwork(env);
  if (!network.ok) return network;
  const polls = readPolling(env, true);
  if (!polls.ok) return polls;
  if (env.EDGECALL_TOKEN && !TOKEN.test(env.EDGECALL_TOKEN)) {
    return {
      ok: false,
      error: "EDGECALL_TOKEN: expected 16 to 256 of the characters A-Z a-z 0-9 . _ ~ + / = -",
    };
  }
  if (env.UPGRADE_COPY && !/^(yes|no)$/.test(env.UPGRADE_COPY))
    return { ok: false, error: `UPGRADE_COPY: expected yes or no, got '${env.UPGRADE_COPY}'` };
  const model = readModel(env);
  if (!model.ok) return model;
  if (env.MQTT_URL && !/^mqtts?:\/\/[^/]/.test(env.MQTT_URL)) {
    return { ok: false, error: "MQTT_URL: expected the address of a broker, such as mqtt://127.0.0.1:1883" };
  }
  for (const name of ["API_TOKENS", "BRIDGE_TOKENS"] as const) {
    const records = readRecords(env[name]);
    if (!records) {
      const error = `${name}: expected a JSON list of token records (docs/reference/settings.md)`;
      return { ok: false, error };
    }
  }
  return {
    ok: true,
    value: {
      demo: demo.value,
      ask,
      network: network.value,
      polls: polls.value,
      port: port?.value,
      // A person's own home keeps its conversations, rules and devices to itself.
      dir: demo.value ? join(stateFolder(env), "demo") : stateFolder(env),
      copies: env.UPGRADE_COPY !== "no",
      mqttUrl: env.MQTT_URL || undefined,
      model: model.value,
      token: env.EDGECALL_TOKEN || undefined,
      agentId: agentIdOf(hostname()),
    },
  };
}

function readModel({ LLM_BASE_URL: baseUrl, LLM_MODEL: name }: Environment): Parsed<StartSettings["model"]> {
  if (baseUrl && name) return { ok: true, value: { baseUrl, name } };
  if (baseUrl) {
    const error = "LLM_MODEL: not set, though LLM_BASE_URL is; set the name of the model to use there";
    return { ok: false, error };
  }
  if (name) {
    const error =
      "LLM_BASE_URL: not set, though LLM_MODEL is; set the address of the endpoint that has this model";
    return { ok: false, error };
  }
  return { ok: true, value: undefined };
}

const SEED_MAX = 0xffff_ffff;
const SPEED_MAX = 1_000;

function readDemo(options: StartOptions): Parsed<DemoSettings | undefined> {
  if (!options.demo) {
    const lone = (["seed", "speed"] as const).find((name) => options[name] !== undefined);
    return lone ? { ok: false, error: `--${lone}: only with --demo` } : { ok: true, value: undefined };
  }
  const [seed, speed] = [options.seed ?? "1", options.speed ?? "1"];
  if (!/^\d{1,10}$/.test(seed) || Number(seed) > SEED_MAX)
    return { ok: false, error: `--seed: expected a whole number from 0 to ${SEED_MAX}, got '${seed}'` };
  if (!/^\d*\.?\d+$/.test(speed) || Number(speed) <= 0 || Number(speed) > SPEED_MAX)
    return {
      ok: false,
      error: `--speed: expected a number above 0 and at most ${SPEED_MAX}, got '${speed}'`,
    };
  return { ok: true, value: { seed: Number(seed), speed: Number(speed) } };
}

/** What the bridge knows of the simulated house: all its devices, the phone that says who is there, and where it stands. */
const DEMO_BRIDGE = { MQTT_DEVICES: "allow", PRESENCE: "Phone=phone:Home", PLACE: "52.5, 13.4" };

/** The environment of a demo: without the person's broker, so that no simulated device is published there. */
export function demoEnvironment(env: Environment): Environment {
  const own = Object.entries(env).filter(([name]) => !name.startsWith("MQTT_"));
  return { ...Object.fromEntries(own), ...DEMO_BRIDGE };
}

export function readPort(text: string | undefined, fallback: number): Parsed<number> {
  if (!text) return { ok: true, value: fallback };
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return { ok: true, value: port };
  return { ok: false, error: `PORT: expected a number from 0 to 65535, got '${text}'` };
}

/** This machine's name as an agent's id. */
export function agentIdOf(host: string): string {
  const id = (host.split(".")[0] ?? "")
    .replace(/[^A-Za-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  return id !== "localhost" && AGENT_ID.test(id) ? id : "this-machine";
}

/** The variables and secrets that are passed to the Worker. */
export function workerVars(env: Environment): Record<string, string> {
  return Object.fromEntries(
    GATEWAY_VARIABLES.flatMap((name) => {
      const value = env[name];
      return value ? [[name, value]] : [];
    }),
  );
}
