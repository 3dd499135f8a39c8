import { describe, expect, test } from "vitest";
import { modelCalls, modelRequest, releaseModel } from "../../../test/model-requests.ts";
import { events, post } from "../../../test/openai-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, TestBridge } from "../../../test/workerd.ts";

/** The first test waits for workerd, which is slow on a busy machine. */
const COLD_START_MS = 20_000;
const cpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };

async function pi() {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  bridge.onCall = () => ({ status: "success", result: "7 %" });
  return bridge;
}

type Shown = {
  id: string;
  status: string;
  output: Array<{ id: string; type: string; content?: Array<{ text: string }> } & Record<string, unknown>>;
  usage: unknown;
  metadata: Record<string, string>;
  previous_response_id: string | null;
  error?: { message: string; code: string } | null;
  edgecall?: { asked: false };
};
type Event = {
  type: string;
  sequence_number: number;
  delta?: string;
  text?: string;
  response?: Shown;
};

async function respond(body: Record<string, unknown>, headers: Record<string, string> = {}) {
  const response = await post("/v1/responses", { model: "gpt-5", ...body }, { headers });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Shown };
}

const textOf = ({ output }: Shown) => output.findLast(({ type }) => type === "message")?.content?.[0]?.text;
/** Asks, and returns what the model was shown. */
async function shown(answer: string, body: Record<string, unknown>) {
  const input = script({ text: answer });
  const seen = await respond({ ...body, input });
  expect(textOf(seen.body)).toBe(answer);
  const messages = (await modelRequest(input))?.messages ?? [];
  return { ...seen, contents: messages.map(({ content }) => content) };
}

async function streamed(body: Record<string, unknown>, headers = {}) {
  const response = await post("/v1/responses", { stream: true, ...body }, { headers });
  return (await events(response)).data as Event[];
}

async function attach(id: string, after: number) {
  const response = await ask(`/v1/responses/${id}?stream=true&starting_after=${after}`);
  return (await events(response)).data as Event[];
}

const spoken = (told: Event[]) =>
  told.flatMap(({ type, delta }) => (type === "response.output_text.delta" ? [delta ?? ""] : [])).join("");

describe("a response", () => {
  test(
    "has a device's calls as mcp_call items, then the text",
    async () => {
      await pi();
      const { status, body } = await respond({ input: script(cpu, { text: "load: $results" }) });
      expect(status).toBe(200);
      expect(body).toMatchObject({ object: "response", status: "completed", error: null });
      expect(body.output).toMatchObject([
        {
          type: "mcp_call",
          server_label: "pi",
          name: "cpu",
          output: "7 %",
          error: null,
          status: "completed",
        },
        { type: "message", content: [{ type: "output_text", text: "load: 7 %" }] },
      ]);
      expect(body.usage).toMatchObject({ input_tokens: 20, output_tokens: 10, total_tokens: 30 });
      const again = (await (await ask(`/v1/responses/${body.id}`)).json()) as Shown;
      expect(again).toMatchObject({
        id: body.id,
        status: "completed",
        output: body.output,
        usage: body.usage,
      });
    },
    COLD_START_MS,
  );

  test("without a device is marked, also when it is looked at later", async () => {
    await pi();
    const { body } = await respond({ input: script({ text: "about 7 %" }) });
    const again = (await (await ask(`/v1/responses/${body.id}`)).json()) as Shown;
    expect([body.edgecall, again.edgecall]).toEqual([{ asked: false }, { asked: false }]);
    const asked = await respond({ input: script(cpu, { text: "load: $results" }) });
    expect(asked.body).not.toHaveProperty("edgecall");
  });

  test("streamed: rising numbers, and every item begins and ends", async () => {
    await pi();
    const told = await streamed({
      input: script({ ...cpu, text: "Let me look." }, { text: "load: $results" }),
    });
    const numbers = told.map(({ sequence_number }) => sequence_number);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    const types = told.map(({ type }) => type.replace("response.", ""));
    expect(types.filter((type) => type !== "output_text.delta")).toEqual([
      "created",
      "in_progress",
      ...[
        "output_item.added",
        "content_part.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
      ],
      ...["output_item.added", "mcp_call.in_progress", "mcp_call_arguments.done"],
      ...["mcp_call.completed", "output_item.done"],
      ...[
        "output_item.added",
        "content_part.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
      ],
      "completed",
    ]);
    expect(spoken(told)).toBe("Let me look.load: 7 %");
    const { response } = told.at(-1) as Event;
    expect(response?.output.map(({ type }) => type)).toEqual(["message", "mcp_call", "message"]);
  });

  test("attached to again after any event, it sends exactly the rest", async () => {
    await pi();
    const told = await streamed({
      input: script({ ...cpu, text: "Let me look." }, { text: "load: $results" }),
    });
    const id = told[0]?.response?.id ?? "";
    for (const [at, { sequence_number }] of told.entries()) {
      const rest = await attach(id, sequence_number);
      expect(spoken(told.slice(0, at + 1)) + spoken(rest)).toBe("Let me look.load: 7 %");
      const kinds = (some: Event[]) =>
        some.map(({ type }) => type).filter((type) => type !== "response.output_text.delta");
      expect(kinds(rest)).toEqual(kinds(told.slice(at + 1)));
      expect(rest.every((event) => event.sequence_number > sequence_number)).toBe(true);
    }
  });

  test("in the background it continues without its client, and can be attached to within a sentence", async () => {
    const question = script({ text: "one half, the other half", pause: "halves" });
    const { body } = await respond({ input: question, background: true });
    expect(body).toMatchObject({ status: "in_progress", output: [], background: true });
    await until(async () => (await modelCalls(question)) === 1);
    const rest = attach(body.id, -1);
    await releaseModel("halves");
    const told = await rest;
    expect(spoken(told)).toBe("one half, the other half");
    expect(told.at(-1)?.type).toBe("response.completed");
  });

  test("whose client disconnects ends, unless it is in the background", async () => {
    for (const background of [false, true]) {
      const question = script({ text: "never mind", pause: `hung${background}` });
      const response = await post("/v1/responses", { stream: true, background, input: question });
      const reader = response.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      const id = new TextDecoder().decode(value).match(/resp_[\w-]+/)?.[0] ?? "";
      await until(async () => (await modelCalls(question)) === 1);
      await reader?.cancel();
      const look = async () => (await (await ask(`/v1/responses/${id}`)).json()) as Shown;
      if (background) await releaseModel(`hung${background}`);
      const seen = await until(async () => {
        const now = await look();
        return now.status === "in_progress" ? undefined : now;
      });
      expect(seen.status).toBe(background ? "completed" : "cancelled");
    }
  });

  test("is cancelled, and deleted", async () => {
    const question = script({ text: "never", pause: "cancelled" });
    const { body } = await respond({ input: question, background: true });
    const cancelled = await post(`/v1/responses/${body.id}/cancel`, "");
    expect(await cancelled.json()).toMatchObject({ status: "cancelled" });
    expect(await (await ask(`/v1/responses/${body.id}`, { method: "DELETE" })).json()).toMatchObject({
      deleted: true,
    });
    expect((await ask(`/v1/responses/${body.id}`)).status).toBe(404);
  });

  test("whose step is retried ends as failed, and one whose turn fails says why", async () => {
    const broken = await streamed({ input: script({ breakOff: true }, { text: "whole" }) });
    expect(broken.at(-1)).toMatchObject({ type: "response.failed", response: { status: "failed" } });
    const fault = { status: 401, body: { error: { message: "wrong key" } } };
    const failed = await streamed({ input: script(fault, fault, fault, fault) });
    expect(failed.at(-1)?.type).toBe("response.failed");
    expect(spoken(failed)).toContain("wrong key");
    expect(failed.at(-1)?.response?.error?.message).toContain("wrong key");
  });
});

