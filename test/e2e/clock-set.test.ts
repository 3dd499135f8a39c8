/** O11: the clock of a bridge's and of an agent's machine is set while they run, as on a Pi without a clock chip when NTP arrives. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { HostedDevices } from "./hosted-devices.ts";
import type { Program } from "./program.ts";
import { useStack } from "./stack.ts";

const HOUR = 3_600_000;
const JUMPS = [
  ["3 h ahead", 3 * HOUR],
  ["3 h back", -3 * HOUR],
  ["1 year ahead", 365 * 24 * HOUR],
  ["1 year back", -365 * 24 * HOUR],
] as const;

const folder = mkdtempSync(join(tmpdir(), "edgecall-clock-"));
afterAll(() => rmSync(folder, { recursive: true }));
const CLOCK = {
  NODE_OPTIONS: `--import=${fileURLToPath(new URL("../settable-clock.mjs", import.meta.url))}`,
  CLOCK_SET_BY: join(folder, "by"),
};
/** Since its start; 0: as it was. */
function setClock(program: Program, by: number): void {
  writeFileSync(CLOCK.CLOCK_SET_BY, String(by));
  program.signal("SIGUSR2");
}

const stack = useStack({ bridge: CLOCK }, async (stack) => {
  const env = { ...CLOCK, EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: "/dev/null" };
  await stack.startAgent({ id: "pi", env });
  await stack.gateway.online("pi");
});
afterEach(() => {
  for (const program of [stack.bridge, stack.agent("pi")]) setClock(program, 0);
});

describe.each(JUMPS)("O11: a clock that is set %s", (name, by) => {
  test("at the bridge makes no device silent, no value older, and ends no call", async () => {
    const publisher = await PlayedPublisher.connect(stack.mqttUrl);
    const id = `meter-${name.replaceAll(" ", "-")}`;
    await publisher.config(`sensor/${id}`, {
      name: "Power",
      unique_id: id,
      state_topic: `${id}/state`,
      unit_of_measurement: "W",
      device_class: "power",
      expire_after: 600,
      device: { identifiers: [id], name: id },
    });
    const devices = new HostedDevices(stack);
    const meter = async () => (await devices.list()).find((device) => device.id === id);
    await until(meter, { within: 30_000, what: "the meter is known" });
    await until(
      async () => {
        await publisher.say(`${id}/state`, "7");
        const seen = await meter();
        return seen?.online && seen.readings[0]?.value === 7;
      },
      { within: 30_000, every: 500, what: "it is online with its value" },
    );
    setClock(stack.bridge, by);
    await stack.bridge.logged("devices.clock_set", (line) => line.by_s === Math.round(by / 1_000));
    // It judges its devices each second.
    const { text } = await devices.ask(id, "read");
    expect(text).toMatch(/Power: 7 W \(\d+ s ago\)/);
    expect(await meter()).toMatchObject({ online: true });
    expect((await stack.gateway.command("pi", "ping")).body.payload?.pong).toBe(true);
    await publisher.config(`sensor/${id}`, "");
    await publisher.stop();
  });

  test("at an agent ends neither its connection nor a question that waits for a person", async () => {
    const agent = stack.agent("pi");
    const conversation = crypto.randomUUID();
    const turn = stack.gateway.ask(script(action("pi", "append", { text: "x" }), RESULTS), conversation);
    const question = await stack.gateway.question(conversation);
    const births = agent.events("mqtt.connected").length;
    setClock(agent, by);
    expect((await stack.gateway.command("pi", "ping")).body.payload?.pong).toBe(true);
    await stack.gateway.answer(question.id, "approve");
    expect((await turn).answer).toMatch(/^appended /);
    expect(agent.events("mqtt.connected")).toHaveLength(births);
  });
});
