import { mkdtempSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readSettings } from "../settings.ts";
import { offerMcp, type Supervisor, withHomeAssistant } from "./home-assistant.ts";

let server: Server;
let supervisor: Supervisor;
/** The Supervisor's answer, and the tokens that it received. */
let answer: { status: number; body: unknown };
let shown: (string | undefined)[];
/** What it was told to show to Home Assistant. */
let discovered: unknown[];

beforeEach(async () => {
  [shown, discovered] = [[], []];
  answer = {
    status: 200,
    body: {
      result: "ok",
      data: {
        host: "core-mosquitto",
        port: 1883,
        ssl: false,
        username: "addons",
        password: "pw",
        protocol: "3.1.1",
      },
    },
  };
  server = createServer(async (request, response) => {
    shown.push(request.headers.authorization);
    if (request.url === "/discovery") {
      let body = "";
      for await (const chunk of request) body += chunk;
      discovered.push(JSON.parse(body));
      response.writeHead(answer.status).end("{}");
      return;
    }
    response
      .writeHead(request.url === "/services/mqtt" ? answer.status : 404)
      .end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  supervisor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    optionsFile: join(mkdtempSync(join(tmpdir(), "app-")), "options.json"),
  };
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

const options = (given: object) => writeFileSync(supervisor.optionsFile, JSON.stringify(given));
const NEEDED = { gateway_url: "https://gate.example", bridge_token: "tok" };
const ENV = { SUPERVISOR_TOKEN: "sup", HEALTH_PORT: "8788" };

test("outside of Home Assistant nothing changes", async () => {
  const env = { GATEWAY_URL: "https://gate.example" };
  expect(await withHomeAssistant(env, supervisor)).toBe(env);
});

test("the page's settings, with Home Assistant's broker", async () => {
  options({ ...NEEDED, mqtt_url: "", mqtt_devices: "read" });
  expect(readSettings(await withHomeAssistant(ENV, supervisor))).toMatchObject({
    ok: true,
    settings: {
      gatewayUrl: "wss://gate.example/bridge",
      bridgeToken: "tok",
      mqttUrl: "mqtt://core-mosquitto:1883",
      mqttUsername: "addons",
      mqttPassword: "pw",
      healthPort: 8788,
      devices: {
        mode: "read",
        folder: join(dirname(supervisor.optionsFile), "bridge"),
        homeAssistant: { url: `${supervisor.url.replace("http", "ws")}/core/websocket`, mode: "allow" },
      },
    },
  });
  expect(shown).toEqual(["Bearer sup"]);
});

test("a broker of the person's own", async () => {
  options({ ...NEEDED, mqtt_url: "mqtts://other:8883", mqtt_username: "me", mqtt_password: "p" });
  const env = await withHomeAssistant(ENV, supervisor);
  expect(env).toMatchObject({ MQTT_URL: "mqtts://other:8883", MQTT_USERNAME: "me", MQTT_PASSWORD: "p" });
  expect(shown).toEqual([]);
});

test("Home Assistant's devices: with the Supervisor's token, with another one's, without a broker, or none", async () => {
  options({ ...NEEDED, ha_devices: "read" });
  expect(await withHomeAssistant(ENV, supervisor)).toMatchObject({ HA_TOKEN: "sup", HA_DEVICES: "read" });
  options({ ...NEEDED, ha_url: "http://other:8123", ha_token: "theirs" });
  expect(await withHomeAssistant(ENV, supervisor)).toMatchObject({
    HA_URL: "http://other:8123",
    HA_TOKEN: "theirs",
  });
  options(NEEDED);
  answer = { status: 400, body: { result: "error", message: "Service not enabled" } };
  const read = readSettings(await withHomeAssistant(ENV, supervisor));
  expect(read).toMatchObject({ ok: true, settings: { mqttUrl: undefined, devices: { mode: "off" } } });
});

test("the gateway's MCP server is offered to Home Assistant; a Supervisor that shows no such card is no fault", async () => {
  const env = { ...ENV, GATEWAY_URL: "https://gate.example/" };
  expect(await offerMcp(env, supervisor)).toBeUndefined();
  expect(discovered).toEqual([{ service: "mcp", config: { url: "https://gate.example/mcp" } }]);
  expect(shown).toEqual(["Bearer sup"]);
  answer = { status: 403, body: {} };
  expect(await offerMcp(env, supervisor)).toBe("the Supervisor answers 403");
  expect(await offerMcp({ GATEWAY_URL: env.GATEWAY_URL }, supervisor)).toBeUndefined();
});

test("a missing broker is reported, and so is an invalid file", async () => {
  options({ ...NEEDED, ha_devices: "off" });
  answer = { status: 400, body: { result: "error", message: "Service not enabled" } };
  await expect(withHomeAssistant(ENV, supervisor)).rejects.toThrow(/^mqtt_url: not set/);
  answer = { status: 200, body: { result: "ok", data: { host: 7 } } };
  await expect(withHomeAssistant(ENV, supervisor)).rejects.toThrow(/^mqtt_url: not set/);
  writeFileSync(supervisor.optionsFile, "{");
  await expect(withHomeAssistant(ENV, supervisor)).rejects.toThrow(supervisor.optionsFile);
});
