/** Calls of hosted devices, with a real broker (aedes, MQTT 3.1.1): what is published, and what is said of it. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

/** A call whose confirmation is waited for so long. The rest is for the report. */
const within = (ms: number) => ({ expires_in_ms: ms + 500 });
const sent = (name: string, count: number) =>
  until(() => hosted.publisher.sentTo(name).length >= count, { what: `${count} commands of ${name}` });

/** A blind that does nothing by itself. */
async function blind(): Promise<void> {
  await hosted.publisher.on("blind/set", () => {});
  await hosted.publisher.config("cover/blind", {
    name: null,
    unique_id: "blind",
    command_topic: "blind/set",
    state_topic: "blind/state",
    device: { identifiers: ["blind"], name: "Blind" },
  });
}

const blindCommands = () =>
  hosted.publisher.commands.filter(({ topic }) => topic === "blind/set").map(({ payload }) => payload);

describe("a change", () => {
  test("of a device that does not answer is no success", async () => {
    await hosted.publisher.plug("a", { silent: true });
    await hosted.started();
    await hosted.agentIn("plug-a");
    const id = hosted.call("plug-a", "set", { on: true }, within(300));
    await sent("a", 1);
    const report = await hosted.report(id);
    expect(report).toMatchObject({ status: "error", error_type: "outcome_unknown", request_id: id });
    expect(report.error).toMatch(/^Error: Sent to Plug a; it did not confirm it within 0\.\d s\./);
    expect(report.advice).toMatch(/do not say that it is done/);
    expect(report).not.toHaveProperty("not_run");
  });

  test("of a device that answers after its time is told once more, and then not again", async () => {
    await hosted.publisher.plug("a", { silent: true });
    await hosted.started();
    await hosted.agentIn("plug-a");
    const id = hosted.call("plug-a", "set", { on: true }, within(300));
    expect(await hosted.report(id)).toMatchObject({ error_type: "outcome_unknown" });
    await hosted.publisher.say("plugs/a/state", "OFF");
    await hosted.publisher.say("plugs/a/state", "ON");
    const reports = () => played.home.of("report").filter((frame) => frame.id === id);
    await until(() => reports().length === 2, { what: "the late answer" });
    expect(JSON.parse(reports()[1]?.payload ?? "").payload).toMatchObject({
      request_id: id,
      status: "success",
      confirmed: true,
      result: expect.stringMatching(/on.*, reported \d/),
    });
    for (const state of ["OFF", "ON"]) await hosted.publisher.say("plugs/a/state", state);
    expect(await hosted.report(hosted.call("plug-a", "read"))).toMatchObject({ status: "success" });
    expect(reports()).toHaveLength(2);
  });

  test("of a device that answers after its time is not told when a later command is under way", async () => {
    await hosted.publisher.plug("a", { silent: true });
    await hosted.started();
    await hosted.agentIn("plug-a");
    const first = hosted.call("plug-a", "set", { on: true }, within(300));
    await hosted.report(first);
    const second = hosted.call("plug-a", "set", { on: false }, within(600));
    await sent("a", 2);
    await hosted.publisher.say("plugs/a/state", "ON");
    await hosted.report(second);
    expect(played.home.of("report").filter(({ id }) => id === first)).toHaveLength(1);
  });

  test("is not confirmed by what was said before, by another value, by what the broker kept, or by our own command", async () => {
    await hosted.publisher.plug("a", { silent: true });
    await hosted.publisher.plug("same", { sameTopic: true });
    await hosted.publisher.say("plugs/a/state", "ON", true);
    await hosted.started();
    await hosted.agentIn("plug-same");
    const first = hosted.call("plug-a", "set", { on: true }, within(500));
    await sent("a", 1);
    // Somebody else switched it off.
    await hosted.publisher.say("plugs/a/state", "OFF");
    expect(await hosted.report(first)).toMatchObject({
      error_type: "outcome_unknown",
      error: expect.stringMatching(/it did not confirm it/),
    });
    const second = hosted.call("plug-same", "set", { on: true }, within(500));
    await sent("same", 1);
    expect(await hosted.report(second)).not.toMatchObject({ confirmed: true });
  });

  test("of something that never reports is a success that nobody confirms", async () => {
    await hosted.publisher.on("bell/set", () => {});
    await hosted.publisher.config("button/bell", {
      unique_id: "bell",
      command_topic: "bell/set",
      device: { identifiers: ["bell"], name: "Bell" },
    });
    await hosted.started();
    await hosted.agentIn("bell");
    expect(await hosted.report(hosted.call("bell", "press"))).toMatchObject({
      status: "success",
      confirmed: false,
      result: expect.stringMatching(/^Sent to Bell\. It does not report back/),
    });
    expect(hosted.publisher.commands).toEqual([{ topic: "bell/set", payload: "PRESS" }]);
  });

  test("whose command is retained is kept by the broker", async () => {
    await hosted.publisher.plug("a", { retain: true });
    await hosted.started();
    await hosted.agentIn("plug-a");
    expect(await hosted.report(hosted.call("plug-a", "set", { on: true }))).toMatchObject({
      confirmed: true,
    });
    const late = await (await import("mqtt")).connectAsync(played.broker.url);
    played.after(() => late.endAsync(true));
    const kept: boolean[] = [];
    late.on("message", (_topic, _payload, packet) => kept.push(packet.retain));
    await late.subscribeAsync("plugs/a/set");
    await until(() => kept.length > 0);
    expect(kept).toEqual([true]);
  });
});

