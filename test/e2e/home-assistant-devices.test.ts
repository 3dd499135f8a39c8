// @module-tag needs/home-assistant
/**
 * Devices of a real Home Assistant, with a component whose devices obey, are dead, lie, answer late, hang or are away. The bridge hosts
 * them, and what it says of each command is compared with their states.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { usePlayedDevices } from "../../bridge/testkit/devices.ts";
import { until } from "../wait.ts";
import { HomeAssistant } from "./home-assistant.ts";
import { OF_EACH_DOMAIN } from "./home-assistant-domains.ts";

const START_WITHIN_MS = 240_000;
/** Devices of each behaviour, and plugs with a light and a switch that work. */
const LAB = 85;
const PLUGS = 100;
/** Of the first, those that are unavailable. */
const AWAY = 6;

const hosted = usePlayedDevices();
let home: HomeAssistant;
let token: string;

beforeAll(async () => {
  home = await HomeAssistant.start(["group", "template", "input_boolean"]);
  await home.addLab(0);
  await home.addLab(PLUGS);
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
  const isOnline = ({ online }: { online: boolean }) => online;
  await until(() => [...hosted.told().values()].filter(isOnline).length >= LAB + PLUGS - AWAY, {
    within: 30_000,
    every: 100,
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
  const id = hosted.call(agent, action, parameters, { expires_in_ms: 300_000 });
  const ended = () => endOf(id);
  return await until(ended, { within: 240_000, every: 20, what: `${agent} ${action}` });
}

const ends = new Map<string, Report>();
let read = 0;

/** Reads the frames to Home that came meanwhile, each once. */
function endOf(id: string): Report | undefined {
  const { frames } = hosted.played.home;
  if (read > frames.length) read = 0;
  for (; read < frames.length; read += 1) {
    const frame = frames[read];
    if (frame?.t === "refused")
      ends.set(frame.id, { status: "refused", error: `${frame.code}: ${frame.message}` });
    if (frame?.t === "report") ends.set(frame.id, (JSON.parse(frame.payload) as { payload: Report }).payload);
  }
  return ends.get(id);
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
      ...OF_EACH_DOMAIN,
    ];
    const said = await Promise.all(rows.map(([agent, action, asked]) => call(agent, action, asked)));
    for (const [at, [agent, action, , expected]] of rows.entries())
      expect.soft(said[at], `${agent} ${action}`).toMatchObject(expected);
  }, 120_000);
});

/** Those that are told as not done, or as only sent. */
const BAD = ["dead", "away", "raises", "timeout", "validation", "hang", "late", "optimistic"];
const AT_ONCE = 20;

test("1,000 commands, 200 of them to 16 bad targets: none is told done whose state is not as asked", async () => {
  await started();
  const plugs = [...hosted.told().keys()].filter((id) => id.includes("-plug-"));
  expect(plugs).toHaveLength(PLUGS);
  const bad = BAD.flatMap((behaviour) => [`switch-${behaviour}`, `light-${behaviour}`]);
  const asked = Array.from({ length: 1_000 }, (_, n) => {
    const isBad = n % 5 === 4;
    const round = Math.floor(n / 5);
    const agent = isBad ? bad[round % bad.length] : plugs[n % PLUGS];
    const isOn = Math.floor(round / (isBad ? bad.length : PLUGS / 4)) % 2 === 0;
    return { agent: agent ?? "", isBad, isOn };
  });
  const said = { good: 0, done: 0, false: [] as string[], missed: [] as string[], times: [] as number[] };
  const queue = asked.values();
  const work = async () => {
    for (const { agent, isBad, isOn } of queue) {
      const since = performance.now();
      const report = await call(agent, "set", { on: isOn });
      const kind = agent.startsWith("switch-") ? "switch" : "light";
      const isDone = report.confirmed === true;
      if (!isBad) said.times.push(performance.now() - since);
      if (isDone) said[isBad ? "done" : "good"] += 1;
      else if (!isBad) said.missed.push(`${agent}: ${report.error ?? report.result}`);
      const name = agent.replaceAll("-", " ");
      if (isDone && (await stateOf(kind, name)) !== (isOn ? "on" : "off")) said.false.push(agent);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  said.times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(said.times[Math.floor(said.times.length * share)] ?? 0);
  console.info(
    `done: ${said.good} of 800 good and ${said.done} of 200 bad; ms of the good: ${at(0.5)}, p99 ${at(0.99)}`,
  );
  expect(said.missed).toEqual([]);
  expect(said.false).toEqual([]);
  expect(said.good).toBe(800);
}, 600_000);

test("it is restarted in the middle of 20 calls: nothing false, nothing twice, and the first call after it works", async () => {
  await started();
  const plugs = [...hosted.told().keys()].filter((id) => id.includes("-plug-")).slice(0, 20);
  await Promise.all(plugs.map((agent) => call(agent, "set", { on: false })));
  // They answer after 250 ms.
  const calls = plugs.map((agent) => call(agent, "set", { on: true }));
  await new Promise((resolve) => setTimeout(resolve, 100));
  await home.restart();
  const said = await Promise.all(calls);
  // One that was not sent is refused; of one that was sent and not answered nothing is known.
  for (const report of said)
    if (report.confirmed !== true && report.status !== "refused")
      expect(report).toMatchObject({ status: "error", error_type: "outcome_unknown" });
  expect(said.filter(({ confirmed }) => confirmed === true).length).toBeLessThan(plugs.length);
  const [first = ""] = plugs;
  await until(() => hosted.told().get(first)?.online, { within: 180_000, what: `${first} is there again` });
  // The lab forgets its states: one that is on was told so after the start.
  for (const agent of plugs) expect(await stateOf("light", agent.replaceAll("-", " ")), agent).toBe("off");
  expect(await call(first, "set", { on: true })).toMatchObject({ confirmed: true });
}, 400_000);

/** @returns Home Assistant's own state of the entity of this kind with this name, whatever its letters' case */
async function stateOf(kind: string, name: string): Promise<string | undefined> {
  const states =
    await home.request<{ entity_id: string; state: string; attributes: { friendly_name?: string } }[]>(
      "/api/states",
    );
  return states.find(
    ({ entity_id, attributes }) =>
      entity_id.startsWith(`${kind}.`) && attributes.friendly_name?.toLowerCase() === name,
  )?.state;
}
