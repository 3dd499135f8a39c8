/** Plain sentences in a real home: acts, questions and what is said without a model. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { device, hosting, READ, reading, reported, SET, UNLOCK } from "../../../test/hosted-device.ts";
import { languageFiles } from "../../../test/language-files.ts";
import { modelRequests } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf } from "../../../test/states.ts";
import { hold, stop } from "../../../test/stopping.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { answerQuestion } from "../../../test/turns.ts";
import { setVariables } from "../../../test/variables.ts";
import { until } from "../../../test/wait.ts";
import { ask, say, type TestBridge } from "../../../test/workerd.ts";
import { Home } from "../../home.ts";

afterEach(reset);

const WITHOUT_MODEL = { LLM_BASE_URL: "", LLM_MODEL: "", LLM_MODELS: "", AI: undefined };

/** A test's own variables come after these. */
beforeEach(() => setVariables({ ASSETS: languageFiles }));

const on = { value: true, kind: "light" };
const confirmed = (id: string, value: boolean) => ({
  status: "success",
  result: `${id}: it was done.`,
  tainted: false,
  confirmed: true,
  reported: [{ ...on, value }],
});

async function home(more: Parameters<typeof device>[1] = {}): Promise<TestBridge> {
  const kitchen = { area: "Kitchen" };
  const bridge = await hosting([
    device("kitchen-light", { line: "light (brightness) · Kitchen", hosted: kitchen, ...more }),
    device("counter-light", { line: "light (brightness) · Kitchen", hosted: kitchen }),
    device("freezer", { line: "sensor (temperature)", tools: [READ] }),
    device("front-door", {
      line: "lock",
      tools: [READ, { ...SET, name: "lock", parameters: READ.parameters }, UNLOCK],
    }),
  ]);
  for (const id of ["kitchen-light", "counter-light", "front-door"])
    await ask(`/v1/devices/${id}`, {
      method: "PATCH",
      body: JSON.stringify({ mode: "allowed", allow: `allow-${id}` }),
    });
  bridge.onStates = ({ agents = [] }) =>
    [
      reported("kitchen-light", reading("Kitchen light", true, { kind: "light", text: "on" })),
      reported("counter-light", reading("Counter light", false, { kind: "light", text: "off" })),
      reported(
        "freezer",
        reading("Temperature", -18.4, { unit: "°C", class: "temperature", at: Date.now() }),
      ),
      reported("front-door", reading("Front door", "locked", { kind: "lock", at: Date.now() })),
    ].filter(({ id }) => agents.length === 0 || agents.includes(id));
  return bridge;
}