describe("a device that takes back what it confirmed", () => {
  /** The payloads of all reports of a call. */
  const reportsOf = (id: string) =>
    played.home
      .of("report")
      .filter((frame) => frame.id === id)
      .map(({ payload }) => (JSON.parse(payload) as { payload: object }).payload);

  async function confirmed(): Promise<string> {
    await hosted.publisher.plug("a");
    await hosted.started();
    await hosted.agentIn("plug-a");
    const id = hosted.call("plug-a", "set", { on: true });
    expect(await hosted.report(id)).toMatchObject({ status: "success", confirmed: true });
    return id;
  }

  test("is told of once more, in place of that, and of the bridge that comes next if Home has not stored it", async () => {
    const id = await confirmed();
    played.home.send({ t: "ack", id, agent: "plug-a" });
    await hosted.publisher.say("plugs/a/state", "OFF");
    const [, second] = await until(() => reportsOf(id).length > 1 && reportsOf(id), { what: "the second" });
    expect(second).toMatchObject({
      status: "error",
      error_type: "execution_failed",
      error: "Error: Plug a reported on, and took it back. It reports: off.",
      confirmed: false,
      corrects: true,
      reported: [{ value: false }],
      request_id: id,
    });
    played.home.drop();
    await until(() => reportsOf(id).length === 3, { what: "it comes again" });
  });

  test("is not, when it is a moment's state, or what another command asked for", async () => {
    const id = await confirmed();
    await hosted.publisher.say("plugs/a/state", "OFF");
    await hosted.publisher.say("plugs/a/state", "ON");
    await hosted.report(hosted.call("plug-a", "set", { on: false }));
    // Another one that takes it back later is told of: what was to come of the first would have come.
    await hosted.publisher.plug("b");
    await hosted.agentIn("plug-b");
    const later = hosted.call("plug-b", "set", { on: true });
    await hosted.report(later);
    await hosted.publisher.say("plugs/b/state", "OFF");
    await until(() => reportsOf(later).length === 2, { what: "the other one is corrected" });
    expect(reportsOf(id)).toHaveLength(1);
  });
});

