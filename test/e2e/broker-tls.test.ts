/** Bridge and agent connect to a Mosquitto with TLS and a certificate of the home's own authority. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto, PlayedMosquitto } from "../../bridge/testkit/brokers.ts";
import { newAuthority, signedBy } from "../certificates.ts";
import { Program } from "./program.ts";

const mosquitto = findMosquitto();

describe("a broker with TLS", { tags: ["needs/mosquitto", "needs/openssl"] }, () => {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-tls-"));
  let broker: PlayedMosquitto;
  let ours: string;
  let others: string;
  beforeAll(async () => {
    const authority = newAuthority(dir, "ours");
    ours = authority.cert;
    others = newAuthority(dir, "others").cert;
    broker = await PlayedMosquitto.start(mosquitto ?? "", signedBy(authority, dir, "IP:127.0.0.1"));
  });
  afterAll(async () => {
    await broker.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const open: Program[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((program) => program.kill()));
  });

  /** @param ca the authority in the settings @param env variables with the authorities that the system trusts */
  function start(url: string, ca: string | undefined, env: Record<string, string> = {}) {
    const config = join(mkdtempSync(join(dir, "agent-")), "agent.toml");
    writeFileSync(
      config,
      `agent_id = "pi"\n[mqtt]\nurl = "${url}"\n${ca === undefined ? "" : `ca = "${ca}"\n`}`,
    );
    const bridge = new Program({
      name: "bridge",
      script: "bridge/main.ts",
      env: {
        // Nothing listens there; this test looks only at the broker.
        GATEWAY_URL: "http://127.0.0.1:9",
        BRIDGE_TOKEN: "t",
        HEALTH_PORT: "0",
        MQTT_URL: url,
        MQTT_CA: ca,
        ...env,
      },
    });
    const agent = new Program({
      name: "agent",
      script: "pi-agent/main.ts",
      args: ["--config", config],
      env,
    });
    open.push(bridge, agent);
    return { bridge, agent };
  }

  async function refused({ bridge, agent }: ReturnType<typeof start>) {
    const [atBridge, atAgent] = await Promise.all([
      bridge.logged("broker.error"),
      agent.logged("mqtt.offline"),
    ]);
    expect(bridge.events("broker.up")).toEqual([]);
    expect(agent.events("mqtt.connected")).toEqual([]);
    return { bridge: `${atBridge.error}: ${atBridge.hint}`, agent: `${atAgent.reason}: ${atAgent.hint}` };
  }

  test("the signing authority in the settings: both connect", async () => {
    const { bridge, agent } = start(broker.url, ours);
    await Promise.all([bridge.logged("broker.up"), agent.logged("mqtt.connected")]);
  });

  test("another authority in the settings: refused, and the setting is named", async () => {
    const words = await refused(start(broker.url, others));
    expect(words.bridge).toMatch(/has signed the broker's certificate: give MQTT_CA the PEM file/);
    expect(words.agent).toMatch(/has signed the broker's certificate: give ca in \[mqtt\] the PEM file/);
  });

  test("no authority in the settings: the system's authorities count", async () => {
    const { bridge, agent } = start(broker.url, undefined, { SSL_CERT_FILE: ours });
    await Promise.all([bridge.logged("broker.up"), agent.logged("mqtt.connected")]);
  });

  test("no authority in the settings, and the system does not know it: refused", async () => {
    const words = await refused(start(broker.url, undefined));
    expect(words.bridge).toContain("give MQTT_CA");
    expect(words.agent).toContain("give ca in [mqtt]");
  });

  test("a host name that is not in the certificate: refused, although the authority is right", async () => {
    const words = await refused(start(`mqtts://localhost:${broker.port}`, ours));
    for (const text of Object.values(words)) expect(text).toContain("is for another name");
  });
});
