/** The broker's files follow only from what Home sends. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrokerLogin } from "@edgecall/core/broker/login.ts";
import {
  BRIDGE_USER,
  deviceTopics,
  mosquittoAcl,
  newPassword,
  passwordHash,
} from "@edgecall/core/broker/mosquitto.ts";
import type { AgentKey } from "@edgecall/core/protocol/home-frames.ts";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { readSettings } from "../settings.ts";
import { writeBrokerFiles } from "./broker-files.ts";
import { BrokerLogins, passwordsText } from "./broker-logins.ts";

let dir: string;
let logged: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "kept-logins-"));
  logged = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const read = (name: string) => readFileSync(join(dir, name), "utf8");
const users = () =>
  read("passwords")
    .split("\n")
    .flatMap((line) => line.split(":")[0] || []);
const key = (id: string, login?: string): AgentKey => ({ id, key: "k", n: 0, ...(login && { login }) });
const brokerLogins = (folder = dir) =>
  new BrokerLogins(folder, "evoclaw", "secret", (_, event) => logged.push(event), true);
const written = (times: number) =>
  until(() => logged.filter((event) => event === "broker.files_written").length === times);

test("a generated hash is accepted", async () => {
  for (let i = 0; i < 20; i += 1)
    expect(BrokerLogin.safeParse(await passwordHash(newPassword())).success).toBe(true);
});

test("the file has the users with a login and a valid key, and no others", async () => {
  await writeBrokerFiles({ dir, agents: ["by-hand"] });
  const own = read("passwords")
    .split("\n")
    .find((line) => line.startsWith(BRIDGE_USER));
  writeFileSync(join(dir, "passwords.local"), "# mine\nzigbee:$7$101$c$d\n");
  writeFileSync(join(dir, "acl.local"), "user zigbee\ntopic readwrite zigbee2mqtt/#\n");
  const login = await passwordHash(newPassword());
  const logins = brokerLogins();
  logins.update([key("pi", login), key("bare"), { ...key("gone", login), key: null }]);
  await written(1);
  expect(users()).toEqual([BRIDGE_USER, "pi", "zigbee"]);
  expect(read("passwords")).toContain(`pi:${login}\n`);
  expect(read("passwords")).toContain(own);
  const local = "user zigbee\ntopic readwrite zigbee2mqtt/#\n";
  expect(read("acl")).toBe(`${mosquittoAcl("evoclaw", ["zigbee2mqtt/#"])}${local}`);
  for (const name of ["passwords", "acl"]) expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);

  // The same list again is no change, so the broker does not reload.
  const before = statSync(join(dir, "passwords")).ino;
  logins.update([key("pi", login)]);
  logins.update([{ ...key("pi", login), key: null }]);
  await written(2);
  expect(users()).toEqual([BRIDGE_USER, "zigbee"]);
  expect(statSync(join(dir, "passwords")).ino).not.toBe(before);
  expect(logged).toEqual(["broker.files_written", "broker.files_written"]);
});

test("a folder that cannot be written is logged, and the next list tries again", async () => {
  const logins = brokerLogins(join(dir, "not-yet"));
  logins.update([]);
  await until(() => logged.includes("broker.files_failed"));
  await writeBrokerFiles({ dir: join(dir, "not-yet"), agents: [] });
  logins.update([key("pi", await passwordHash("x"))]);
  await written(1);
});

test("the next list restores any lost file", async () => {
  const login = await passwordHash(newPassword());
  const keys = ["eye", "pi"].map((id) => key(id, login));
  await writeBrokerFiles({ dir, agents: [] });
  const damages: Array<(bytes: Buffer, at: number) => Buffer> = [
    (bytes, at) => bytes.subarray(0, at),
    (bytes, at) => Buffer.concat([bytes.subarray(0, at), Buffer.alloc(bytes.length - at)]),
    () => Buffer.alloc(0),
  ];
  let cuts = 0;
  for (const name of ["passwords", "acl", "passwords.next"])
    for (const damage of damages)
      for (let part = 0; part < 8; part += 1) {
        brokerLogins().update(keys);
        await until(() => existsSync(join(dir, "acl")) && users().includes("pi"));
        const bytes = Buffer.from(read(name === "acl" ? "acl" : "passwords"));
        writeFileSync(join(dir, name), damage(bytes, Math.floor((bytes.length * part) / 8)));
        // After a restart, with a different list, so that there is something to write.
        const before = logged.length;
        brokerLogins().update([...keys, key(`new${cuts}`, login)]);
        await until(() => logged.length > before);
        const [own, ...others] = read("passwords").split("\n");
        expect(own).toMatch(/^edgecall-bridge:\$7\$101\$[\w+/]{16}\$[\w+/]{86}==$/);
        expect(others).toEqual([`eye:${login}`, `new${cuts}:${login}`, `pi:${login}`, ""]);
        expect(read("acl")).toBe(mosquittoAcl("evoclaw"));
        cuts += 1;
      }
  expect(cuts).toBe(72);
});

test("the bridge reaches devices where a person lets their programs, and no more of our own topics", () => {
  const local = [
    "# Zigbee2MQTT",
    "user zigbee",
    "topic readwrite zigbee2mqtt/#",
    "topic write homeassistant/#",
    "topic my house/lamp one",
    "user admin",
    "topic readwrite #",
    "topic read $SYS/#",
    "topic deny cellar/#",
    "topic write evoclaw/agents/+/reports",
    "topic read +/agents/#",
    "user other",
    "topic read homeassistant/#",
    "pattern write %u/#",
  ].join("\n");
  expect(deviceTopics(local, "evoclaw")).toEqual(["zigbee2mqtt/#", "homeassistant/#", "my house/lamp one"]);
  expect(mosquittoAcl("evoclaw", ["a/#"])).toMatch(/user edgecall-bridge\n[\s\S]*\ntopic readwrite a\/#\n$/);
});

test("no device name gives the bridge's rights, and only hashes are written", async () => {
  const login = await passwordHash(newPassword());
  const own = `${BRIDGE_USER}:own`;
  const local = new Map([[BRIDGE_USER, `${BRIDGE_USER}:forged`]]);
  for (const wrong of [`${login}\neve:${login}`, `eve:${login}`, `${login}\n`, "$7$1$a$b", "", "plain"])
    expect(passwordsText({ keys: [key("pi", wrong)], own, local: new Map() })).toBe(`${own}\n`);
  expect(passwordsText({ keys: [key(BRIDGE_USER, login)], own, local })).toBe(`${own}\n`);
  // A person's own line for a name stays.
  const mine = new Map([["pi", "pi:mine"]]);
  expect(passwordsText({ keys: [key("pi", login)], own, local: mine })).toBe(`${own}\npi:mine\n`);
});

test("the bridge has its own login in the broker's files", async () => {
  const needed = { GATEWAY_URL: "https://gate.example", BRIDGE_TOKEN: "tok" };
  const wrong = readSettings({ ...needed, BROKER_FILES: dir });
  expect(wrong.ok ? [] : wrong.errors).toEqual([expect.stringMatching(/^BROKER_FILES: .*broker-files/)]);
  await writeBrokerFiles({ dir, agents: [] });
  const password = read("bridge-password").trim();
  expect(readSettings({ ...needed, BROKER_FILES: dir })).toMatchObject({
    ok: true,
    settings: { mqttUsername: BRIDGE_USER, mqttPassword: password, brokerFiles: dir },
  });
  expect(
    readSettings({ ...needed, BROKER_FILES: dir, MQTT_USERNAME: "me", MQTT_PASSWORD: "p" }),
  ).toMatchObject({
    ok: true,
    settings: { mqttUsername: "me", mqttPassword: "p" },
  });
});
