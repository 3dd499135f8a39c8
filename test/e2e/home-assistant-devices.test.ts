// @module-tag needs/home-assistant
/**
 * Devices of a real Home Assistant, with a component whose devices obey, are dead, lie, answer late, hang or are away. The bridge hosts
 * them, and what it says of each command is compared with their states.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { usePlayedDevices } from "../../bridge/testkit/devices.ts";
import { until } from "../wait.ts";
import { HomeAssistant } from "./home-assistant.ts";

const START_WITHIN_MS = 240_000;
const LAB = 47;

const hosted = usePlayedDevices();
let home: HomeAssistant;
let token: string;

beforeAll(async () => {
  home = await HomeAssistant.start(["group", "template", "input_boolean"]);
  await home.addLab(0);
  const entities = await home.command<{ entity_id: string }[]>({ type: "config/entity_registry/list" });
  await home.command({
    type: "homeassistant/expose_entity",
    assistants: ["conversation"],
    entity_ids: entities.map((one) => one.entity_id),
    should_expose: true,
  });
  token = await home.addUser("bridge");
}, START_WITHIN_MS);

afterAll(async () => {
  await home?.stop();
});

/** A bridge whose Home has been told of all devices. */
async function started() {
  const url = `${home.url.replace("http", "ws")}/api/websocket`;
  const bridge = await hosted.started({ homeAssistant: { url, token: () => token } });
  await until(() => [...hosted.told().values()].filter(({ online }) => online).length >= LAB - 8, {
    within: 30_000,
    what: "Home knows the devices",
  });
  return bridge;
}

type Report = {
  status: string;
  confirmed?: boolean;
  result?: string;
  error?: string;
  error_type?: string;
};

async function call(agent: string, action: string, parameters: object = {}): Promise<Report> {
  const id = hosted.call(agent, action, parameters, { expires_in_ms: 90_000 });
  const { home: played } = hosted.played;
  const ended = await until(
    () =>
      played.frames.find(
        (frame) => "id" in frame && frame.id === id && (frame.t === "report" || frame.t === "refused"),
      ),
    { within: 80_000, what: `${agent} ${action}` },
  );
  if (ended.t === "refused") return { status: "refused", error: `${ended.code}: ${ended.message}` };
  if (ended.t !== "report") throw new Error(`not a report: ${ended.t}`);
  return (JSON.parse(ended.payload) as { payload: Report }).payload;
}

/** What is said of `on` of a switch and of a light that behave in this way. */
const SWITCHES: Readonly<Record<string, Partial<Report>>> = {
  works: { status: "success", confirmed: true },
  slow: { status: "success", confirmed: true },
  // It says that it is on: no one can know that it is not.
  liar: { status: "success", confirmed: true },
  revert: { status: "success", confirmed: true },
  optimistic: { status: "success", confirmed: false },
  dead: { status: "error", error_type: "outcome_unknown" },
  hang: { status: "error", error_type: "outcome_unknown" },
  late: { status: "error", error_type: "outcome_unknown" },
  raises: {
    status: "error",
    error: expect.stringContaining("the device did not acknowledge the command") as string,
  },
  timeout: { status: "error", error: expect.stringContaining("the device did not answer") as string },
  validation: { status: "error", error: expect.stringContaining("Nothing was sent") as string },
  away: { status: "refused", error: expect.stringContaining("unavailable") as string },
};

describe("each behaviour", () => {
  test("a switch and a light are told as their states say", async () => {
    await started();
    const all = Object.keys(SWITCHES).flatMap((behaviour) =>
      ["switch", "light"].map(async (kind) => {
        const report = await call(`${kind}-${behaviour}`, "set", { on: true });
        return [`${kind} ${behaviour}`, report] as const;
      }),
    );
    const said = Object.fromEntries(await Promise.all(all));
    for (const [behaviour, expected] of Object.entries(SWITCHES))
      for (const kind of ["switch", "light"])
        expect(said[`${kind} ${behaviour}`], `${kind} ${behaviour}`).toMatchObject(expected);
  }, 120_000);

  test("one that already is as asked: it says whether it answered", async () => {
    await started();
    expect(await call("switch-works", "set", { on: true })).toMatchObject({ confirmed: true });
    expect(await call("switch-works", "set", { on: true })).toMatchObject({ confirmed: true });
    expect(await call("switch-dead", "set", { on: false })).toMatchObject({ error_type: "outcome_unknown" });
  }, 120_000);

  test("values, movements and locks", async () => {
    await started();
    const done = { status: "success", confirmed: true };
    const not = { status: "error", error_type: "outcome_unknown" };
    const rows: [string, string, object, object][] = [
      ["light-works", "set", { brightness_pct: 40 }, done],
      ["number-works", "set", { value: 7.5 }, done],
      ["number-dead", "set", { value: 7.5 }, not],
      ["select-works", "set", { value: "b" }, done],
      ["select-dead", "set", { value: "b" }, not],
      ["climate-works", "set", { temperature: 21.5 }, done],
      ["climate-rounds", "set", { temperature: 21.5 }, { ...not, error: expect.stringContaining("22 °C") }],
      ["climate-dead", "set", { temperature: 21.5 }, not],
      ["cover-works", "open", {}, done],
      ["cover-stuck", "open", {}, { ...not, error: expect.stringContaining("40 %") }],
      ["lock-works", "unlock", {}, done],
      ["lock-code", "unlock", { code: "1234" }, done],
      ["button-works", "press", {}, { status: "success", confirmed: false }],
      ["button-raises", "press", {}, { status: "error" }],
    ];
    const said = await Promise.all(rows.map(([agent, action, asked]) => call(agent, action, asked)));
    for (const [at, [agent, action, , expected]] of rows.entries())
      expect(said[at], `${agent} ${action}`).toMatchObject(expected);
  }, 120_000);
});
