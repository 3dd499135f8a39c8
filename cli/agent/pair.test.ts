/** Pairing's texts about the broker, with a fake gateway and without a service. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { newKeyPair } from "@edgecall/core/protocol/signing.ts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { COMMANDS } from "../commands.ts";
import { runCommandLine } from "../run-command-line.ts";

/** The broker that the next device is told. */
let broker: { url: string } | null = null;
let gatewayKey = "";
const gateway = createServer((_, response) => {
  const welcome = { home: "home", gateway_key: gatewayKey, broker, broker_login: null, online: false };
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(welcome));
});
beforeAll(async () => {
  gatewayKey = (await newKeyPair()).publicKey;
  await new Promise<void>((resolve) => gateway.listen(0, "127.0.0.1", resolve));
});
afterAll(() => gateway.close());

const root = mkdtempSync(join(tmpdir(), "edgecall-pair-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(root, "device-"));
});

/** @returns what it printed about the broker, and the broker in the settings */
async function pair(...options: string[]) {
  let err = "";
  const io = {
    out: () => {},
    err: (text: string) => {
      err += text;
    },
    ...{ terminal: false, watched: false, person: false },
  };
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
  const words = ["agent", "pair", "--gateway", url, "--code", "home-ABCDEFGHJKLM", "--into", folder];
  expect(await runCommandLine(COMMANDS, [...words, ...options], {}, io), err).toBe(0);
  const settings = readFileSync(join(folder, "agent.toml"), "utf8");
  return { said: err.slice(err.indexOf("its broker")), url: /^url = "(.*)"$/m.exec(settings)?.[1] };
}

test("without a broker it uses this machine's, and says so and what to do if it is elsewhere", async () => {
  broker = null;
  const { said, url } = await pair("--id", "eye");
  expect(url).toBe("mqtt://127.0.0.1:1883");
  expect(said).toBe(
    `its broker: mqtt://127.0.0.1:1883\n  which is this machine itself, since nobody told another one. If the home's broker is on another machine, write its address into [mqtt] url of ${folder}/agent.toml\n`,
  );
  // From then on it is in the owner's settings.
  expect((await pair()).said).toBe("its broker: mqtt://127.0.0.1:1883\n");
});

test("a broker of the gateway's machine only is described as such", async () => {
  broker = { url: "mqtt://localhost:41883" };
  const { said, url } = await pair("--id", "eye");
  expect(url).toBe(broker.url);
  expect(said).toMatch(/^its broker: mqtt:\/\/localhost:41883\n {2}which is this machine itself\. If /);
});

test("a broker in the network is printed, and an explicit one is not questioned", async () => {
  broker = { url: "mqtt://192.168.1.2:1883" };
  expect((await pair("--id", "eye")).said).toBe("its broker: mqtt://192.168.1.2:1883\n");
  rmSync(join(folder, "agent.toml"));
  const given = await pair("--id", "eye", "--broker", "mqtt://127.0.0.1:2883");
  expect(given).toEqual({ said: "its broker: mqtt://127.0.0.1:2883\n", url: "mqtt://127.0.0.1:2883" });
});
