/** Devices of a real broker (aedes, MQTT 3.1.1) as agents, with a WebSocket server that plays Home. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

const allOnline = (count: number) =>
  until(() => [...hosted.told().values()].filter(({ online }) => online).length === count, {
    what: `${count} devices are online`,
  });

describe("devices as agents", () => {
  test("a plug: what Home is told, a read, a change that its state confirms", async () => {
    await hosted.publisher.plug("a");
    await hosted.started();
    await hosted.agentIn("plug-a");
    const state = hosted.told().get("plug-a");
    expect(state).toMatchObject({
      foreign: false,
      hosted: { mode: "allow", name: "Plug a", area: "Kitchen", key: expect.stringMatching(/^\w{32}$/) },
    });
    expect(JSON.parse(state?.capabilities ?? "")).toMatchObject({
      agent_type: "mqtt-device",
      capabilities: expect.stringContaining("Kitchen"),
      features: expect.arrayContaining(["hosted", "cancel"]),
    });
    const tools = JSON.parse(state?.tools ?? "") as { tools: { name: string; effect: string }[] };
    expect(tools.tools.map(({ name, effect }) => [name, effect])).toEqual([
      ["read", "read"],
      ["set", "device"],
    ]);

    const set = hosted.call("plug-a", "set", { on: true }, { allow: state?.hosted?.allow });
    expect(await hosted.report(set)).toMatchObject({
      request_id: set,
      status: "success",
      confirmed: true,
      result: expect.stringMatching(/^Plug a: on.*, reported \d\.\d s after the command\.$/),
    });
    const [report] = played.home.of("report");
    expect(JSON.parse(report?.payload ?? "")).toMatchObject({
      agent_id: "plug-a",
      agent_type: "mqtt-device",
      report_type: "result",
      route: "r",
    });
    expect(hosted.publisher.sentTo("a")).toEqual(["ON"]);

    expect(await hosted.report(hosted.call("plug-a", "read"))).toMatchObject({
      status: "success",
      result: expect.stringMatching(/on \(/),
      tainted: false,
    });
  });

  test("a hundred configs in a burst: one frame; a new device later: one more", async () => {
    await hosted.started();
    played.home.frames.length = 0;
    const configs = Array.from({ length: 100 }, (_, n) => {
      const device = Math.floor(n / 5);
      return hosted.publisher.config(`sensor/node${device}/s${n}`, {
        name: `Value ${n}`,
        unique_id: `s${n}`,
        state_topic: `values/${device}`,
        value_template: `{{ value_json.v${n} }}`,
        availability_topic: `values/${device}/up`,
        device: { identifiers: [`d${device}`], name: `Sensor ${device}` },
      });
    });
    const ups = Array.from({ length: 20 }, (_, n) => hosted.publisher.say(`values/${n}/up`, "online", true));
    await Promise.all([...configs, ...ups]);
    await hosted.agentIn("sensor-19");
    expect(played.home.frames.map(({ t }) => t)).toEqual(["agents"]);
    expect([...hosted.told().values()].filter(({ online }) => online)).toHaveLength(20);

    played.home.frames.length = 0;
    await hosted.publisher.plug("late");
    await hosted.agentIn("plug-late");
    expect(hosted.crossed()).toEqual(["agents plug-late"]);
  });

  test("80 devices that report all the time: nothing crosses the socket", async () => {
    const names = Array.from({ length: 80 }, (_, n) => `c${n}`);
    await Promise.all(names.map((name) => hosted.publisher.plug(name)));
    await hosted.started();
    await allOnline(80);
    played.home.frames.length = 0;
    for (let round = 0; round < 50; round += 1)
      await Promise.all(
        names.map((name) => hosted.publisher.say(`plugs/${name}/state`, round % 2 ? "ON" : "OFF")),
      );
    // The broker keeps the order: with this device, all of it has come.
    await hosted.publisher.plug("marker");
    await hosted.agentIn("plug-marker");
    expect(hosted.crossed()).toEqual(["agents plug-marker"]);
    played.home.send({ t: "states", id: "q", agents: ["plug-c79"] });
    const { devices } = await played.home.next("states");
    expect(devices).toMatchObject([{ id: "plug-c79", readings: [{ value: true, text: "on" }] }]);
  });

  test("a snapshot has all of them as they are: at the start, and when the gateway was away", async () => {
    const names = Array.from({ length: 30 }, (_, n) => `p${n}`);
    await Promise.all(names.map((name) => hosted.publisher.plug(name)));
    await hosted.started();
    const whole = ["hello", "snapshot"];
    expect(hosted.crossed()).toEqual(whole);
    expect([...hosted.told().values()].filter(({ online }) => online)).toHaveLength(30);
    played.home.frames.length = 0;
    played.home.drop();
    await played.home.next("snapshot", (frame) => frame.last);
    expect(hosted.crossed()).toEqual(whole);
    expect([...hosted.told().values()].filter(({ online }) => online)).toHaveLength(30);
  });

  test("what comes and goes together is told together", async () => {
    const names = Array.from({ length: 30 }, (_, n) => `p${n}`);
    await Promise.all(names.map((name) => hosted.publisher.plug(name)));
    await hosted.started();
    await allOnline(30);
    played.home.frames.length = 0;
    await Promise.all(names.map((name) => hosted.publisher.say(`plugs/${name}/up`, "offline", true)));
    await hosted.agentIn("plug-p29", false);
    await until(() => [...hosted.told().values()].every(({ online }) => !online));
    // The second judgement, if the first one came in the middle.
    expect(played.home.frames.length).toBeLessThanOrEqual(2);
    expect(hosted.told().get("plug-p3")?.reason).toMatch(/not available/);
    // Home has the texts.
    for (const frame of played.home.of("agents"))
      for (const agent of frame.agents) expect(agent.kept).toEqual(["capabilities", "tools"]);
  });

  test("what removes its configs together is gone in one frame, with the one that comes in its place", async () => {
    const names = Array.from({ length: 30 }, (_, n) => `p${n}`);
    await Promise.all(names.map((name) => hosted.publisher.plug(name)));
    await hosted.started();
    await allOnline(30);
    played.home.frames.length = 0;
    await Promise.all([
      ...names.map((name) => hosted.publisher.config(`switch/${name}`, "")),
      hosted.publisher.plug("new"),
    ]);
    await hosted.agentIn("plug-new");
    expect(hosted.crossed()).toEqual(["agents plug-new"]);
    expect(played.home.of("agents")[0]?.gone?.toSorted()).toEqual(names.map((name) => `plug-${name}`).sort());
  });

  test("a device that removed its config is gone; one that comes back has its id and its key", async () => {
    await hosted.publisher.plug("a");
    const bridge = await hosted.started();
    await hosted.agentIn("plug-a");
    const key = hosted.told().get("plug-a")?.hosted?.key;
    await hosted.publisher.config("switch/a", "");
    await played.home.next("gone", ({ agent }) => agent === "plug-a");
    await bridge.stop();
    played.home.frames.length = 0;

    await hosted.publisher.plug("a", {
      more: { device: { identifiers: ["plug-a"], name: "Another name" } },
    });
    await hosted.started();
    await hosted.agentIn("plug-a");
    expect(hosted.told().get("plug-a")?.hosted).toMatchObject({ key, name: "Another name" });
  });

  test("a lamp that names a lock's topic is told as dangerous, also when the lock comes later", async () => {
    await hosted.publisher.plug("lamp");
    await hosted.started();
    const before = await hosted.agentIn("plug-lamp");
    const dangersOf = (text = "{}") => {
      const { tools } = JSON.parse(text) as { tools: { name: string; danger?: true; danger_why?: string }[] };
      return tools.flatMap(({ name, danger, danger_why }) => (danger ? [`${name}: ${danger_why}`] : []));
    };
    expect(dangersOf(before.tools)).toEqual([]);
    await hosted.publisher.config("lock/door", {
      unique_id: "door",
      command_topic: "plugs/lamp/set",
      state_topic: "door/state",
      device: { identifiers: ["door"], name: "Front door" },
    });
    await hosted.agentIn("front-door");
    expect(dangersOf(hosted.told().get("plug-lamp")?.tools)).toEqual([
      "set: it shares a topic with something else: it is a lock",
    ]);
  });

  test("values are known after a restart, with their age", async () => {
    await hosted.publisher.plug("a");
    const bridge = await hosted.started();
    await hosted.agentIn("plug-a");
    await hosted.publisher.say("plugs/a/state", "ON");
    const now = async (id: string) => {
      played.home.send({ t: "states", id, agents: ["plug-a", "nobody"] });
      const { devices, last } = await played.home.next("states", (frame) => frame.id === id);
      expect(last).toBe(true);
      return devices;
    };
    const before = await until(async () => {
      const devices = await now(randomUUID());
      return devices[0]?.readings[0]?.value === true && devices;
    });
    await bridge.stop();
    played.home.frames.length = 0;
    await hosted.started();
    await hosted.agentIn("plug-a");
    expect(await now("again")).toEqual(before);
  });

  test("a gateway that does not know devices is sent none", async () => {
    played.home.devices = false;
    await hosted.publisher.plug("a");
    await played.agent("pi");
    await hosted.started();
    await until(() => hosted.told().get("pi")?.online);
    expect([...hosted.told().keys()]).toEqual(["pi"]);
    expect(played.home.of("hello")[0]?.features).toContain("devices");
  });

  test("an agent of the broker has its name before a device", async () => {
    await hosted.publisher.plug("a");
    await hosted.started();
    await hosted.agentIn("plug-a");
    await played.agent("plug-a");
    await until(() => hosted.told().get("plug-a")?.hosted === undefined);
    await hosted.agentIn("plug-a-2");
    const key = hosted.told().get("plug-a-2")?.hosted?.key;
    expect(key).toBeDefined();
    // A call reaches the agent, and none goes to the device in its place.
    played.call("plug-a");
    await played.home.next("taken");
    expect(hosted.publisher.commands).toEqual([]);
  });

  test("an agent that the home does not serve takes no device's name, and gets none of its calls", async () => {
    played.home.unsigned = [];
    await hosted.publisher.plug("a");
    await hosted.started();
    const { hosted: before } = await hosted.agentIn("plug-a");
    const stranger = await played.agent("plug-a");
    await hosted.publisher.plug("b");
    await hosted.agentIn("plug-b");
    expect(hosted.told().get("plug-a")?.hosted).toEqual(before);
    expect(await hosted.report(hosted.call("plug-a", "set", { on: true }))).toMatchObject({
      confirmed: true,
    });
    expect(stranger.commands).toEqual([]);
    // Once it has a key, it is the home's agent, and the device has another name.
    played.home.send({ t: "keys", keys: [{ id: "plug-a", key: "k".repeat(43), n: 0 }] });
    await hosted.agentIn("plug-a-2");
    expect(hosted.told().get("plug-a-2")?.hosted).toMatchObject({ key: before?.key });
  });

  test("with the setting off nothing is subscribed to, and nothing is told", async () => {
    await hosted.publisher.plug("a");
    await played.agent("pi");
    played.start({ devices: undefined });
    await until(() => hosted.told().get("pi")?.online);
    expect([...hosted.told().keys()]).toEqual(["pi"]);
    expect(played.home.of("hello")[0]?.features).not.toContain("devices");
  });

  test("the start is announced to publishers only if the settings want it", async () => {
    const births: string[] = [];
    await hosted.publisher.on("homeassistant/status", (payload) => births.push(payload));
    await hosted.publisher.plug("a");
    const quiet = await hosted.started();
    await hosted.agentIn("plug-a");
    await quiet.stop();
    expect(births).toEqual([]);
    await hosted.started({ birth: true });
    await until(() => births.length > 0);
    expect(births).toEqual(["online"]);
  });

  test("what is left out of the broker's descriptions is told with the readings, in the last frame", async () => {
    await hosted.publisher.plug("a");
    await hosted.publisher.config("hologram/odd", {
      name: null,
      unique_id: "odd",
      device: { identifiers: ["odd"] },
    });
    await hosted.started();
    await hosted.agentIn("plug-a");
    played.home.send({ t: "states", id: "q1" });
    expect(await played.home.next("states", ({ id }) => id === "q1")).toMatchObject({
      devices: [{ id: "plug-a" }],
      last: true,
      left_out: [{ why: "the kind of the config is not known", count: 1 }],
    });
  });

  test("a ghost that a person forgets is gone, and nothing is published", async () => {
    await hosted.publisher.plug("a");
    await hosted.started();
    await hosted.agentIn("plug-a");
    const key = hosted.told().get("plug-a")?.hosted?.key ?? "";
    played.home.send({ t: "forget_device", key });
    await played.home.next("gone", ({ agent }) => agent === "plug-a");
    // It is there again with its next message.
    await hosted.publisher.say("plugs/a/state", "ON");
    await hosted.agentIn("plug-a");
    expect(hosted.publisher.commands).toEqual([]);
  });
});