describe("without a model", () => {
  beforeEach(() => setVariables(WITHOUT_MODEL));

  test("an act is done when the device's own state says so", async () => {
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, false);
    const { body } = await say("act", "turn off the kitchen light");
    expect(body).toMatchObject({ status: "done", answer: "Kitchen light: off.", model: "edgecall" });
    expect(bridge.calls().map(({ agent }) => agent)).toEqual(["kitchen-light"]);
    expect(body.usage).toEqual({ input_tokens: 0, output_tokens: 0 });
    expect(body).toMatchObject({ metrics: { iterations: 0, calls: 1 } });
    const counted = async () =>
      (await (await ask("/metrics")).text()).match(/turns_without_model_total\{[^}]*\} (\d+)/)?.[1];
    await until(async () => (await counted()) === "1", { what: "the turn is counted" });
  });

  test("what an owner may do about it is said in the answer's language, and to nobody else", async () => {
    await home();
    const { body } = await say("german", "Bitte erzähle mir jetzt eine Geschichte");
    expect(body).toMatchObject({ status: "failed", error: { code: "no_model" } });
    expect(body.answer).toMatch(/Wähle ein Modell in der Konsole \(Einrichtung, Modell\)[^\n]*$/);
    expect(body.answer).not.toContain("model");
    const other = await say("guest", "Bitte erzähle mir jetzt eine Geschichte", { token: TOKENS.member });
    expect(other.body.answer).toContain("Es ist kein Modell eingerichtet");
    expect(other.body.answer).not.toContain("LLM_BASE_URL");
  });

  test("a device that does not answer is not confirmed", async () => {
    const bridge = await home();
    bridge.onCall = () => ({
      status: "error",
      error: "Error: Sent to Kitchen light; it did not answer within 5 s.",
      error_type: "outcome_unknown",
      tainted: false,
      confirmed: false,
    });
    expect((await say("dead", "turn on the kitchen light")).body.answer).toBe(
      "Kitchen light: sent, but not confirmed.",
    );
  });

  test("a question is answered from what devices reported, without a call", async () => {
    const bridge = await home();
    expect((await say("q", "how warm is the freezer?")).body.answer).toBe("Freezer: −18.4 °C.");
    expect((await say("q", "is the front door locked?")).body.answer).toBe("Yes. Front door: locked.");
    expect(bridge.calls()).toEqual([]);
  });

  test("what is not understood is named, with sentences that work here", async () => {
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, true);
    const { body } = await say("unknown", "turn on the flumbox");
    expect(body.answer).toMatch(/flumbox/);
    const examples = body.answer.split("\n").flatMap((line) => (line.startsWith("• ") ? line.slice(2) : []));
    expect(examples).toHaveLength(3);
    for (const [at, example] of examples.entries())
      expect((await say(`example-${at}`, example)).body, example).toMatchObject({ status: "done" });
  });

  test("a slip whose correction means nothing here is not asked back", async () => {
    await home();
    const { body } = await say("slip", "flumbox anythin open");
    expect(body.answer).not.toMatch(/Did you mean/);
  });

  test("a sentence of one slip is asked back where it works", async () => {
    await home();
    const { body } = await say("slip-works", "turn on the kitchen lihgt");
    expect(body.answer).toMatch(/Did you mean “turn on the kitchen light”\?/);
  });

  test("a singular of which there are several is asked back", async () => {
    const bridge = await home();
    const { body } = await say("which", "turn off the light in the kitchen");
    expect(body.answer).toBe("Which one? Counter light or Kitchen light");
    expect(bridge.calls()).toEqual([]);
    bridge.onCall = ({ agent }) => confirmed(agent, false);
    expect((await say("which", "the counter light")).body.answer).toBe("Counter light: off.");
    expect((await say("elsewhere", "the counter light")).body.status).toBe("failed");
    await say("all", "turn off the light in the kitchen");
    expect((await say("all", "all of them")).body.answer).toMatch(/^(Counter|Kitchen) light: off\.\n/);
  });

  test("several lights are one call each, and one answer", async () => {
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, false);
    const { body } = await say("several", "turn off all lights in the kitchen");
    expect(body.answer.split("\n").sort()).toEqual(["Counter light: off.", "Kitchen light: off."]);
  });
});

describe("with a model", () => {
  test("a sentence that is understood costs it nothing", async () => {
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, true);
    const { body } = await say("with", "turn on the kitchen light");
    expect(body).toMatchObject({ answer: "Kitchen light: on.", model: "edgecall" });
    expect(await modelRequests({ question: "turn on the kitchen light" })).toEqual([]);
  });

  test("what is not understood wholly goes to it, in one request", async () => {
    await home();
    const text = `turn on the flumbox\n${script({ text: "I know no flumbox." })}`;
    const { body } = await say("passed", text);
    expect(body.answer).toBe("I know no flumbox.");
  });

  test("FAST_PATH=off leaves all to it", async () => {
    setVariables({ FAST_PATH: "off" });
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, true);
    const { body } = await say("off", "turn on the kitchen light");
    expect(body.status).toBe("done");
    expect(body).not.toMatchObject({ model: "edgecall" });
    expect(bridge.calls()).toEqual([]);
  });

  test("one that fails leaves it to what can be answered, whatever FAST_PATH says", async () => {
    setVariables({ FAST_PATH: "off", LLM_BASE_URL: "http://127.0.0.1:9/v1" });
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, true);
    expect((await say("down", "turn on the kitchen light")).body.answer).toBe("Kitchen light: on.");
    const { body } = await say("down", "turn on the flumbox");
    expect(body).toMatchObject({ status: "failed", error: { code: "model" } });
    expect(body.answer).toMatch(/^I could not get an answer from the model.*flumbox/s);
  });

  test("one that asked back leaves the next sentence to the fast path", async () => {
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, true);
    const text = `what about it\n${script({ text: "Which light do you mean?" })}`;
    await say("back", text);
    expect((await say("back", "turn on the kitchen light")).body.answer).toBe("Kitchen light: on.");
  });

  test("a client that brings a system text is not answered by us", async () => {
    const bridge = await home();
    const messages = [
      { role: "system", content: "You are a pirate." },
      { role: "user", content: "turn on the kitchen light" },
    ];
    const response = await ask("/v1/chat/completions", {
      method: "POST",
      body: JSON.stringify({ model: "edgecall", messages }),
    });
    expect(response.status).toBe(200);
    expect(bridge.calls()).toEqual([]);
  });
});

