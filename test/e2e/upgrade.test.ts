/** Homes of earlier versions, as their programs left them, with today's programs and without manual steps. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PlayedPublisher } from "../../bridge/testkit/publisher.ts";
import { PNG } from "../platforms/server.ts";
import { FakeTelegram } from "../platforms/telegram.ts";
import { type Step, script, startScriptedModel } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { HostedDevices } from "./hosted-devices.ts";
import { useKeptHome } from "./kept-home.ts";

/** The pictures of a turn: those of its calls, and those of its person. */
type Shown = { calls: Array<{ media?: Array<{ id: string }> }>; images?: string[] };

const HOW = { tags: ["needs/linux"], timeout: 120_000 };

describe("a home of 0.2.0", HOW, () => {
  const home = useKeptHome("0.2.0", (home) => home.start());

  test("upgrades without a manual step: token, conversations, questions, device", async () => {
    const { gateway } = home();
    const { api } = JSON.parse(home().read("home/tokens.json")) as { api: string };
    expect(home().out).toContain(api);

    const before = await gateway.turns("kept");
    expect(before.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(before.map(({ answer }) => answer)).toEqual([
      expect.stringContaining("RAM 15% used"),
      expect.stringContaining("RAM 10% used"),
    ]);
    // The waiting turn ends, because its question has expired.
    const ended = () =>
      gateway.turns("waiting").then((turns) => turns.every(({ status }) => status !== "running"));
    await until(ended, { within: 60_000, every: 200, what: "the turn that waited ends" });

    await gateway.online("eye", 60_000);
    expect(await gateway.agent("eye")).toMatchObject({ version: VERSION, online: true });
    expect((await gateway.command("eye", "ping")).status).toBe(200);
    expect((await gateway.ask("How much memory is in use on eye?", "kept")).answer).toMatch(
      /^eye, memory: \d+ % used /,
    );
    expect(await gateway.turns("kept")).toHaveLength(3);
    expect(home().read("eye/state/key.json")).toBe(home().keyOfEye);
  });
});

describe.each(["0.3.0", "0.4.0"] as const)("a home of %s", HOW, async (version) => {
  const OWNER = 1001;
  const PICTURE = "data:image/png 118";
  const model = await startScriptedModel();
  const telegram = await FakeTelegram.start();
  let publisher: PlayedPublisher;
  let devices: HostedDevices;
  const home = useKeptHome(version, async (home) => {
    home.movesTelegram(telegram.server.url);
    home.postponesQuestions();
    await home.start({
      LLM_BASE_URL: model.url,
      LLM_MODEL: "scripted",
      GATEWAY_TOOLS: "rules",
      TIMEZONE: "Europe/Berlin",
      // The home is as old as the version.
      MEDIA_KEEP_DAYS: "3650",
      AGENTS_KEEP_DAYS: "3650",
    });
  });
  beforeAll(async () => {
    publisher = await PlayedPublisher.connect(home().broker);
    devices = new HostedDevices(home());
    const ids = [await publisher.plug("lamp"), await publisher.plug("radio")];
    await devices.known(ids);
    for (const name of ["lamp", "radio"]) await publisher.say(`plugs/${name}/state`, "OFF");
    await home().gateway.online("eye", 60_000);
  });
  afterAll(() => Promise.all([publisher?.stop(), telegram.server.close(), model.close()]));

  const calls = (agent_id: string, action: string, params?: object): Step => ({
    calls: [{ arguments: { agent_id, action, ...(params && { params }) } }],
  });
  const json = async <T>(path: string): Promise<T> => (await (await home().gateway.fetch(path)).json()) as T;
  const heard = (words: RegExp) =>
    until(() => telegram.chat(OWNER).find(({ text }) => words.test(text.replaceAll("\u2060", ""))), {
      within: 60_000,
      what: `${words} in the chat`,
    });
  const modeOf = async (device: string) => (await devices.list()).find(({ id }) => id === device)?.mode;
  const questions = async () =>
    (await json<{ questions: Array<{ id: string; conversation: string; agent: string }> }>("/v1/questions"))
      .questions;

  test("has its tokens, its bridge and its devices, which keep their keys", async () => {
    const { gateway, kept, keyOfEye } = home();
    expect(home().out).toContain((JSON.parse(home().read("home/tokens.json")) as { api: string }).api);
    const headers = { authorization: `Bearer ${kept.tablet}` };
    expect((await fetch(`${gateway.url}/v1/conversations`, { headers })).status).toBe(200);
    expect((await fetch(`${gateway.url}/v1/tokens`, { headers })).status).toBe(403);
    const { bridge } = await json<{ bridge: object }>("/v1/status");
    expect(bridge).toMatchObject({ online: true, version: VERSION });
    expect(bridge).not.toHaveProperty("problem");
    expect(await gateway.agent("eye")).toMatchObject({ version: VERSION, online: true });
    expect((await gateway.command("eye", "ping")).status).toBe(200);
    expect(home().read("eye/state/key.json")).toBe(keyOfEye);
  });

  test("has its conversations, and one whose model called tools goes on", async () => {
    const { gateway } = home();
    const before = await gateway.turns("kept");
    expect(before).toMatchObject([
      {
        text: expect.stringContaining("How much memory and disk is in use on eye?"),
        status: "done",
        answer: expect.stringMatching(/^eye says: RAM .* \| .* ext4/),
        calls: [
          { agent: "eye", action: "memory", status: "success" },
          { agent: "eye", action: "disk", status: "success" },
        ],
      },
      {
        status: "done",
        answer: expect.stringContaining("There is no fan: Error: Invalid parameters"),
        calls: [
          { action: "fan", status: "error" },
          { action: "cpu", status: "success" },
        ],
      },
    ]);
    const goesOn = script(calls("eye", "memory"), { text: "Now: $results" });
    expect((await gateway.ask(goesOn, "kept")).answer).toMatch(/^Now: RAM /);
    const [request] = model.requests.filter(({ question }) => question === goesOn);
    const said = request?.messages.filter(({ role }) => role === "assistant" || role === "tool");
    expect(said).toMatchObject([
      { content: "I look at both.", tool_calls: [{}, {}] },
      { content: expect.stringContaining("RAM") },
      { content: expect.stringContaining("ext4") },
      { content: before[0]?.answer },
      { tool_calls: [{}] },
      { content: expect.stringContaining("has no action 'fan'") },
      { tool_calls: [{}] },
      { content: expect.stringContaining("CPU") },
      { content: before[1]?.answer },
    ]);
  });

  test("L1: what a model's reply carries goes back beside rows that have nothing of the kind", async () => {
    const { gateway } = home();
    const name = "edge_call";
    const args = JSON.stringify({ agent_id: "eye", action: "memory" });
    const thinking = { reasoning_content: "I look again." };
    const deltas = [
      thinking,
      { tool_calls: [{ index: 0, id: "functions.edge_call:9", function: { name, arguments: args } }] },
    ];
    const chunks = deltas.map((delta) => ({ choices: [{ index: 0, delta }] }));
    const ends = { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
    const raw = [...chunks, ends].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
    const thinks = script({ raw }, { text: "Again: $results" });
    expect((await gateway.ask(thinks, "kept")).answer).toMatch(/^Again: RAM /);
    const next = script({ text: "Well." });
    await gateway.ask(next, "kept");
    for (const asked of [thinks, next]) {
      const said = model.requests
        .findLast(({ question }) => question === asked)
        ?.messages.filter(({ role }) => role === "assistant");
      const thoughts = said?.filter((message) => "reasoning_content" in message);
      expect(thoughts).toMatchObject([{ ...thinking, tool_calls: [{ id: "functions.edge_call:9" }] }]);
      expect(said?.length).toBeGreaterThan(5);
    }
  });

  test("shows its pictures to people and to the model", async () => {
    const { gateway } = home();
    const turns = (await gateway.turns("pictures")) as Shown[];
    const ids = turns.flatMap(({ calls, images = [] }) => [
      ...calls.flatMap(({ media = [] }) => media.map(({ id }) => id)),
      ...images.map((image) => image.replace("media:", "")),
    ]);
    expect(ids).toHaveLength(2);
    for (const id of ids) {
      const response = await gateway.fetch(`/v1/media/${id}`);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect(Buffer.from(await response.arrayBuffer())).toEqual(PNG);
    }
    const { answer } = await gateway.ask(script({ text: "I still see $pictures" }), "pictures");
    expect(answer).toBe(`I still see ${PICTURE}, ${PICTURE}`);
  });

  test("still allows what was allowed: the lamp is switched without a question", async () => {
    expect(await modeOf("plug-lamp")).toBe("allowed");
    const turn = await home().gateway.ask(
      script(calls("plug-lamp", "set", { on: true }), { text: "$results" }),
      "lamp",
    );
    expect(turn.answer).toMatch(/^Plug lamp: on/);
    expect(publisher.sentTo("lamp")).toEqual(["ON"]);
  });

  test("watches what it watched, tells it in the chat, and asks what it asked", async () => {
    const { gateway } = home();
    const { rules } = await json<{ rules: object[] }>("/v1/rules");
    expect(rules).toHaveLength(2);
    expect(rules).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "Radio on", status: "active" }),
        expect.objectContaining({
          name: "water the roses",
          status: "active",
          condition: "every day at 07:00",
        }),
      ]),
    );
    // By somebody's hand: what the home itself switches is not told.
    await publisher.say("plugs/radio/state", "ON");
    await heard(/Radio on: /);
    await publisher.say("plugs/radio/state", "OFF");

    const [question, ...more] = await questions();
    expect(more).toEqual([]);
    expect(question).toMatchObject({ conversation: "waiting", agent: "plug-radio" });
    expect(publisher.sentTo("radio")).toEqual([]);
    expect(await modeOf("plug-radio")).toBe("ask");
    const [turn] = await gateway.turns("waiting");
    // The model of that time has played the first step of the script.
    const played = { model: "scripted", messages: [{ role: "user", content: turn?.text }] };
    await fetch(`${model.url}/chat/completions`, { method: "POST", body: JSON.stringify(played) });
    expect(await gateway.answer(question?.id ?? "", "approve")).toBe(200);
    expect(await gateway.settled("waiting", turn?.turn ?? "")).toMatchObject({
      status: "done",
      answer: expect.stringMatching(/^It said: Plug radio: on/),
    });
    expect(publisher.sentTo("radio")).toEqual(["ON"]);
    // A yes is for one call.
    expect(await modeOf("plug-radio")).toBe("ask");
  });

  test("answers in its chat, whose person it knows and whose photo it shows to the model", async () => {
    const from = { id: OWNER, is_bot: false, first_name: "Ada" };
    const text = script({ text: "Still here: $pictures" });
    const message = { message_id: 900, from, chat: { id: OWNER, type: "private" }, text };
    telegram.push({ update_id: 900, message });
    await heard(new RegExp(`^Still here: ${PICTURE}$`));
    expect(telegram.chat(OWNER).some(({ text }) => text.includes("I do not know you"))).toBe(false);
  });

  test("sends its model valid histories alone", () => {
    expect(model.breaches).toEqual([]);
  });
});
