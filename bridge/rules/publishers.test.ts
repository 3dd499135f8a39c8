/** A real publisher at a real broker: rtl_433, which hears a freezer's thermometer. */
import type { WatchCondition } from "@edgecall/core/protocol/rules.ts";
import { describe, expect, test } from "vitest";
import { startRtl433 } from "../../test/publishers/rtl-433.ts";
import { until } from "../../test/wait.ts";
import { findMosquitto, PlayedMosquitto } from "../testkit/brokers.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

/** Programs start slowly on a busy machine. */
const WITHIN_MS = 120_000;

describe("rtl_433", { tags: ["needs/mosquitto", "needs/publishers", "needs/rtl-433"] }, () => {
  const hosted = usePlayedDevices(() => PlayedMosquitto.start(findMosquitto() ?? ""));
  const { played } = hosted;

  test(
    "a freezer of −18.2 °C that warms past −15 °C is told once, and when it is cold again",
    async () => {
      played.home.rules = true;
      const rtl = await startRtl433(Number(new URL(played.broker.url).port));
      played.after(() => rtl.stop());
      await hosted.started();
      const hears = (temperature: number) => rtl.hear({ id: 90, channel: 1, temperature, humidity: 40 });
      hears(-18.2);
      const { hosted: of } = await until(
        () => [...hosted.told().values()].find(({ id, online }) => id.startsWith("nexus-th") && online),
        { within: WITHIN_MS, what: "the thermometer" },
      );
      const agent = [...hosted.told().keys()].find((id) => id.startsWith("nexus-th")) ?? "";
      const temperature = async () => {
        const id = crypto.randomUUID();
        played.home.send({ t: "states", id, agents: [agent] });
        const { devices } = await played.home.next("states", (frame) => frame.id === id);
        return devices[0]?.readings.find((one) => one.class === "temperature");
      };
      const isRead = (value: number) =>
        until(
          async () => {
            const reading = await temperature();
            if (reading?.value === value) return reading;
            hears(value);
            return undefined;
          },
          { within: WITHIN_MS, every: 2_000, what: `${value} °C` },
        );
      const reading = await isRead(-18.2);
      const condition: WatchCondition = {
        id: "w-0001",
        version: 1,
        reading: reading.name,
        type: "number",
        is: "above",
        value: -15,
        ...(reading.unit !== undefined && { unit: reading.unit }),
        hysteresis: 0.3,
        hold_ms: 0,
        clear_hold_ms: 0,
        repeat: "each_time",
        tell_own: false,
      };
      played.home.send({ t: "rules", set: [{ condition, device: of?.key ?? "" }], drop: [] });
      for (const value of [-17, -15.2, -14.8, -13]) await isRead(value);
      const changes = () => played.home.of("changes").flatMap((frame) => frame.changes);
      const fired = await until(() => changes()[0], { within: WITHIN_MS });
      expect(fired).toMatchObject({ state: "firing", value: -14.8, unit: "°C" });
      played.home.send({ t: "changed", upto: { "w-0001": 1 } });
      await isRead(-18);
      await until(() => changes().some(({ seq }) => seq === 2), { within: WITHIN_MS });
      expect(changes().map(({ seq, state }) => [seq, state])).toEqual([
        [1, "firing"],
        [2, "idle"],
      ]);
    },
    3 * WITHIN_MS,
  );
});
