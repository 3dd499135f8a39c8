/** A rule that acts from its value to its news: a real bridge program, Mosquitto and files. */

import { nextMoment } from "@edgecall/core/automations/times.ts";
import type { AutomationTime } from "@edgecall/core/protocol/automation.ts";
import { describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { TEST_MS, useActing, WITHIN_MS } from "../testkit/acting.ts";

const acting = useActing();
const { hosted } = acting;

describe("a rule", { tags: ["needs/mosquitto"], timeout: TEST_MS }, () => {
  test("acts when its value comes, is confirmed by the device, and is told with its maker's words", async () => {
    await acting.dial(10);
    await hosted.publisher.plug("fan");
    await acting.run();
    const [dial, fan] = [await acting.device("dial"), await acting.device("plug-fan")];
    const rule = acting.rule({ when: [acting.above(dial, 50)], do: [acting.step(fan)], say: "It is hot." });
    acting.place(rule);
    await acting.isIn(rule.id, "armed");
    expect(hosted.publisher.sentTo("fan")).toEqual([]);
    await acting.turn(60);
    const { run, n } = await acting.told(rule.id);
    expect(run).toMatchObject({ firing: 1, state: "done", steps: [{ step: 0, outcome: "confirmed" }] });
    expect(run?.because[0]).toContain("60");
    expect(hosted.publisher.sentTo("fan")).toEqual(["ON"]);
    hosted.played.home.send({ t: "news_stored", upto: n });
    await until(() => (acting.content().news as unknown[]).length === 0, { within: WITHIN_MS });
    expect(hosted.played.home.of("report")).toEqual([]);
  });

  test("of a time alone acts at that time, also where nothing else happens at home", async () => {
    await hosted.publisher.plug("porch");
    await acting.run();
    const porch = await acting.device("plug-porch");
    const time = { of: "sunset" as const, minutes: 0 };
    // The second one comes to a bridge that has looked at presence and clock for the first.
    for (const count of [1, 2]) {
      const place = placeOf(time, Date.now() + 5_000);
      const rule = acting.rule({ when: [], at: time, place, do: [acting.step(porch)] });
      acting.place(rule);
      await acting.isIn(rule.id, "armed");
      await until(() => hosted.publisher.sentTo("porch").length === count, { within: WITHIN_MS });
    }
  });
});

/** The place at the equator at which that moment of the sun is next, to a second. */
function placeOf(at: AutomationTime, wanted: number): { lat: number; lon: number } {
  const lateAt = (lon: number) => {
    const moment = nextMoment({ at, zone: "UTC", place: { lat: 0, lon } }, wanted);
    return (moment?.at ?? Number.POSITIVE_INFINITY) - wanted;
  };
  // The sun moves a degree in 240 s.
  const lons = Array.from({ length: 90_000 }, (_, n) => n / 250 - 180);
  const first =
    Array.from({ length: 360 }, (_, n) => n - 180).toSorted((a, b) => lateAt(a) - lateAt(b))[0] ?? 0;
  const near = lons.filter((lon) => Math.abs(lon - first) <= 1);
  return { lat: 0, lon: near.toSorted((a, b) => lateAt(a) - lateAt(b))[0] ?? first };
}
