/** Approvals of one reply: one question lists them, and one answer decides them. */
import { abortAllDurableObjects } from "cloudflare:test";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { describe, expect, test } from "vitest";
import { device, hosting, READ, UNLOCK } from "../../../../test/hosted-device.ts";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { answerQuestion, cancel, openCalls, turnsOf } from "../../../../test/turns.ts";
import { until } from "../../../../test/wait.ts";
import { agent, ask, type CallFrame, CPU, SIREN, say, TestBridge } from "../../../../test/workerd.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "route"];
const WRITE = { ...SIREN, name: "write", description: "Writes a file" };
const EXEC = { ...SIREN, name: "exec", description: "Runs a program" };
const results = { text: "$results" };
const POLICY = "this device's policy asks before what needs write";

type Payload = {
  tool: string;
  parameters: Record<string, unknown>;
  answer: string;
  question_id: string;
  hash?: string;
};
type Shown = {
  id: string;
  call: string;
  agent: string;
  text: string;
  conversation: string;
  members?: Array<{ id: string; call: string; agent: string; text: string }>;
  approval: { tool: string; parameters: Record<string, unknown>; reason: string; card?: object };
};

const write = (at: number, on = "pi") => ({
  arguments: { agent_id: on, action: "write", params: { path: `f${at}.txt`, content: `text ${at}` } },
});
const writes = (count: number) => Array.from({ length: count }, (_, at) => write(at));

/** Devices that ask before each call, and do what they are told. */
class Askers {
  readonly bridge: TestBridge;
  readonly asking = new Map<string, { call: CallFrame; payload: Payload; hash: string }>();
  /** What they were answered, by the path that they asked for. */
  readonly answers = new Map<string, Payload>();
  readonly ran: string[] = [];

  constructor(bridge: TestBridge, reasonOf: (payload: Payload) => { reason: string; cwd?: string }) {
    this.bridge = bridge;
    bridge.onCall = (call) => {
      const { command, payload } = JSON.parse(call.payload) as { command: string; payload: Payload };
      if (command === "answer") this.#answered(call, payload);
      else if (payload.tool === "cpu") return { status: "success", tool: "cpu", result: "7 %" };
      else void this.#ask(call, payload, reasonOf(payload));
      return undefined;
    };
  }

  static async connect(
    ids = ["pi"],
    reasonOf: (payload: Payload) => { reason: string; cwd?: string } = () => ({ reason: POLICY }),
  ): Promise<Askers> {
    const tools = [CPU, WRITE, EXEC];
    const bridge = await TestBridge.connect(ids.map((id) => agent(id, { features: FEATURES, tools })));
    return new Askers(bridge, reasonOf);
  }

  async #ask(call: CallFrame, payload: Payload, { reason, cwd }: { reason: string; cwd?: string }) {
    const { tool, parameters } = payload;
    const hash = await approvalHash(call.agent, tool, parameters, cwd);
    const question_id = `q-${call.id}`;
    this.asking.set(question_id, { call, payload, hash });
    const approval = { tool, parameters, reason, hash, ...(cwd !== undefined && { cwd }) };
    const event = {
      type: "question",
      request_id: call.id,
      question_id,
      text: `May I run ${tool}?`,
      approval,
    };
    const text = JSON.stringify({ ...event, expires_in_ms: 60_000 });
    this.bridge.send({ t: "event", id: call.id, agent: call.agent, payload: text });
  }

  #answered(answer: CallFrame, payload: Payload): void {
    const asked = this.asking.get(payload.question_id);
    if (!asked) throw new Error(`an answer to no question: ${answer.payload}`);
    const path = String(asked.payload.parameters.path);
    this.answers.set(path, payload);
    this.bridge.report(answer.id, answer.agent, { status: "answered" });
    const isApproved = payload.answer === "approve" && payload.hash === asked.hash;
    if (isApproved) this.ran.push(path);
    this.bridge.report(
      asked.call.id,
      asked.call.agent,
      isApproved
        ? { status: "success", tool: asked.payload.tool, result: `wrote ${path}` }
        : { status: "error", tool: asked.payload.tool, error: "Error: no", error_type: "permission_denied" },
    );
  }
}

