/** Values of devices over a real broker (aedes): what is told, and when a report confirms. The table with all kinds is in discovery/. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

const device = { identifiers: ["t"], name: "Thing" };

/** Announces an entity, starts the bridge, and lets the device say its first state. */
async function begin(kind: string, config: object, state: string, answer: (payload: string) => string) {
  const { publisher } = hosted;
  await publisher.on("t/set", (payload) => publisher.say("t/state", answer(payload)));
  const topics = { command_topic: "t/set", state_topic: "t/state" };
  await publisher.config(`${kind}/t`, { name: null, unique_id: "t", device, ...topics, ...config });
  const bridge = await hosted.started();
  await hosted.agentIn("thing");
  await publisher.say("t/state", state);
  await until(async () => (await read()).includes(" ago)"), { what: "the first state" });
  return bridge;
}

const call = (parameters: object, more: object = {}) =>
  hosted.report(hosted.call("thing", "set", parameters, more));
const read = async () => String((await hosted.report(hosted.call("thing", "read"))).result);

describe("what confirms", () => {
  test("V4: 985 W is not the 1000 W that were asked for", async () => {
    await begin("number", { min: 0, max: 3_000, unit_of_measurement: "W" }, "1000", () => "985");
    const report = await call({ value: 1_000 }, { expires_in_ms: 2_000 });
    expect(report).toMatchObject({ status: "error", error_type: "outcome_unknown" });
    expect(await read()).toMatch(/: 985 W \(/);
  });

  test("V3: 12345679 is not 12345680, and is told with all digits", async () => {
    let reported = "12345679";
    await begin("number", { min: 0, max: 100_000_000 }, "1", () => reported);
    const report = await call({ value: 12_345_680 }, { expires_in_ms: 2_000 });
    expect(report).toMatchObject({ status: "error", error_type: "outcome_unknown" });
    expect(await read()).toMatch(/: 12345679 \(/);
    reported = "12345680";
    expect(await call({ value: 12_345_680 })).toMatchObject({
      confirmed: true,
      result: expect.stringMatching(/^Thing: 12345680 \(it was: 12345679\), reported /),
    });
  });

  test("V5: 3000 K read back as 3003 K, the first time and the second", async () => {
    const light = {
      schema: "json",
      brightness: true,
      brightness_scale: 254,
      supported_color_modes: ["color_temp"],
      min_mireds: 153,
      max_mireds: 500,
    };
    await begin("light", light, '{"state":"ON","brightness":100,"color_temp":370}', (payload) =>
      JSON.stringify({ brightness: 100, ...JSON.parse(payload) }),
    );
    for (const _ of ["first", "second"])
      expect(await call({ kelvin: 3_000 })).toMatchObject({
        confirmed: true,
        result: expect.stringContaining("colour temperature 3003 K"),
      });
  });

  test("V15: a text that is cleared says so by its empty state", async () => {
    await begin("text", {}, "Dinner is ready", (payload) => payload);
    expect(await call({ value: "" })).toMatchObject({
      confirmed: true,
      result: expect.stringMatching(/^Thing: \(empty\), reported /),
    });
    expect(await read()).toMatch(/: \(empty\) \(/);
  });
});

test("V14: a password is set and confirmed, and no frame, file or line of the log has it", async () => {
  const bridge = await begin("text", { mode: "password" }, "s3cret-4711", (payload) => payload);
  expect(await call({ value: "n3w-4712" })).toMatchObject({
    confirmed: true,
    result: expect.stringMatching(/^Thing: \(not shown\), reported /),
  });
  expect(hosted.publisher.commands).toEqual([{ topic: "t/set", payload: "n3w-4712" }]);
  expect(await read()).toMatch(/: \(not shown\) \(/);
  played.home.send({ t: "states", id: "q", agents: ["thing"], all: true });
  await played.home.next("states");
  await bridge.stop();
  const names = readdirSync(hosted.folder, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const files = names.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8"));
  expect(files.length).toBeGreaterThan(0);
  expect(JSON.stringify([played.home.frames, played.logged, files])).not.toMatch(/s3cret|n3w-4712/);
});
