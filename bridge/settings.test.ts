import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSettings } from "./settings.ts";

const NEEDED = { GATEWAY_URL: "https://gate.example", BRIDGE_TOKEN: "tok" };

test("defaults", () => {
  expect(readSettings({ ...NEEDED, BRIDGE_ID: "attic" })).toEqual({
    ok: true,
    settings: {
      gatewayUrl: "wss://gate.example/bridge",
      bridgeToken: "tok",
      mqttUrl: "mqtt://127.0.0.1:1883",
      mqttUsername: undefined,
      mqttPassword: undefined,
      mqttCa: undefined,
      topicPrefix: "evoclaw",
      healthPort: 8788,
      healthHost: "127.0.0.1",
      bridgeId: "attic",
      devices: {
        mode: "allow",
        prefix: "homeassistant",
        birth: false,
        dangerText: [],
        signIn: "off",
        folder: undefined,
        historyDays: undefined,
      },
    },
  });
});

test.each([
  ["mqtt://127.0.0.1:1883", "allow"],
  ["mqtts://[::1]", "allow"],
  ["mqtt://192.168.1.7", "allow"],
  ["mqtt://Attic.LOCAL", "allow"],
  ["mqtt://broker.lan", "allow"],
  ["mqtt://core-mosquitto:1883", "allow"],
  ["mqtt://[fd12::1]", "allow"],
  ["mqtts://broker.example.com", undefined],
  ["mqtts://8.8.8.8", undefined],
  ["wss://test.mosquitto.org:8081", undefined],
])("devices of the broker %s: %s", (MQTT_URL, mode) => {
  const read = readSettings({ ...NEEDED, MQTT_URL });
  expect(read.ok && read.settings.devices?.mode).toBe(mode);
});

test("the settings of devices", () => {
  const read = readSettings({
    ...NEEDED,
    MQTT_URL: "mqtts://broker.example.com",
    MQTT_DEVICES: "read",
    MQTT_DEVICES_PREFIX: "ha/found",
    MQTT_DEVICES_BIRTH: "on",
    MQTT_DEVICES_DANGER: "sauna, kiln,",
    MQTT_HISTORY: "30",
    BRIDGE_STATE: "/somewhere",
  });
  expect(read.ok && read.settings.devices).toEqual({
    mode: "read",
    prefix: "ha/found",
    birth: true,
    dangerText: ["sauna", "kiln"],
    signIn: "allow",
    folder: "/somewhere",
    historyDays: 30,
  });
  const off = readSettings({ ...NEEDED, MQTT_DEVICES: "off" });
  expect(off.ok && off.settings.devices).toBeUndefined();
});

const ASSISTANT = { HA_URL: "http://homeassistant.local:8123", HA_TOKEN: "ha-token" };

test("Home Assistant's devices do not depend on the broker's, nor on a broker", () => {
  const devicesOf = (env: Record<string, string>) => {
    const read = readSettings({ ...NEEDED, ...env });
    if (!read.ok) throw new Error(read.errors.join("; "));
    return read.settings.devices;
  };
  const url = "ws://homeassistant.local:8123/api/websocket";
  const one = devicesOf({ ...ASSISTANT, MQTT_URL: "mqtts://broker.example.com" });
  expect(one).toMatchObject({ mode: "off", homeAssistant: { url, mode: "allow" } });
  expect(one?.homeAssistant?.token()).toBe("ha-token");
  expect(devicesOf({ ...ASSISTANT, HA_DEVICES: "read", MQTT_DEVICES: "allow" })).toMatchObject({
    mode: "allow",
    homeAssistant: { mode: "read" },
  });
  expect(devicesOf({ ...ASSISTANT, HA_PEOPLE: "person.anna, device_tracker.phone" })).toMatchObject({
    people: ["person.anna", "device_tracker.phone"],
  });
  expect(devicesOf({ ...ASSISTANT, HA_FIRST: "on" })).toMatchObject({ firstSource: "home-assistant" });
  expect(devicesOf(ASSISTANT)).not.toHaveProperty("firstSource");
  expect(() => devicesOf({ ...ASSISTANT, HA_FIRST: "yes" })).toThrow("HA_FIRST: should be on or off");
  expect(devicesOf({ ...ASSISTANT, HA_DEVICES: "off" })).toMatchObject({ homeAssistant: undefined });
  expect(devicesOf({ ...ASSISTANT, HA_DEVICES: "off", MQTT_DEVICES: "off" })).toBeUndefined();
  const signIn = devicesOf({ MQTT_DEVICES: "off", BRIDGE_STATE: "/somewhere", HA_DEVICES: "read" });
  expect(signIn).toMatchObject({ mode: "off", signIn: "read", folder: "/somewhere" });
  expect(devicesOf({ MQTT_URL: "off", BRIDGE_STATE: "/somewhere" })).toMatchObject({ signIn: "allow" });
  const alone = readSettings({ ...NEEDED, ...ASSISTANT, MQTT_URL: "off" });
  expect(alone).toMatchObject({ settings: { mqttUrl: undefined, devices: { mode: "off" } } });
});

