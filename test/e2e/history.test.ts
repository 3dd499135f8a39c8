/** A person asks when a door was open: model, Worker, bridge and broker are real programs, and the values stay at the bridge. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useStack } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-history-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the past of a door", () => {
  const stack = useStack({
    vars: { TIMEZONE: "Europe/Berlin", GATEWAY_TOOLS: "history" },
    bridge: { BRIDGE_STATE: folder },
  });
  const devices = new HostedDevices(stack);
  let publisher: PlayedPublisher;

  beforeAll(async () => {
    publisher = await PlayedPublisher.connect(stack.mqttUrl);
    await publisher.config("binary_sensor/front", {
      name: "Contact",
      unique_id: "front",
      device_class: "door",
      state_topic: "doors/front",
      device: { identifiers: ["front"], name: "Front door" },
    });
    await devices.known(["front-door"]);
  });
  afterAll(() => publisher?.stop());

  async function past(more: object): Promise<string> {
    const question = { agent_id: "front-door", reading: "Contact", ...more };
    const { answer } = await stack.gateway.ask(
      script({ calls: [{ name: "past", arguments: question }] }, { text: "$results" }),
      crypto.randomUUID(),
    );
    return answer ?? "";
  }

  const says = async (...states: ReadonlyArray<"ON" | "OFF">) => {
    for (const state of states) await publisher.say("doors/front", state);
  };

  test("a model counts, and is told when last and what is not known", async () => {
    await says("OFF", "ON", "OFF", "ON", "OFF");
    const text = await until(
      async () => {
        const said = await past({ ask: "count", is: "open", period: "today" });
        return said.includes("open 2 times") ? said : undefined;
      },
      { within: 30_000, every: 500, what: "two openings are counted" },
    );
    expect(text).toContain("Front door, Contact, ");
    expect(text).toContain("(Europe/Berlin)");
    expect(text).toMatch(/last open \d\d:\d\d, until \d\d:\d\d/);
    expect(text).toMatch(/Not known: .*\(no value had come\)/);
  });

  test("a chart is a picture of the conversation, and its words stand beside it", async () => {
    const question = { agent_id: "front-door", reading: "Contact", ask: "chart", period: "1 h" };
    const turn = await stack.gateway.ask(
      script({ calls: [{ name: "past", arguments: question }] }, { text: "$results" }),
      crypto.randomUUID(),
    );
    expect(turn.answer).toContain("The person sees the chart.");
    const [media] = (turn.calls[0] as { media?: Array<{ id: string; media_type: string }> }).media ?? [];
    expect(media).toMatchObject({ media_type: "image/png" });
    const stored = await stack.gateway.fetch(`/v1/media/${media?.id}`);
    expect(
      Buffer.from(await stored.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
  });

  test("the same over a new bridge, which goes on with its files", async () => {
    await stack.bridge.stop();
    const [log] = readdirSync(join(folder, "history"));
    expect(log).toMatch(/\.log$/);
    await stack.startBridge();
    await devices.known(["front-door"]);
    await says("OFF", "ON");
    const count = () => past({ ask: "count", is: "open", period: "today" });
    await until(async () => (await count()).includes("open 3 times"), {
      within: 30_000,
      every: 500,
      what: "three openings are counted",
    });
  });

  test("an agent that keeps readings of its own is asked itself", async () => {
    await stack.startAgent({ id: "cellar-pi", top: { history: { readings: ["memory"] } } });
    const question = { agent_id: "cellar-pi", reading: "memory used bytes", ask: "min_max", period: "today" };
    let text = "";
    const isKept = async () => {
      text = await past(question);
      return /highest \d+ B/.test(text);
    };
    await until(isKept, { within: 20_000, every: 500, what: "the agent's own readings" }).catch((error) => {
      throw new Error(`${error}: ${text}`);
    });
    expect(text).toContain("cellar-pi, memory used_bytes, ");
    expect(await past({ agent_id: "cellar-pi", reading: "nothing", ask: "last" })).toContain(
      "nothing is kept of 'nothing'; it has memory",
    );
  });

  test("with the bridge away it says that the past is at home", async () => {
    await stack.bridge.stop();
    await until(async () => (await past({ ask: "last" })).includes("kept at home"), {
      within: 30_000,
      every: 500,
    });
  });
});
