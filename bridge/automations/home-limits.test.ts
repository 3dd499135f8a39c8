/** The limits of all rules of a home together, at a real bridge: commands of one device, and of all, in an hour. Ends are sent in any case. */
import type { AllowedAutomation } from "@edgecall/core/protocol/automation.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { TEST_MS, useActing, WITHIN_MS } from "../testkit/acting.ts";

const acting = useActing();
const { hosted } = acting;

/** Rules of six steps that make 60 commands. */
const RULES = 10;
const STEPS = 6;

describe("rules of a home", { tags: ["needs/mosquitto"], timeout: 2 * TEST_MS }, () => {
  beforeEach(() => acting.dial(10));

  /** @returns rules that tell each of these devices 60 times to be on, as soon as it is above 50 °C. The first one ends with "off". */
  async function hot(...names: string[]): Promise<AllowedAutomation[]> {
    const dial = await acting.device("dial");
    const devices = await Promise.all(names.map((name) => acting.device(`plug-${name}`)));
    return devices.flatMap((device) =>
      Array.from({ length: RULES }, (_, n) =>
        acting.rule({
          when: [acting.above(dial, 50)],
          do: Array.from({ length: STEPS }, () => acting.step(device)),
          ...(n === 0 && { over: "off", end: [acting.step(device, { on: false })] }),
        }),
      ),
    );
  }

  /** A rule above 70 °C: the lamp, and then another device. */
  async function hotter(name: string, end = false): Promise<AllowedAutomation> {
    const [dial, lamp, other] = [
      await acting.device("dial"),
      await acting.device("plug-lamp"),
      await acting.device(`plug-${name}`),
    ];
    return acting.rule({
      when: [acting.above(dial, 70)],
      do: [acting.step(lamp), acting.step(other)],
      ...(end && { over: "off", end: [acting.step(lamp, { on: false })] }),
    });
  }

  async function placed(...rules: AllowedAutomation[]): Promise<void> {
    acting.place(...rules);
    for (const { id } of rules) await acting.isIn(id, "armed");
  }

  const sent = (...names: string[]) => names.flatMap((name) => hosted.publisher.sentTo(name));

  test("tell a device at most 60 commands an hour, whichever rules they are of; its end is sent, and so are others' commands", async () => {
    await hosted.publisher.plug("fan");
    await hosted.publisher.plug("lamp");
    await acting.run();
    const rules = await hot("fan");
    const last = await hotter("fan");
    await placed(...rules, last);
    await acting.turn(60);
    await until(() => sent("fan").length === RULES * STEPS, { within: WITHIN_MS, what: "60 commands" });
    await acting.turn(80);
    const { run } = await acting.told(last.id);
    expect(run).toMatchObject({ why: "limits", steps: [{ step: 0, outcome: "confirmed" }] });
    expect(sent("lamp")).toEqual(["ON"]);
    expect(sent("fan")).toEqual(Array.from({ length: RULES * STEPS }, () => "ON"));
    // Its counters are on the disk.
    await acting.kill();
    await acting.run();
    await acting.turn(10);
    await until(() => sent("fan").at(-1) === "OFF", { within: WITHIN_MS, what: "the end" });
    expect(sent("fan")).toHaveLength(RULES * STEPS + 1);
  });

  test("send at most 300 commands an hour, to whichever devices; ends are sent", async () => {
    const names = ["a", "b", "c", "d", "e"];
    for (const name of [...names, "lamp", "fan"]) await hosted.publisher.plug(name);
    await acting.run();
    const [first, ...rules] = await hot(...names);
    if (!first) throw new Error("no rules");
    // The lamp's command is one of the 300.
    const lamp = await hotter("lamp", true);
    const own = { ...first, do: first.do.slice(0, STEPS - 2) };
    const last = await hotter("fan");
    await placed(own, ...rules, lamp);
    await acting.turn(60);
    await until(() => sent(...names).length === 298, { within: 2 * WITHIN_MS, what: "298 commands" });
    await acting.turn(80);
    await acting.ran(lamp.id, ({ steps }) => steps.length === 2);
    expect(sent("lamp")).toEqual(["ON", "ON"]);
    await acting.turn(60);
    // It was above before, so it has to be below first.
    await placed(last);
    await acting.turn(80);
    const { run } = await acting.told(last.id);
    expect(run).toMatchObject({ why: "limits", steps: [] });
    expect(sent("fan")).toEqual([]);
    await acting.turn(10);
    const ended = () => sent("lamp").at(-1) === "OFF" && names.every((name) => sent(name).at(-1) === "OFF");
    await until(ended, { within: WITHIN_MS, what: "six ends" });
    expect(sent(...names, "lamp", "fan").filter((one) => one === "ON")).toHaveLength(300);
  });
});