test.each([
  ["https://ha.example/", "wss://ha.example/api/websocket"],
  ["http://ha.example/behind/", "ws://ha.example/behind/api/websocket"],
  ["ws://supervisor/core/websocket", "ws://supervisor/core/websocket"],
])("Home Assistant at %s", (HA_URL, url) => {
  const read = readSettings({ ...NEEDED, ...ASSISTANT, HA_URL });
  expect(read.ok && read.settings.devices?.homeAssistant?.url).toBe(url);
});

test("a token in a file is read again", () => {
  const file = join(mkdtempSync(join(tmpdir(), "bridge-")), "token");
  writeFileSync(file, "first\n");
  const read = readSettings({ ...NEEDED, HA_URL: ASSISTANT.HA_URL, HA_TOKEN_FILE: file });
  const assistant = read.ok ? read.settings.devices?.homeAssistant : undefined;
  expect(assistant?.token()).toBe("first");
  writeFileSync(file, "second\n");
  expect(assistant?.token()).toBe("second");
});

test.each([
  ["http://127.0.0.1:8787", "ws://127.0.0.1:8787/bridge"],
  ["http://127.0.0.1:8787/", "ws://127.0.0.1:8787/bridge"],
  ["wss://gate.example/home/", "wss://gate.example/home/bridge"],
])("the socket's address for %s", (GATEWAY_URL, gatewayUrl) => {
  expect(readSettings({ ...NEEDED, GATEWAY_URL })).toMatchObject({ ok: true, settings: { gatewayUrl } });
});

test("all missing settings are named at once", () => {
  const result = readSettings({ GATEWAY_URL: "" });
  expect(result).toMatchObject({ ok: false });
  expect(result.ok ? [] : result.errors.map((error) => error.split(":")[0])).toEqual([
    "GATEWAY_URL",
    "BRIDGE_TOKEN",
  ]);
});

const noCertificate = join(mkdtempSync(join(tmpdir(), "bridge-")), "ca.pem");
writeFileSync(noCertificate, "hello");

test.each([
  ["GATEWAY_URL", "ftp://gate.example"],
  ["GATEWAY_URL", "https://user:pass@gate.example"],
  ["BRIDGE_TOKEN", "two words"],
  ["MQTT_URL", "127.0.0.1:1883"],
  ["MQTT_URL", "http://broker"],
  ["MQTT_CA", "/nowhere/ca.pem"],
  ["MQTT_CA", noCertificate],
  ["TOPIC_PREFIX", "evoclaw/#"],
  ["TOPIC_PREFIX", "evoclaw/"],
  ["HEALTH_PORT", "70000"],
  ["HEALTH_PORT", "8o"],
  ["BRIDGE_ID", "attic/1"],
  ["MQTT_DEVICES", "yes"],
  ["MQTT_DEVICES_BIRTH", "yes"],
  ["MQTT_DEVICES_PREFIX", "homeassistant/#"],
  ["MQTT_DEVICES_PREFIX", "evoclaw/found"],
  ["MQTT_DEVICES_DANGER", "x".repeat(41)],
  ["MQTT_HISTORY", "yes"],
  ["MQTT_HISTORY", "0"],
  ["MQTT_HISTORY", "5000"],
  ["MQTT_URL", "off"],
  ["HA_DEVICES", "yes"],
])("a wrong %s (%s) is named, and no token is shown", (name, value) => {
  const result = readSettings({ ...NEEDED, [name]: value });
  expect(result).toMatchObject({ ok: false });
  const errors = result.ok ? [] : result.errors;
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(new RegExp(`^${name}: `));
  expect(errors[0]).not.toContain("two words");
});

test.each([
  ["HA_URL", ""],
  ["HA_PEOPLE", "sensor.phone_street"],
  ["HA_PEOPLE", "person.anna person.bert"],
  ["HA_URL", "homeassistant.local:8123"],
  ["HA_URL", "http://anna:secret@ha.local"],
  ["HA_TOKEN", ""],
  ["HA_TOKEN", "two words"],
])("with Home Assistant, a wrong %s (%s) is named, and no token is shown", (name, value) => {
  const result = readSettings({ ...NEEDED, ...ASSISTANT, [name]: value });
  const errors = result.ok ? [] : result.errors;
  expect(errors).toEqual([expect.stringMatching(new RegExp(`^${name}: `))]);
  expect(errors[0]).not.toMatch(/two words|ha-token|secret/);
});

test("a secret may be in a file, without its line's end; an unreadable file is named", () => {
  const file = join(mkdtempSync(join(tmpdir(), "bridge-")), "secret");
  writeFileSync(file, "from-file\n");
  const env = {
    GATEWAY_URL: NEEDED.GATEWAY_URL,
    BRIDGE_TOKEN_FILE: file,
    MQTT_PASSWORD_FILE: file,
    MQTT_USERNAME: "b",
  };
  expect(readSettings(env)).toMatchObject({
    ok: true,
    settings: { bridgeToken: "from-file", mqttPassword: "from-file" },
  });
  const missing = readSettings({ ...NEEDED, MQTT_PASSWORD_FILE: "/nowhere/secret" });
  expect(missing.ok ? [] : missing.errors).toEqual([
    expect.stringMatching(/^MQTT_PASSWORD_FILE: cannot read it/),
  ]);
});