describe("continues", () => {
  test("from the named response, even if another one continued from it before", async () => {
    const first = await respond({ input: script({ text: "root" }), instructions: "Be brief." });
    const before = { previous_response_id: first.body.id };
    const second = await shown("branch one", before);
    expect(second.body.previous_response_id).toBe(first.body.id);
    const other = await shown("branch two", before);
    expect(other.contents).toContain("root");
    expect(other.contents).not.toContain("branch one");
    // In OpenAI's API, instructions are for one response.
    expect(JSON.stringify(other.contents)).not.toContain("Be brief.");
    const leaf = await shown("leaf", { previous_response_id: second.body.id });
    expect(leaf.contents.slice(1).filter((_, at) => at % 2)).toEqual(["root", "branch one"]);
    const kept = await ask(`/v1/responses/${first.body.id}`, { method: "DELETE" });
    expect([kept.status, await kept.json()]).toMatchObject([409, { error: { code: "conversation_in_use" } }]);
    await ask(`/v1/responses/${first.body.id}?conversation=true`, { method: "DELETE" });
    expect((await ask(`/v1/responses/${second.body.id}`)).status).toBe(404);
  });

  test("in a named conversation", async () => {
    const first = await respond({ input: script({ text: "a" }), conversation: "conv_x" });
    expect(first.body).toMatchObject({
      conversation: { id: "conv_x" },
      metadata: { conversation_id: "conv_x" },
    });
    expect((await shown("b", { conversation: { id: "conv_x" } })).contents).toContain("a");
    expect((await shown("c", { previous_response_id: first.body.id })).contents).toContain("b");
  });

  test("from the client's own history", async () => {
    const question = script({ text: "three" });
    const input = [
      { role: "developer", content: "Rhyme." },
      { role: "user", content: [{ type: "input_text", text: "one" }] },
      { type: "reasoning", summary: [] },
      { type: "mcp_call", name: "cpu", arguments: "{}" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "two" }] },
      { role: "user", content: [{ type: "input_text", text: question }] },
    ];
    expect(textOf((await respond({ input, store: false })).body)).toBe("three");
    const roles = (await modelRequest(question))?.messages.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
  });

  test("not from another token's response, nor from an invalid one", async () => {
    const { body } = await respond({ input: script({ text: "mine" }) });
    for (const token of [TOKENS.guest, TOKENS.otherHome]) {
      expect((await ask(`/v1/responses/${body.id}`, { token })).status).toBe(404);
      expect((await ask(`/v1/responses/${body.id}`, { token, method: "DELETE" })).status).toBe(404);
      expect((await post(`/v1/responses/${body.id}/cancel`, "", { token })).status).toBe(404);
      const input = { input: "x", previous_response_id: body.id };
      expect((await post("/v1/responses", input, { token })).status).toBe(400);
    }
    for (const id of ["resp_1", `${body.id}x`, body.id.replace(/resp_.{4}/, "resp_0000"), "resp_%20"])
      expect((await ask(`/v1/responses/${id}`)).status).toBe(404);
    const odd = await ask(`/v1/responses/${body.id}?stream=true&starting_after=x`);
    expect(odd.status).toBe(400);
  });
});