describe("nothing is sent", () => {
  test("for wrong parameters, an unknown action, another hash than the allowed one, a device that is away or unknown", async () => {
    await hosted.publisher.plug("a");
    await hosted.started();
    const { hosted: state } = await hosted.agentIn("plug-a");
    expect(await hosted.report(hosted.call("plug-a", "set", { on: "yes" }))).toMatchObject({
      error_type: "invalid_params",
      error: expect.stringMatching(/^Error: on:/),
    });
    expect(await hosted.report(hosted.call("plug-a", "explode"))).toMatchObject({
      error_type: "not_found",
      error: expect.stringContaining("read, set"),
    });
    expect(
      await hosted.refused(hosted.call("plug-a", "set", { on: true }, { allow: "another" })),
    ).toMatchObject({
      code: "invalid",
      message: expect.stringMatching(/^Plug a has changed since it was allowed/),
    });
    // The same words for another topic are another device.
    await hosted.publisher.on("elsewhere/set", () => {});
    await hosted.publisher.plug("a", { more: { command_topic: "elsewhere/set" } });
    await until(() => hosted.told().get("plug-a")?.hosted?.allow !== state?.allow);
    expect(
      await hosted.refused(hosted.call("plug-a", "set", { on: true }, { allow: state?.allow })),
    ).toMatchObject({
      code: "invalid",
    });
    await hosted.publisher.say("plugs/a/up", "offline", true);
    await hosted.agentIn("plug-a", false);
    expect(await hosted.refused(hosted.call("plug-a", "set", { on: true }))).toMatchObject({
      code: "agent_offline",
      message: expect.stringMatching(/Plug a is offline/),
    });
    expect(await hosted.refused(hosted.call("plug-b", "set", { on: true }))).toMatchObject({
      code: "agent_offline",
    });
    expect(hosted.publisher.commands).toEqual([]);
  });

  test("without a folder for the ledger: the device is only read, and the words say why", async () => {
    await hosted.publisher.plug("a");
    await hosted.started({ folder: undefined });
    expect((await hosted.agentIn("plug-a")).hosted?.mode).toBe("read");
    expect(await hosted.report(hosted.call("plug-a", "set", { on: true }))).toMatchObject({
      error_type: "permission_denied",
      error: expect.stringContaining("BRIDGE_STATE"),
    });
    expect(await hosted.report(hosted.call("plug-a", "read"))).toMatchObject({ status: "success" });
    expect(played.log("devices.no_folder")).toBeDefined();
    expect(hosted.publisher.commands).toEqual([]);
  });

  test("with other commands than a call of an action; a ping is answered", async () => {
    await hosted.publisher.plug("a");
    await hosted.started();
    await hosted.agentIn("plug-a");
    const command = (name: string) => {
      const id = randomUUID();
      const payload = JSON.stringify({ command: name, payload: { prompt: "Hello" }, request_id: id });
      played.home.send({ t: "call", id, agent: "plug-a", payload, expires_in_ms: 5_000 });
      return id;
    };
    expect(await hosted.report(command("ping"))).toMatchObject({ pong: true });
    expect(await hosted.report(command("prompt"))).toMatchObject({
      error: expect.stringContaining("unknown command: prompt"),
    });
  });
});

