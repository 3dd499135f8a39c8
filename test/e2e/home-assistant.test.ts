// @module-tag needs/home-assistant
/**
 * Home Assistant, as published on PyPI: its integration "LiteLLM" makes the gateway a conversation agent, and its integration "Model Context
 * Protocol" signs in to the gateway and gives its tools to whatever model it has.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OauthGrantView } from "../../worker/api/answers.ts";
import { SignIn } from "../oauth-sign-in.ts";
import { script } from "../scripted-model.ts";
import { type ScriptedProgramModel, startScriptedProgramModel } from "../scripted-program-model.ts";
import { TOKENS } from "../tokens.ts";
import { HOME_ASSISTANT_START_MS, HomeAssistant } from "./home-assistant.ts";
import { useStack } from "./stack.ts";

const VOICE_WAIT_S = 3;

const stack = useStack({ vars: { VOICE_WAIT_S: String(VOICE_WAIT_S) } }, async (stack) => {
  await stack.startAgent({ id: "pi", model: true });
  await stack.gateway.online("pi");
});

let home: HomeAssistant;
/** Its own model, which is not the gateway's. */
let model: ScriptedProgramModel;
beforeAll(async () => {
  model = await startScriptedProgramModel();
  home = await HomeAssistant.start(["application_credentials"]);
}, HOME_ASSISTANT_START_MS);
afterAll(async () => {
  await home?.stop();
  await model?.close();
});

test("a conversation of three turns calls a device, and gets a spoken answer in time while the device is slow", async () => {
  const agent = await home.addConversation(
    { url: stack.gateway.url, api_key: TOKENS.owner },
    { model: "edgecall-voice", prompt: "You are in a test." },
  );
  const ask = (what: object) => ({ calls: [{ arguments: { agent_id: "pi", ...what } }] });
  const first = await home.say(agent, script(ask({ action: "memory" }), { text: "So: $results" }));
  expect(first).toMatchObject({ type: "action_done", speech: expect.stringContaining("RAM 50% used") });

  const device = script({ hold: "slow", step: { text: "the garage is open" } });
  const begun = Date.now();
  const question = script(ask({ query: device }), { text: "It says: $results" });
  const second = await home.say(agent, question, first.id);
  expect(second.speech).toBe("pi has not answered yet.\nThe answer comes with your next message.");
  expect(second.id).toBe(first.id);
  expect(Date.now() - begun).toBeLessThan((VOICE_WAIT_S + 5) * 1_000);

  stack.model.release("slow");
  const third = await home.say(agent, script({ text: "Good evening." }), first.id);
  expect(third.speech).toMatch(/^Good evening\.\n\nTo ".*": It says: the garage is open$/);
}, 60_000);

test("its MCP integration signs in with a client that was entered by hand, and its model calls a device", async () => {
  const made = await stack.gateway.fetch("/v1/oauth/clients", {
    method: "POST",
    body: JSON.stringify({
      name: "Home Assistant",
      redirect_uris: [`${home.url}/auth/external/callback`],
      secret: true,
    }),
  });
  const { client_id, client_secret } = (await made.json()) as Record<string, string>;
  await home.command({ type: "application_credentials/create", domain: "mcp", client_id, client_secret });
  const asked = await home.flow<{ type: string; menu_options: string[] }>("mcp", {
    url: `${stack.gateway.url}/mcp`,
  });
  expect(asked).toMatchObject({
    type: "menu",
    menu_options: expect.arrayContaining(["pick_implementation"]),
  });
  const sent = await home.step<{ url: string }>(asked.flow_id, { next_step_id: "pick_implementation" });

  const { gateway } = stack;
  const address = new URL(sent.url);
  const person = new SignIn((path, init) => fetch(gateway.url + path, init), gateway.url);
  const cookie = await person.cookie(TOKENS.owner);
  const { form } = await person.open(address.pathname + address.search, cookie);
  const { location } = await person.press(form, cookie, { command: "yes", trusted: "yes" });
  expect((await fetch(location ?? "")).ok).toBe(true);
  const entry = await home.step<{ type: string; result: { entry_id: string; title: string } }>(
    asked.flow_id,
    {},
  );
  expect(entry).toMatchObject({ type: "create_entry", result: { title: "edgecall" } });

  const agent = await home.addConversation(
    { url: model.url, api_key: "none" },
    { model: "scripted", prompt: "You are in a test.", llm_hass_api: [`mcp-${entry.result.entry_id}`] },
  );
  const call = { name: "edge_call", arguments: { agent_id: "pi", action: "memory", params: {} } };
  const said = await home.say(agent, script({ calls: [call] }, { text: "So: $results" }));
  expect(said).toMatchObject({ type: "action_done", speech: expect.stringContaining("RAM 50% used") });

  const { grants } = (await (await gateway.fetch("/v1/oauth/grants")).json()) as { grants: OauthGrantView[] };
  expect(grants).toMatchObject([{ client: "Home Assistant", person: "anna", state: "connected" }]);
}, 60_000);