async function questions(): Promise<Array<{ id: string; members?: unknown[] }>> {
  return (
    (await (await ask("/v1/questions")).json()) as { questions: Array<{ id: string; members?: unknown[] }> }
  ).questions;
}

describe("more than one thing", () => {
  beforeEach(() => setVariables(WITHOUT_MODEL));

  const many = Array.from({ length: 5 }, (_, at) => `lamp-${at}`);
  async function lamps(): Promise<TestBridge> {
    const bridge = await hosting(many.map((id) => device(id)));
    for (const id of many)
      await ask(`/v1/devices/${id}`, {
        method: "PATCH",
        body: JSON.stringify({ mode: "allowed", allow: `allow-${id}` }),
      });
    bridge.onCall = ({ agent }) => confirmed(agent, false);
    return bridge;
  }

  test("more than three devices are asked about in one question, although each of them is allowed", async () => {
    const bridge = await lamps();
    const turn = say("five", "turn off all lights");
    const question = await until(async () => (await questions())[0], { what: "the question" });
    expect(bridge.calls()).toEqual([]);
    expect(question.members).toHaveLength(5);
    await answerQuestion(question.id, "approve");
    const { body } = await turn;
    expect(body.answer.split("\n").sort()).toEqual(many.map((_, at) => `Lamp ${at}: off.`));
    expect(bridge.calls()).toHaveLength(5);
  });

  test("a no to that question leaves all of them as they are", async () => {
    const bridge = await lamps();
    const turn = say("no", "turn off all lights");
    const question = await until(async () => (await questions())[0], { what: "the question" });
    await answerQuestion(question.id, "deny");
    expect((await turn).body.answer.split("\n")[0]).toMatch(/^Lamp \d: not approved, nothing was done\.$/);
    expect(bridge.calls()).toEqual([]);
  });

  test("a person whose request another one refused is told who did", async () => {
    const bridge = await lamps();
    const turn = say("no", "turn off all lights", { token: TOKENS.member });
    const question = await until(async () => (await questions())[0], { what: "the question" });
    await answerQuestion(question.id, "deny");
    const [first] = (await turn).body.answer.split("\n");
    expect(first).toMatch(/^Lamp \d: anna said no, nothing was done\.$/);
    expect(bridge.calls()).toEqual([]);
  });

  test("the second part does not run where the first one failed", async () => {
    const bridge = await home();
    bridge.onCall = () => ({
      status: "error",
      error: "Error: It is jammed.",
      error_type: "execution_failed",
      tainted: false,
    });
    const { body } = await say("two", "turn on the kitchen light and lock the front door");
    expect(body.answer).toBe(
      "Kitchen light: that did not work. It is jammed.\nFront door: left out, since the step before did not work.",
    );
    expect(bridge.calls()).toHaveLength(1);
  });

  test("a question behind an act is answered when the act is over, and one before it with what was so then", async () => {
    const bridge = await home();
    let isOn = true;
    bridge.onStates = () => [
      reported("kitchen-light", reading("Kitchen light", isOn, { kind: "light", text: "" })),
      reported("counter-light", reading("Counter light", false, { kind: "light", text: "off" })),
    ];
    bridge.onCall = ({ agent }) => {
      isOn = false;
      return confirmed(agent, false);
    };
    expect((await say("after", "turn off the kitchen light and which lights are on")).body).toMatchObject({
      answer: "Kitchen light: off.\nNone.\nCounter light: off (3 min ago).\nKitchen light: off (3 min ago).",
      model: "edgecall",
    });
    isOn = true;
    expect((await say("before", "which lights are on and turn off the kitchen light")).body.answer).toBe(
      "Kitchen light: on (3 min ago).\nKitchen light: off.",
    );
  });

  test("a question is answered where the act before it failed", async () => {
    const bridge = await home();
    bridge.onCall = () => ({
      status: "error",
      error: "Error: It is jammed.",
      error_type: "execution_failed",
      tainted: false,
    });
    const { body } = await say("failed", "turn on the kitchen light and is the front door locked");
    expect(body.answer).toBe("Kitchen light: that did not work. It is jammed.\nYes. Front door: locked.");
  });

  test("open the front door unlocks it, and asks as ever", async () => {
    const bridge = await home();
    bridge.onCall = () => ({ ...confirmed("", true), reported: [{ value: "unlocked", kind: "lock" }] });
    const turn = say("open", "open the front door");
    const question = await until(async () => (await questions())[0], { what: "the question" });
    expect(bridge.calls()).toEqual([]);
    await answerQuestion(question.id, "approve");
    expect((await turn).body.answer).toBe("Front door: unlocked.");
    expect(JSON.parse(bridge.calls()[0]?.payload ?? "")).toMatchObject({ payload: { tool: "unlock" } });
  });

  test("here is asked for, and the next sentence may name the room", async () => {
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, true);
    expect((await say("here", "turn on all lights here")).body.answer).toBe("In which room?");
    expect(bridge.calls()).toEqual([]);
    expect((await say("here", "in the kitchen")).body.answer.split("\n").sort()).toEqual([
      "Counter light: on.",
      "Kitchen light: on.",
    ]);
  });

  test("it is what the last turn was about", async () => {
    const bridge = await home();
    bridge.onCall = ({ agent }) => confirmed(agent, false);
    await say("it", "is the kitchen light on?");
    expect((await say("it", "turn it off")).body.answer).toBe("Kitchen light: off.");
    expect((await say("elsewhere", "turn it off")).body.answer).toBe("Which device?");
  });
});