describe("several calls", () => {
  test("of one device run one after the other, of two at once; a read does not wait", async () => {
    for (const name of ["a", "b"]) await hosted.publisher.plug(name, { silent: true });
    await hosted.started();
    await hosted.agentIn("plug-b");
    const first = hosted.call("plug-a", "set", { on: true });
    await sent("a", 1);
    const second = hosted.call("plug-a", "set", { on: false });
    const other = hosted.call("plug-b", "set", { on: true });
    await sent("b", 1);
    expect(await hosted.report(hosted.call("plug-a", "read"))).toMatchObject({ status: "success" });
    await played.home.next("taken", ({ id }) => id === second);
    expect(hosted.publisher.sentTo("a")).toEqual(["ON"]);
    await hosted.publisher.say("plugs/a/state", "ON");
    expect(await hosted.report(first)).toMatchObject({ confirmed: true });
    await sent("a", 2);
    await hosted.publisher.say("plugs/a/state", "OFF");
    await hosted.publisher.say("plugs/b/state", "ON");
    expect(await hosted.report(second)).toMatchObject({ confirmed: true });
    expect(await hosted.report(other)).toMatchObject({ confirmed: true });
    expect(hosted.publisher.sentTo("a")).toEqual(["ON", "OFF"]);
  });

  test("a stop does not wait for what moves, and what had not begun is not sent", async () => {
    await blind();
    await hosted.started();
    await hosted.agentIn("blind");
    const open = hosted.call("blind", "open");
    await until(() => blindCommands().length === 1);
    const close = hosted.call("blind", "close");
    const stop = hosted.call("blind", "stop");
    await until(() => blindCommands().length === 2);
    expect(blindCommands()).toEqual(["OPEN", "STOP"]);
    expect(await hosted.report(open)).toMatchObject({
      error_type: "outcome_unknown",
      error: expect.stringContaining("a later call stopped it"),
    });
    expect(await hosted.report(close)).toMatchObject({ not_run: true });
    await hosted.publisher.say("blind/state", "stopped");
    expect(await hosted.report(stop)).toMatchObject({ status: "success", confirmed: true });
  });

  test.each<[what: string, stop: () => string, end: object]>([
    [
      "of a device that changed since it was allowed",
      () => hosted.call("blind", "stop", {}, { allow: "of another" }),
      { code: "invalid" },
    ],
    ["whose time is over", () => hosted.call("blind", "stop", {}, within(0)), { code: "expired" }],
  ])("a stop %s ends no wait", async (_, call, end) => {
    await blind();
    await hosted.started();
    await hosted.agentIn("blind");
    const open = hosted.call("blind", "open");
    await until(() => blindCommands().length === 1);
    const close = hosted.call("blind", "close");
    const stop = call();
    expect(await played.home.next("refused", ({ id }) => id === stop)).toMatchObject(end);
    await hosted.publisher.say("blind/state", "open");
    expect(await hosted.report(open)).toMatchObject({ status: "success", confirmed: true });
    await until(() => blindCommands().length === 2);
    await hosted.publisher.say("blind/state", "closed");
    expect(await hosted.report(close)).toMatchObject({ status: "success", confirmed: true });
    expect(blindCommands()).toEqual(["OPEN", "CLOSE"]);
  });

  test("a stop with a wrong parameter ends no wait", async () => {
    await blind();
    await hosted.started();
    await hosted.agentIn("blind");
    const open = hosted.call("blind", "open");
    await until(() => blindCommands().length === 1);
    const stop = hosted.call("blind", "stop", { gently: true });
    expect(await hosted.report(stop)).toMatchObject({ error_type: "invalid_params" });
    await hosted.publisher.say("blind/state", "open");
    expect(await hosted.report(open)).toMatchObject({ status: "success", confirmed: true });
    expect(blindCommands()).toEqual(["OPEN"]);
  });

  test("a stop that the device does not have ends no wait", async () => {
    await hosted.publisher.plug("a", { silent: true });
    await hosted.started();
    await hosted.agentIn("plug-a");
    const set = hosted.call("plug-a", "set", { on: true });
    await sent("a", 1);
    const stop = hosted.call("plug-a", "stop");
    await played.home.next("taken", ({ id }) => id === stop);
    await hosted.publisher.say("plugs/a/state", "ON");
    expect(await hosted.report(set)).toMatchObject({ confirmed: true });
    expect(await hosted.report(stop)).toMatchObject({ error_type: "not_found" });
  });

  test("cancelled ones say what is known", async () => {
    await hosted.publisher.plug("a", { silent: true });
    await hosted.started();
    await hosted.agentIn("plug-a");
    const first = hosted.call("plug-a", "set", { on: true });
    await sent("a", 1);
    const second = hosted.call("plug-a", "set", { on: false });
    await played.home.next("taken", ({ id }) => id === second);
    hosted.cancel("plug-a", second);
    expect(await hosted.report(second)).toMatchObject({
      not_run: true,
      error: expect.stringContaining("Nothing was run"),
    });
    hosted.cancel("plug-a", first);
    expect(await hosted.report(first)).toMatchObject({
      error_type: "outcome_unknown",
      error: expect.stringMatching(/^Error: Sent to Plug a, and cancelled after/),
    });
    expect(hosted.publisher.sentTo("a")).toEqual(["ON"]);
  });

  test("with one id are one: while it waits, when it is reported, and when Home has the report", async () => {
    await hosted.publisher.plug("a", { silent: true });
    await hosted.started();
    await hosted.agentIn("plug-a");
    const id = hosted.call("plug-a", "set", { on: true });
    await sent("a", 1);
    hosted.resend(id, "plug-a", "set", { on: true });
    await until(() => played.log("call.repeated"));
    await hosted.publisher.say("plugs/a/state", "ON");
    expect(await hosted.report(id)).toMatchObject({ confirmed: true });
    hosted.resend(id, "plug-a", "set", { on: true });
    await until(() => played.home.of("report").length === 2);
    const [one, two] = played.home.of("report");
    expect(two).toEqual(one);
    played.home.send({ t: "ack", id, agent: "plug-a" });
    hosted.resend(id, "plug-a", "set", { on: true });
    await until(() => played.home.of("report").length === 3);
    expect(JSON.parse(played.home.of("report")[2]?.payload ?? "")).toMatchObject({
      payload: { error_type: "outcome_unknown", error: expect.stringContaining("is not sent again") },
    });
    expect(hosted.publisher.sentTo("a")).toEqual(["ON"]);
  });

  test("a report that Home has not stored comes again: at a reconnect, and after a restart", async () => {
    await hosted.publisher.plug("a");
    const bridge = await hosted.started();
    await hosted.agentIn("plug-a");
    const id = hosted.call("plug-a", "set", { on: true });
    const report = await hosted.report(id);
    played.home.drop();
    await until(() => played.home.of("report").length === 2);
    await bridge.stop();
    played.home.frames.length = 0;
    await hosted.started();
    expect(await hosted.report(id)).toEqual(report);
    played.home.send({ t: "ack", id, agent: "plug-a" });
    await hosted.report(hosted.call("plug-a", "read"));
    played.home.frames.length = 0;
    played.home.drop();
    await played.home.next("snapshot", (frame) => frame.last);
    await hosted.report(hosted.call("plug-a", "read"));
    expect(played.home.of("report").map((frame) => frame.id)).not.toContain(id);
    expect(hosted.publisher.sentTo("a")).toEqual(["ON"]);
  });
});