async function open(conversation: string): Promise<Shown[]> {
  const { questions } = (await (await ask("/v1/questions")).json()) as { questions: Shown[] };
  return questions.filter((one) => one.conversation === conversation);
}

async function onlyQuestion(conversation: string): Promise<Shown> {
  const shown = await until(async () => {
    const all = await open(conversation);
    return all.length > 0 && all;
  });
  expect(shown).toHaveLength(1);
  return shown[0] as Shown;
}

describe("approvals of one reply", () => {
  test("L14: 60 writes are one question that lists them; one yes runs each with its own hash", async () => {
    const askers = await Askers.connect();
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: writes(60) }, { text: "all written" }));
    const question = await onlyQuestion(conversation);
    expect(question.members).toHaveLength(60);
    expect(question).toMatchObject({ agent: "pi", call: question.members?.[0]?.call });
    expect(question.text).toBe("Run these 60 calls on pi?");
    const sentences = question.members?.map(({ text }) => text);
    expect(sentences).toHaveLength(60);
    expect(sentences).toContain("Write f0.txt on pi?");
    // All of it can be read: what runs is nothing else.
    const listed = Object.values(question.approval.parameters);
    expect(new Set(listed.map((one) => JSON.stringify(one))).size).toBe(60);
    expect(question.approval).toMatchObject({ tool: "60 calls", reason: POLICY });
    // The turn shows the same one question.
    const [shown] = await turnsOf(conversation);
    expect(shown?.questions).toMatchObject([{ id: question.id, members: question.members }]);
    expect(askers.ran).toEqual([]);
    await answerQuestion(question.id, "approve");
    const { body } = await turn;
    expect(body.answer).toBe("all written");
    expect(body.calls.filter(({ status }) => status === "success")).toHaveLength(60);
    expect(new Set(askers.ran).size).toBe(60);
    for (const { hash, answer } of askers.answers.values())
      expect([...askers.asking.values()].some((asked) => answer === "approve" && asked.hash === hash)).toBe(
        true,
      );
    expect(await open(conversation)).toEqual([]);
    expect(body).toMatchObject({ questions: [{ id: question.id, answer: "approve", answered_by: "anna" }] });
  });

  test("L14: denied is denied for all, and nothing runs", async () => {
    const askers = await Askers.connect();
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: writes(12) }, results));
    await answerQuestion((await onlyQuestion(conversation)).id, "deny");
    const { body } = await turn;
    expect(body.calls.every((call) => call.error_type === "permission_denied")).toBe(true);
    expect(askers.ran).toEqual([]);
  });

  test("L14: only a person who may approve decides it, once, and as a yes or a no", async () => {
    await Askers.connect();
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: writes(2) }, results));
    const { id, members = [] } = await onlyQuestion(conversation);
    const answer = async (of: string, text: string, token: string) =>
      (await ask(`/v1/questions/${of}`, { method: "POST", body: JSON.stringify({ answer: text }), token }))
        .status;
    for (const of of [id, members[0]?.id ?? ""]) {
      expect(await answer(of, "approve", TOKENS.guest)).toBe(404);
      expect(await answer(of, "approve", TOKENS.otherHome)).toBe(404);
      expect(await answer(of, "maybe", TOKENS.owner)).toBe(400);
    }
    expect(await answer(id, "approve", TOKENS.owner)).toBe(200);
    expect(await answer(id, "deny", TOKENS.owner)).toBe(409);
    expect(await answer(members[0]?.id ?? "", "deny", TOKENS.owner)).toBe(409);
    expect((await turn).body.calls.every(({ status }) => status === "success")).toBe(true);
  });

  test("L14: a single one of the list can be decided by its own id, and the rest by the list", async () => {
    const askers = await Askers.connect();
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: writes(3) }, results));
    const { id, members = [] } = await onlyQuestion(conversation);
    await answerQuestion(members[1]?.id ?? "", "deny");
    expect((await open(conversation)).map((one) => one.id)).toEqual([id]);
    await answerQuestion(id, "approve");
    const { body } = await turn;
    expect(body.calls.map(({ status }) => status)).toEqual(["success", "error", "success"]);
    expect(askers.ran.toSorted()).toEqual(["f0.txt", "f2.txt"]);
  });

  test("L14: the list goes when each of its calls was decided alone", async () => {
    await Askers.connect();
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: writes(2) }, results));
    const { members = [] } = await onlyQuestion(conversation);
    for (const { id } of members) await answerQuestion(id, "approve");
    expect(await open(conversation)).toEqual([]);
    await turn;
    expect((await turnsOf(conversation))[0]?.questions).toMatchObject([{ answer: "(closed)" }]);
  });

  test("L14: one alone is a question as ever", async () => {
    await Askers.connect();
    const conversation = crypto.randomUUID();
    const cpu = { arguments: { agent_id: "pi", action: "cpu" } };
    const turn = say(conversation, script({ calls: [cpu, write(1)] }, results));
    const question = await onlyQuestion(conversation);
    expect(question).not.toHaveProperty("members");
    expect(question).toMatchObject({
      text: "Write f1.txt on pi?",
      approval: { tool: "write", parameters: { path: "f1.txt", content: "text 1" } },
    });
    await answerQuestion(question.id, "approve");
    expect((await turn).body.answer).toBe("7 % | wrote f1.txt");
  });

  test("L14: several devices are named, each call with its own", async () => {
    await Askers.connect(["pi", "nas"]);
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: [write(1), write(2, "nas"), write(3, "nas")] }, results));
    const question = await onlyQuestion(conversation);
    expect(question.agent).toBe("2 devices");
    expect(question.members?.map((one) => one.agent).toSorted()).toEqual(["nas", "nas", "pi"]);
    expect(question.text).toBe("Run these 3 calls?");
    expect(question.members?.map(({ text }) => text).toSorted()).toEqual([
      "Write f1.txt on pi?",
      "Write f2.txt on nas?",
      "Write f3.txt on nas?",
    ]);
    await answerQuestion(question.id, "approve");
    expect((await turn).body.calls.every(({ status }) => status === "success")).toBe(true);
  });

  test("L14: another reason or a program is asked for on its own", async () => {
    const reasonOf = ({ tool }: Payload) =>
      tool === "exec" ? { reason: "it deletes files", cwd: "/home/pi" } : { reason: POLICY };
    await Askers.connect(["pi"], reasonOf);
    const conversation = crypto.randomUUID();
    const exec = { arguments: { agent_id: "pi", action: "exec", params: { path: "rm" } } };
    const turn = say(conversation, script({ calls: [write(1), exec, write(2)] }, results));
    const two = await until(async () => {
      const all = await open(conversation);
      return all.length === 2 && all;
    });
    const list = two.find(({ members }) => members);
    const alone = two.find(({ members }) => !members);
    expect(list?.members).toHaveLength(2);
    expect(alone?.approval).toMatchObject({ tool: "exec", reason: "it deletes files" });
    await answerQuestion(alone?.id ?? "", "deny");
    await answerQuestion(list?.id ?? "", "approve");
    expect((await turn).body.calls.map(({ status }) => status)).toEqual(["success", "error", "success"]);
  });

  test("L14: a later one of the same reply is asked for anew, and no answer counts for it", async () => {
    const askers = await Askers.connect();
    const conversation = crypto.randomUUID();
    const later = write(9);
    const after = { arguments: { ...later.arguments, after: ["first"] } };
    const first = { arguments: { ...write(0).arguments, id: "first" } };
    const turn = say(conversation, script({ calls: [first, write(1), after] }, results));
    const list = await onlyQuestion(conversation);
    expect(list.members).toHaveLength(2);
    await answerQuestion(list.id, "approve");
    const next = await onlyQuestion(conversation);
    expect(next.approval.parameters).toEqual(later.arguments.params);
    expect(askers.ran).not.toContain("f9.txt");
    await answerQuestion(next.id, "approve");
    expect((await turn).body.calls.every(({ status }) => status === "success")).toBe(true);
  });

  test("L14: a cancelled turn closes the list and all of its calls", async () => {
    const askers = await Askers.connect();
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: writes(8) }, results));
    await onlyQuestion(conversation);
    await cancel(conversation);
    expect((await turn).body.status).toBe("cancelled");
    await until(async () => (await openCalls()).length === 0);
    expect(await open(conversation)).toEqual([]);
    expect(askers.ran).toEqual([]);
  });

  test("L14: survives an abort of everything, before it is shown and after", async () => {
    const askers = await Askers.connect();
    const conversation = crypto.randomUUID();
    const turn = say(conversation, script({ calls: writes(20) }, { text: "all written" }));
    await until(() => askers.asking.size >= 5);
    await abortAllDurableObjects();
    const again = await Askers.connect();
    // Devices repeat their questions when the gateway is back, under the same ids.
    for (const [id, asked] of askers.asking) again.asking.set(id, asked);
    const covered = new Set<string>();
    await until(
      async () => {
        for (const { id, members = [], call } of await open(conversation)) {
          await abortAllDurableObjects();
          const third = await Askers.connect();
          for (const [of, asked] of again.asking) third.asking.set(of, asked);
          for (const one of members) covered.add(one.call);
          covered.add(call);
          await answerQuestion(id, "approve");
        }
        return (await turnsOf(conversation))[0]?.status === "done";
      },
      { within: 40_000 },
    );
    expect((await turn).body.calls.every(({ status }) => status === "success")).toBe(true);
    expect(covered.size).toBe(20);
  }, 60_000);
});

