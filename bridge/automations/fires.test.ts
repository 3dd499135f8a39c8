/** A rule that acts from its value to its news: a real bridge program, Mosquitto and files. */
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
});