describe("rules", () => {
  beforeEach(() => setVariables({ ...WITHOUT_MODEL, GATEWAY_TOOLS: "rules", TIMEZONE: "Europe/Berlin" }));

  test("a reminder is made, and its confirmation is the answer", async () => {
    await home();
    const { body } = await say("remind", "remind me in 10 minutes to turn the pizza");
    expect(body.answer).toMatch(/^Reminds you here .*“turn the pizza”/);
    expect(body).toMatchObject({ status: "done", rules: [{ buttons: [{ label: "Undo" }] }] });
    expect(JSON.stringify((await say("remind", "list my reminders")).body)).toContain("turn the pizza");
  });

  const listed = async () => ((await (await ask("/v1/rules")).json()) as { rules: unknown[] }).rules.length;

  test("more than one is ended after a yes alone", async () => {
    await home();
    await say("end", "remind me in 10 minutes to turn the pizza");
    await say("end", "remind me in 20 minutes to call Ada");
    expect((await say("end", "cancel all reminders")).body.answer).toMatch(
      /^Cancel 2 rules\? (turn the pizza, call Ada|call Ada, turn the pizza)$/,
    );
    expect((await say("end", "no")).body.answer).toBe("Nothing was done.");
    // A yes that answers nothing ends nothing.
    await say("end", "yes");
    expect(await listed()).toBe(2);
    await say("end", "cancel all rules");
    expect((await say("end", "yes")).body.answer).toBe("2 rules are cancelled.");
    expect(await listed()).toBe(0);
    expect((await say("end", "cancel all rules")).body.answer).toBe(
      "Nothing is watched, and there is no reminder.",
    );
  });

  test("a single one is ended at once, by what it is about", async () => {
    await home();
    await say("watch", "tell me when the freezer is offline");
    expect(await listed()).toBe(1);
    expect((await say("watch", "stop watching the front door")).body.answer).toBe("There is no such rule.");
    expect((await say("watch", "stop watching the freezer")).body.answer).toMatch(/ is cancelled\.$/);
    expect(await listed()).toBe(0);
  });
});

test("in a German home a German sentence is answered in German", async () => {
  setVariables(WITHOUT_MODEL);
  const bridge = await hosting([device("leselampe", { hosted: { name: "Leselampe", area: "Wohnzimmer" } })]);
  await ask("/v1/devices/leselampe", {
    method: "PATCH",
    body: JSON.stringify({ mode: "allowed", allow: "allow-leselampe" }),
  });
  bridge.onCall = ({ agent }) => confirmed(agent, true);
  expect((await say("de", "schalte die Leselampe ein")).body.answer).toBe("Leselampe: an.");
  const { body } = await say("de", "schalte die Flumbox ein");
  expect(body.answer).toMatch(/Flumbox/);
  expect(body.answer).not.toMatch(/understood|works here/);
});

describe.each(["evict", "abort"] as const)("%s of the conversation", (how) => {
  test("after the call went out: its outcome is told, and nothing is called again", async () => {
    setVariables(WITHOUT_MODEL);
    const bridge = await home();
    const id = crypto.randomUUID();
    const submit = hold(Home, "calls.submit", "after");
    const turn = say(id, "turn off the kitchen light");
    await submit.reached();
    const call = await until(() => bridge.calls()[0], { what: "the call" });
    await stop(how, conversationOf(id), submit.release);
    bridge.report(call.id, call.agent, confirmed(call.agent, false));
    expect((await turn).body).toMatchObject({ status: "done", answer: "Kitchen light: off." });
    expect(bridge.calls()).toHaveLength(1);
  });
});
