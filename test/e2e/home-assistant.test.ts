// @module-tag needs/home-assistant
/** Home Assistant as published on PyPI: its integration "LiteLLM" makes the gateway a conversation agent. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { freePort } from "../../local/port.ts";
import { HOME_ASSISTANT } from "../needs.ts";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { ROOT } from "./program.ts";
import { useStack } from "./stack.ts";

/** On a busy machine its first start takes half a minute. */
const START_WITHIN_MS = 120_000;
const VOICE_WAIT_S = 3;

const stack = useStack({ vars: { VOICE_WAIT_S: String(VOICE_WAIT_S) } }, async (stack) => {
  await stack.startAgent({ id: "pi", model: true });
  await stack.gateway.online("pi");
});

const INTEGRATIONS = ["auth", "api", "config", "onboarding", "websocket_api", "conversation", "stt"];

let folder: string;
let url: string;
let home: ChildProcess;
let ended: Promise<unknown>;
const lines: string[] = [];
let token: string | undefined;

type Json = Record<string, unknown>;

async function request<T = Json>(path: string, body?: Json | URLSearchParams): Promise<T> {
  const isForm = body instanceof URLSearchParams;
  const response = await fetch(`${url}${path}`, {
    method: body ? "POST" : "GET",
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && !isForm && { "content-type": "application/json" }),
    },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}\n${lines.slice(-20).join("")}`);
  return JSON.parse(text) as T;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-home-assistant-"));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const http = `http:\n  server_host: 127.0.0.1\n  server_port: ${port}\n`;
  const named = INTEGRATIONS.map((name) => `${name}:\n`).join("");
  writeFileSync(join(folder, "configuration.yaml"), `homeassistant:\n  name: test\n${http}${named}`);
  const launcher = join(ROOT, "test/clients/home_assistant.py");
  home = spawn(HOME_ASSISTANT, [launcher, "-c", folder, "--skip-pip", "--log-no-color"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  ended = new Promise((resolve) => home.once("close", resolve));
  for (const stream of [home.stdout, home.stderr]) stream?.on("data", (data) => lines.push(String(data)));
  const isUp = () =>
    fetch(`${url}/api/onboarding`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isUp, { within: START_WITHIN_MS, every: 200, what: "Home Assistant serves" });
  const client_id = `${url}/`;
  const owner = { name: "a", username: "a", password: "long enough", client_id, language: "en" };
  const { auth_code: code } = await request<{ auth_code: string }>("/api/onboarding/users", owner);
  const grant = new URLSearchParams({ client_id, grant_type: "authorization_code", code });
  token = (await request<{ access_token: string }>("/auth/token", grant)).access_token;
}, START_WITHIN_MS + 20_000);

afterAll(async () => {
  home.kill("SIGKILL");
  await ended;
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

/** @returns the entity id of the conversation agent */
async function setUp(): Promise<string> {
  const flows = "/api/config/config_entries";
  const { flow_id } = await request<{ flow_id: string }>(`${flows}/flow`, { handler: "litellm" });
  const connection = { url: stack.gateway.url, api_key: TOKENS.owner };
  const made = await request<{ type: string; result: { entry_id: string } }>(
    `${flows}/flow/${flow_id}`,
    connection,
  );
  expect(made.type).toBe("create_entry");
  const adding = `${flows}/subentries/flow`;
  const form = await request<{ flow_id: string; data_schema: Json[] }>(adding, {
    handler: [made.result.entry_id, "conversation"],
  });
  // It has asked the gateway for its models.
  expect(JSON.stringify(form.data_schema)).toContain('"edgecall-voice"');
  const agent = { model: "edgecall-voice", prompt: "You are in a test." };
  expect(await request(`${adding}/${form.flow_id}`, agent)).toMatchObject({ type: "create_entry" });
  return await until(
    async () => {
      const states = await request<Array<{ entity_id: string }>>("/api/states");
      return states.find(({ entity_id: id }) => /^conversation\.(?!home_assistant$)/.test(id))?.entity_id;
    },
    { within: 20_000, what: "the conversation agent is there" },
  );
}

type Processed = {
  conversation_id: string;
  response: { response_type: string; speech: { plain: { speech: string } } };
};

test("a conversation of three turns calls a device, and gets a spoken answer in time while the device is slow", async () => {
  const agent_id = await setUp();
  const say = async (text: string, conversation_id?: string) => {
    const body = { text, agent_id, language: "en", ...(conversation_id && { conversation_id }) };
    const { response, conversation_id: id } = await request<Processed>("/api/conversation/process", body);
    return { id, type: response.response_type, speech: response.speech.plain.speech };
  };
  const ask = (what: Json) => ({ calls: [{ arguments: { agent_id: "pi", ...what } }] });
  const first = await say(script(ask({ action: "memory" }), { text: "So: $results" }));
  expect(first).toMatchObject({ type: "action_done", speech: expect.stringContaining("RAM 50% used") });

  const device = script({ hold: "slow", step: { text: "the garage is open" } });
  const begun = Date.now();
  const second = await say(script(ask({ query: device }), { text: "It says: $results" }), first.id);
  expect(second.speech).toBe("pi has not answered yet.\nThe answer comes with your next message.");
  expect(second.id).toBe(first.id);
  expect(Date.now() - begun).toBeLessThan((VOICE_WAIT_S + 5) * 1_000);

  stack.model.release("slow");
  const third = await say(script({ text: "Good evening." }), first.id);
  expect(third.speech).toMatch(/^Good evening\.\n\nTo ".*": It says: the garage is open$/);
}, 60_000);
