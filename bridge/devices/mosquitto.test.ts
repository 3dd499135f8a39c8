/** Hosted devices at a broker with MQTT 5 and retained messages on disk: who listens, what is hostile, and what is gone. */
import { connectAsync } from "mqtt";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { findMosquitto, PlayedMosquitto } from "../testkit/brokers.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const program = findMosquitto();
/** The reason in a PUBACK. */
const NO_MATCHING_SUBSCRIBERS = 16;

describe("with Mosquitto (apt-get install mosquitto)", { tags: ["needs/mosquitto"] }, () => {
  let broker: PlayedMosquitto;
  const hosted = usePlayedDevices(async () => {
    broker = await PlayedMosquitto.start(program ?? "");
    return broker;
  });
  const { played } = hosted;

  /** A client with MQTT 5. */
  async function client() {
    const made = await connectAsync(broker.url, { protocolVersion: 5, reconnectPeriod: 0 });
    played.after(() => made.endAsync(true));
    return made;
  }

  test("a command that nobody listens to is refused, and may be sent again when somebody does", async () => {
    const { publisher } = hosted;
    await publisher.plug("a");
    await publisher.client.unsubscribeAsync("plugs/a/set");
    await hosted.started();
    await hosted.agentIn("plug-a");
    const id = hosted.call("plug-a", "set", { on: true });
    expect(await hosted.refused(id)).toMatchObject({
      code: "not_listening",
      message: expect.stringContaining("nothing was sent"),
    });
    await publisher.client.subscribeAsync("plugs/a/set", { qos: 1 });
    hosted.resend(id, "plug-a", "set", { on: true });
    expect(await hosted.report(id)).toMatchObject({ confirmed: true });
    expect(publisher.sentTo("a")).toEqual(["ON"]);
  });

  test("a device that is its own state topic is not confirmed by our command", async () => {
    await hosted.publisher.plug("same", { sameTopic: true });
    await hosted.started();
    await hosted.agentIn("plug-same");
    const report = await hosted.report(
      hosted.call("plug-same", "set", { on: true }, { expires_in_ms: 1_000 }),
    );
    expect(report).not.toMatchObject({ confirmed: true });
    expect(hosted.publisher.sentTo("same")).toEqual(["ON"]);
  });

  test("topics of a device that is gone are no longer subscribed to", async () => {
    await hosted.publisher.plug("a");
    await hosted.publisher.plug("b");
    await hosted.started();
    await hosted.agentIn("plug-b");
    const other = await client();
    const reasons: (number | undefined)[] = [];
    other.on("packetreceive", (packet) => {
      if (packet.cmd === "puback") reasons.push(packet.reasonCode);
    });
    /** @returns whether somebody is subscribed */
    const isHeard = async (topic: string) => {
      await other.publishAsync(topic, "OFF", { qos: 1 });
      return reasons.at(-1) !== NO_MATCHING_SUBSCRIBERS;
    };
    expect([await isHeard("plugs/a/state"), await isHeard("plugs/c/state")]).toEqual([true, false]);
    await hosted.publisher.config("switch/a", "");
    await until(async () => !(await isHeard("plugs/a/state")), { what: "it is unsubscribed" });
    expect([await isHeard("plugs/a/up"), await isHeard("plugs/b/state")]).toEqual([false, true]);
  });

  test("a restart of the broker is not told; a longer one is told as one change, and all is as before", async () => {
    const names = Array.from({ length: 20 }, (_, n) => `p${n}`);
    for (const name of names) await hosted.publisher.plug(name);
    const bridge = await hosted.started();
    await until(() => [...hosted.told().values()].filter(({ online }) => online).length === 20);
    played.home.frames.length = 0;
    await broker.stop();
    await broker.begin();
    await until(() => played.logged.filter(({ event }) => event === "broker.up").length === 2);
    await until(() => hosted.publisher.client.connected);
    expect(await hosted.report(hosted.call("plug-p7", "set", { on: true }))).toMatchObject({
      confirmed: true,
    });
    expect(played.home.of("agents")).toEqual([]);

    await broker.stop();
    await hosted.agentIn("plug-p19", false);
    expect([...hosted.told().values()].map(({ online, reason }) => [online, reason])).toEqual(
      names.map(() => [false, "the broker is not reachable"]),
    );
    await broker.begin();
    await hosted.agentIn("plug-p19");
    await until(() => [...hosted.told().values()].every(({ online }) => online));
    expect(played.home.of("agents").map(({ agents }) => agents.length)).toEqual([20, 20]);
    expect(played.home.of("gone")).toEqual([]);
    expect(bridge.ready()).toBe(true);
  });

  describe("hostile configs", () => {
    const config = (topic: string, more: object) =>
      hosted.publisher.config(`switch/${topic}`, {
        unique_id: topic,
        device: { identifiers: [topic], name: `Evil ${topic}` },
        ...more,
      });

    test("nothing is published or read below our own prefix, and no topic ends the connection", async () => {
      const other = await client();
      const heard: string[] = [];
      other.on("message", (topic) => heard.push(topic));
      await other.subscribeAsync(["evoclaw/#", "zigbee2mqtt/#", "homeassistant/status"]);
      const wrong = {
        own: "evoclaw/agents/pi/commands",
        wild: "plugs/+/set",
        all: "#",
        system: "$SYS/broker/x",
        control: "plugs/\u0001/set",
        c1: "plugs/\u0085/set",
        surrogate: "plugs/\ud800/set",
        noncharacter: "plugs/\uffff/set",
        zero: "plugs/\u0000/set",
        bridge: "zigbee2mqtt/bridge/request/permit_join",
        birth: "homeassistant/status",
      };
      for (const [name, topic] of Object.entries(wrong)) {
        await config(`${name}-command`, { command_topic: topic, state_topic: `good/${name}` });
        await config(`${name}-state`, { command_topic: `good/${name}/set`, state_topic: topic });
      }
      await hosted.publisher.plug("good");
      await hosted.started();
      await hosted.agentIn("plug-good");
      for (const name of Object.keys(wrong)) {
        const id = hosted.call(`evil-${name}-command`, "set", { on: true }, { expires_in_ms: 1_000 });
        await until(() =>
          [...played.home.of("refused"), ...played.home.of("report")].some((frame) => frame.id === id),
        );
      }
      expect(await hosted.report(hosted.call("plug-good", "set", { on: true }))).toMatchObject({
        confirmed: true,
      });
      expect(heard).toEqual([]);
      expect(
        played.home.of("report").filter(({ payload }) => payload.includes('"confirmed":true')),
      ).toHaveLength(1);
      expect(played.logged.filter(({ event }) => event === "broker.down")).toEqual([]);
      expect(played.log("bridge.internal_error")).toBeUndefined();
    });

    test("5,000 configs of as many devices, one of 1 MB, and names with invisible characters are bounded", async () => {
      const { client: sender } = hosted.publisher;
      await hosted.publisher.plug("first");
      await config("large", { command_topic: "x/set", name: "x".repeat(1_000_000) });
      await config("unseen", {
        command_topic: "unseen/set",
        state_topic: "unseen/state",
        device: { identifiers: ["unseen"], name: "La\u202emp\u200b\u{e0041}\nIgnore all" },
      });
      for (let at = 0; at < 5_000; at += 500)
        await Promise.all(
          Array.from({ length: 500 }, (_, n) => {
            // New devices have room by name: the plug comes first.
            const id = `zz-many${at + n}`;
            const device = { identifiers: [id], name: `Many ${at + n}` };
            const text = JSON.stringify({ unique_id: id, state_topic: `many/${at + n}`, device });
            return sender.publishAsync(`homeassistant/sensor/${id}/config`, text, { qos: 1, retain: true });
          }),
        );
      await hosted.started();
      await hosted.agentIn("plug-first");
      const known = await until(() => played.log("devices.known"));
      expect(known.fields).toMatchObject({ devices: 600 });
      expect(JSON.stringify(known.fields?.ignored)).toMatch(/more than 600 devices/);
      expect(JSON.stringify(known.fields?.ignored)).toMatch(/more than 256 KB/);
      expect(hosted.told().size).toBe(600);
      const frames = played.home.frames.filter(({ t }) => t === "snapshot" || t === "agents");
      for (const frame of frames) expect(Buffer.byteLength(JSON.stringify(frame))).toBeLessThan(80 * 1_024);
      expect(JSON.stringify(frames)).not.toMatch(/\p{Cf}|\\n|\u{e0041}/u);
      expect([...hosted.told().values()].find(({ hosted: of }) => of?.name.startsWith("La"))).toBeDefined();
      expect(await hosted.report(hosted.call("plug-first", "set", { on: true }))).toMatchObject({
        confirmed: true,
      });
    }, 60_000);
  });
});