describe("approvals that the gateway asks for", () => {
  test("L14: questions in words to agents that cannot ask are one question, and are sent after the yes", async () => {
    const bridge = await TestBridge.connect([agent("rust", { foreign: true, features: [], tools: [] })]);
    const tools_executed = [{ tool: "read_file", success: true }];
    bridge.onCall = () => ({ status: "success", content: "done", tools_executed });
    const conversation = crypto.randomUUID();
    const query = (words: string) => ({ arguments: { agent_id: "rust", query: words } });
    const turn = say(
      conversation,
      script({ calls: [query("read")] }, { calls: ["a", "b", "c"].map(query) }, { text: "done" }),
    );
    const question = await onlyQuestion(conversation);
    expect(question.members).toHaveLength(3);
    expect(bridge.calls()).toHaveLength(1);
    await answerQuestion(question.id, "approve");
    expect((await turn).body.answer).toBe("done");
    expect(bridge.calls()).toHaveLength(4);
  });

  test("L14: of hosted devices; what is dangerous has a question of its own, and each yes is for what it lists", async () => {
    const lamps = ["lamp-a", "lamp-b", "lamp-c"].map((id) => device(id));
    const locks = ["door-a", "door-b"].map((id) => device(id, { line: "lock", tools: [READ, UNLOCK] }));
    const bridge = await hosting([...lamps, ...locks]);
    bridge.onCall = () => ({ status: "success", confirmed: true, result: "confirmed", tainted: false });
    const conversation = crypto.randomUUID();
    const call = (agent_id: string, action: string) => ({
      arguments: { agent_id, action, params: { on: true } },
    });
    const calls = [...lamps.map(({ id }) => call(id, "set")), ...locks.map(({ id }) => call(id, "unlock"))];
    const turn = say(conversation, script({ calls }, { text: "done" }));
    const two = await until(async () => {
      const all = await open(conversation);
      return all.length === 2 && all;
    });
    const danger = two.find(({ approval }) => approval.reason.includes("dangerous"));
    const harmless = two.find(({ id }) => id !== danger?.id);
    expect(danger?.members?.map((one) => one.agent).toSorted()).toEqual(["door-a", "door-b"]);
    expect(harmless?.members?.map((one) => one.agent).toSorted()).toEqual(["lamp-a", "lamp-b", "lamp-c"]);
    // Equal calls of several devices are one sentence; others are as many calls.
    expect(harmless?.text).toBe("Switch 3 lights on?");
    expect(harmless?.approval.card).toMatchObject({ verb: "Switch on", decline: "None of them" });
    expect(danger?.text).toBe("Run unlock on 2 locks with 1 value?");
    expect(danger?.approval.card).toMatchObject({ danger: true, partial: true });
    await answerQuestion(danger?.id ?? "", "deny");
    await answerQuestion(harmless?.id ?? "", "approve");
    const { body } = await turn;
    expect(body.calls.map(({ status }) => status)).toEqual([
      "success",
      "success",
      "success",
      "error",
      "error",
    ]);
    expect(bridge.calls().map(({ agent: to }) => to)).not.toContain("door-a");
  });
});
