/** A bridge that begins before Home Assistant does: its devices are away then, and not gone. */
import { beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { TEST_MS, useActing, WITHIN_MS } from "../testkit/acting.ts";
import { PlayedAssistant } from "../testkit/assistant.ts";

const acting = useActing();
const { hosted } = acting;
const { played } = hosted;

async function assistantAt(port?: number): Promise<PlayedAssistant> {
  const assistant = await PlayedAssistant.start(["lamp"], port);
  played.after(() => assistant.stop());
  return assistant;
}

describe("Home Assistant is away when the bridge begins", {
  tags: ["needs/mosquitto"],
  timeout: TEST_MS,
}, () => {
  beforeEach(() => acting.dial(10));

  test("a rule on its light is not paused, also by a run, and runs when it is there", async () => {
    const first = await assistantAt();
    const env = { HA_URL: first.page, HA_TOKEN: first.token };
    const port = Number(new URL(first.page).port);
    await acting.run(env);
    const [dial, lamp] = [await acting.device("dial"), await acting.device("lamp")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(lamp)] });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.kill();
    await first.stop();
    played.home.frames.length = 0;
    await acting.run(env);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    const { run } = await acting.told(rule.id);
    expect(run).toMatchObject({ state: "stopped", why: "not_sent", steps: [{ outcome: "not_sent" }] });
    expect(run?.steps[0]?.text).toContain("not known here yet");
    await acting.turn(10);
    await acting.isIn(rule.id, "armed");
    const again = await assistantAt(port);
    await hosted.agentIn("lamp");
    await acting.turn(60);
    const done = await acting.ran(rule.id, ({ firing, state }) => firing === 2 && state !== "running");
    expect(done).toMatchObject({ state: "done", steps: [{ outcome: "confirmed" }] });
    expect(again.calls).toHaveLength(1);
    expect(acting.news().filter(({ paused }) => paused !== undefined)).toEqual([]);
  });

  test("a run that brings a value back by its end waits for it", async () => {
    const first = await assistantAt();
    const env = { HA_URL: first.page, HA_TOKEN: first.token };
    const port = Number(new URL(first.page).port);
    await acting.run(env);
    const [dial, lamp] = [await acting.device("dial"), await acting.device("lamp")];
    const rule = acting.rule({
      when: [acting.above(dial, 50)],
      do: [acting.step(lamp, { on: true }, { danger: "heat" })],
      over: "undo",
      at_most_minutes: 60,
    });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    await acting.turn(60);
    await acting.ran(rule.id, ({ steps }) => steps[0]?.outcome === "confirmed");
    await until(() => JSON.stringify(acting.content()).includes('"phase":"held"'), { within: WITHIN_MS });
    await acting.kill();
    await first.stop();
    await acting.run(env);
    await acting.turn(10);
    const isTried = () => JSON.stringify(acting.content()).includes('"why":"over"');
    await until(isTried, { within: WITHIN_MS, what: "the run ends" });
    const again = await assistantAt(port);
    again.say("lamp", "on");
    await until(() => again.calls.length > 0, { within: WITHIN_MS, what: "the light is told" });
    expect(again.calls).toMatchObject([{ service: "turn_off" }]);
    expect(await acting.ran(rule.id, ({ state }) => state !== "running")).toMatchObject({ state: "undone" });
  });
});
