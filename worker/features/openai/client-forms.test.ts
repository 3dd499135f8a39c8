/** D4: the forms in which OpenAI's clients write addresses, pictures and fields. */

import { describe, expect, test } from "vitest";
import { modelRequest } from "../../../test/model-requests.ts";
import { type Completion, chat, events, post, user } from "../../../test/openai-requests.ts";
import { type Step, script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { ask, say } from "../../../test/workerd.ts";
import { mediaId } from "../../kernel/api/media.ts";

const COLD_START_MS = 20_000;
/** A picture of one white pixel. */
const GIF = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";

type Response_ = {
  id: string;
  status: string;
  store: boolean;
  output: Array<{ id: string; type: string; call_id?: string }>;
  error?: { message: string; param: string; code: string };
};
type Item = { id: string; type: string; role?: string; content?: Array<Record<string, string>> };
type List = { object: string; data: Item[]; first_id: string; last_id: string; has_more: boolean };

async function respond(body: Record<string, unknown>) {
  const response = await post("/v1/responses", { model: "gpt-5", ...body });
  return { status: response.status, body: (await response.json()) as Response_ };
}

async function inputItems(id: string, query = "", token: string = TOKENS.owner) {
  const response = await ask(`/v1/responses/${id}/input_items${query}`, { token });
  return { status: response.status, list: (await response.json()) as List & Response_ };
}

describe("D4: the path", () => {
  test.each([
    "/v1//chat/completions",
    "/v1/chat/completions/",
    "//v1/chat/completions",
    "/v1/chat//completions//",
  ])(
    "%s is that of a chat, without a redirect",
    async (path) => {
      const response = await post(path, { messages: [user(script({ text: "hello" }))] });
      expect([response.status, response.redirected]).toEqual([200, false]);
      expect(((await response.json()) as Completion).choices[0]?.message.content).toBe("hello");
    },
    COLD_START_MS,
  );

  test("all of /v1 and /mcp, streams too", async () => {
    for (const path of ["/v1//models", "/v1/models/", "/v1//models//edgecall/", "/v1//agents", "/v1/status/"])
      expect([path, (await ask(path)).status]).toEqual([path, 200]);
    const stream = await post("/v1//responses/", { input: script({ text: "hello" }), stream: true });
    const { data } = await events(stream);
    expect(data.at(-1)).toMatchObject({ type: "response.completed" });
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
    for (const path of ["/mcp/", "//mcp", "//mcp//"]) {
      const init = { method: "POST", body, headers: { "content-type": "application/json" } };
      expect(await (await ask(path, init)).json()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
      const challenge = (await ask(path, { ...init, token: null })).headers.get("www-authenticate");
      expect(challenge).toBe((await ask("/mcp", { ...init, token: null })).headers.get("www-authenticate"));
    }
  });

  test("no other form of it passes a check", async () => {
    for (const path of ["/v1//agents", "//v1/models", "/v1/status/", "/v1//tokens"]) {
      expect([path, (await ask(path, { token: null })).status]).toEqual([path, 401]);
      expect([path, (await ask(path, { token: "wrong-token-of-somebody" })).status]).toEqual([path, 401]);
    }
    // A token without the scope, and one of another home.
    expect((await ask("/v1//tokens/", { token: TOKENS.guest })).status).toBe(403);
    const { turn } = (await say("paths", script({ text: "hello" }))).body;
    expect((await ask(`/v1//conversations//paths//turns//${turn}/`)).status).toBe(200);
    for (const token of [TOKENS.guest, TOKENS.otherHome])
      expect((await ask(`/v1//conversations//paths//turns//${turn}/`, { token })).status).toBe(404);
    // Encoded slashes and dots stay what they are.
    for (const path of ["/v1/%2Fmodels", "/v1%2F/models", "/v2//models"])
      expect([path, (await ask(path)).status]).not.toEqual([path, 200]);
    for (const token of [TOKENS.owner, null])
      expect((await ask("/healthz/", { token })).status).toBe(token ? 404 : 401);
  });
});

describe("D4: a picture", () => {
  test.each([
    ["image/jpg", "image/jpeg"],
    ["image/pjpeg", "image/jpeg"],
    ["IMAGE/GIF", "image/gif"],
    ["image/jpeg;charset=utf-8", "image/jpeg"],
    ["image/x-png", "image/png"],
  ])("%s is taken as %s, at each door", async (written, registered) => {
    const url = `data:${written};base64,${GIF.slice(0, 20)}\n${GIF.slice(20)}`;
    const shown = `data:${registered};base64,${GIF}`;
    const question = script({ text: "seen" });
    const isShown = async () =>
      expect(JSON.stringify((await modelRequest(question))?.messages)).toContain(shown);
    const part = { type: "image_url", image_url: { url, detail: null } };
    const { status, body } = await chat([user([{ type: "text", text: question }, part])]);
    expect([status, body.choices[0]?.message.content]).toEqual([200, "seen"]);
    await isShown();
    const content = [
      { type: "input_text", text: question },
      { type: "input_image", image_url: url },
    ];
    expect((await respond({ input: [user(content)] })).status).toBe(200);
    const id = `picture-${crypto.randomUUID()}`;
    const said = await say(id, "", { body: JSON.stringify({ text: question, images: [url] }) });
    expect(said.status).toBe(200);
    const stored = await ask(`/v1/media/${mediaId(`${said.body.turn}-0`, `a/api/${id}`)}`);
    expect(stored.headers.get("content-type")).toBe(registered);
  });

  test("in the result of the client's tool is a text that says so", async () => {
    const url = `data:image/gif;base64,${GIF}`;
    const tools = [{ type: "function", name: "camera", parameters: { type: "object", properties: {} } }];
    const question = script({ calls: [{ name: "camera", arguments: {} }] }, { text: "It says: $results" });
    const first = await respond({ input: question, tools });
    const call = first.body.output.find(({ type }) => type === "function_call");
    const output = [
      { type: "input_text", text: "the garden" },
      { type: "input_image", image_url: url },
    ];
    const result = { type: "function_call_output", call_id: call?.call_id, output };
    const { body } = await respond({ input: [result], tools, previous_response_id: first.body.id });
    const text = "It says: the garden\n[a picture or file that is not shown]";
    expect(body.output).toMatchObject([{ content: [{ text }] }]);
  });

  test.each(["image/svg+xml", "image/jpgx", "text/html", "image/jpeg,image/jpg"])(
    "%s is none",
    async (written) => {
      const part = { type: "image_url", image_url: { url: `data:${written};base64,${GIF}` } };
      const { status, body } = await chat([user([part])]);
      expect([status, body.error?.message]).toEqual([400, expect.stringContaining("a picture is")]);
    },
  );
});

describe("D4: store: false", () => {
  test("is told as it is, and the response is not there afterwards", async () => {
    const { status, body } = await respond({ input: script({ text: "hello" }), store: false });
    expect([status, body.store, body.status]).toEqual([200, false, "completed"]);
    const { id } = body;
    for (const [path, method] of [
      [`/v1/responses/${id}`, "GET"],
      [`/v1/responses/${id}?stream=true`, "GET"],
      [`/v1/responses/${id}/input_items`, "GET"],
      [`/v1/responses/${id}/cancel`, "POST"],
      [`/v1/responses/${id}`, "DELETE"],
    ] as const)
      expect([method, path, (await ask(path, { method })).status]).toEqual([method, path, 404]);
    const next = await respond({ input: script({ text: "on" }), previous_response_id: id });
    expect([next.status, next.body.error?.code]).toEqual([400, "previous_response_not_found"]);
  });

  test("in a stream too; not in the background; null and true store it", async () => {
    const stream = await post("/v1/responses", {
      input: script({ text: "hello" }),
      store: false,
      stream: true,
    });
    const { data } = (await events(stream)) as unknown as { data: Array<{ response?: Response_ }> };
    expect(new Set(data.flatMap(({ response }) => (response ? [response.store] : [])))).toEqual(
      new Set([false]),
    );
    const id = data.at(-1)?.response?.id ?? "";
    expect((await ask(`/v1/responses/${id}`)).status).toBe(404);
    const background = await respond({ input: script({ text: "x" }), store: false, background: true });
    expect([background.status, background.body.error?.param]).toEqual([400, "store"]);
    for (const store of [null, true, undefined]) {
      const { body } = await respond({
        input: script({ text: "hello" }),
        ...(store !== undefined && { store }),
      });
      expect(body.store).toBe(true);
      expect((await (await ask(`/v1/responses/${body.id}`)).json()) as Response_).toMatchObject({
        store: true,
      });
    }
  });

  test("a client's own tool still gets its result: the client keeps the chat", async () => {
    const tools = [{ type: "function", name: "weather", parameters: { type: "object", properties: {} } }];
    const question = script({ calls: [{ name: "weather", arguments: {} }] }, { text: "it is $results" });
    const input = [user(question)];
    const first = await respond({ input, tools, store: false });
    const call = first.body.output.find(({ type }) => type === "function_call");
    const result = { type: "function_call_output", call_id: call?.call_id, output: "warm" };
    const second = await respond({ input: [...input, call, result], tools, store: false });
    expect(second.body.output).toMatchObject([{ content: [{ text: expect.stringContaining("warm") }] }]);
  });
});

test("D4: a failed response has an error that the AI SDK can read", async () => {
  const question = script({ status: 400, body: { error: { message: "no such thing" } } });
  const error = {
    code: "server_error",
    type: "server_error",
    message: expect.stringContaining("no such thing"),
    param: null,
  };
  expect((await respond({ input: question })).body).toMatchObject({ status: "failed", error });
});

describe("D4: input_items", () => {
  test("are what was sent, the newest first, in pages", async () => {
    const question = script({ text: "hello" });
    const input = [
      { role: "developer", content: "Be brief." },
      user("one"),
      { role: "assistant", content: "two" },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "warm" },
      user([
        { type: "input_text", text: question },
        { type: "input_image", image_url: `data:image/gif;base64,${GIF}` },
      ]),
    ];
    const { body } = await respond({ input, instructions: "Not among the items." });
    const { status, list } = await inputItems(body.id, "?order=asc");
    expect([status, list.object, list.has_more]).toEqual([200, "list", false]);
    expect(list.data).toMatchObject([
      { type: "message", role: "system", content: [{ type: "input_text", text: "Be brief." }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "one" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "two" }] },
      { type: "function_call", call_id: "call_1", name: "weather", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: "warm" },
      { type: "message", role: "user", content: [{ text: question }, { type: "input_image" }] },
    ]);
    const link = list.data[5]?.content?.[1]?.image_url ?? "";
    const picture = await ask(link.replace("https://gateway", ""), { token: null });
    expect(picture.headers.get("content-type")).toBe("image/gif");

    const ids = list.data.map(({ id }) => id);
    expect([list.first_id, list.last_id]).toEqual([ids[0], ids[5]]);
    const newest = (await inputItems(body.id, "?limit=4")).list;
    expect(newest.data.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 4));
    expect([newest.has_more, newest.last_id]).toEqual([true, ids[2]]);
    const rest = (await inputItems(body.id, `?limit=4&after=${newest.last_id}`)).list;
    expect(rest.data.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect(rest.has_more).toBe(false);
  });

  test("a text, and what follows another response: the request's own", async () => {
    const first = await respond({ input: script({ text: "hello" }) });
    const next = script({ text: "on" });
    const { body } = await respond({ input: next, previous_response_id: first.body.id });
    const { list } = await inputItems(body.id);
    expect(list.data).toMatchObject([{ role: "user", content: [{ type: "input_text", text: next }] }]);
    expect(list.data[0]?.id).toMatch(/^msg_/);
  });

  test("a result of the client's tool alone", async () => {
    const tools = [{ type: "function", name: "weather", parameters: null, strict: null, description: null }];
    const question = script({ calls: [{ name: "weather", arguments: {} }] }, { text: "it is $results" });
    const first = await respond({ input: question, tools });
    const call = first.body.output.find(({ type }) => type === "function_call");
    const result = { type: "function_call_output", call_id: call?.call_id, output: "warm" };
    const { body } = await respond({ input: [result], tools, previous_response_id: first.body.id });
    expect((await inputItems(body.id)).list.data).toMatchObject([result]);
  });

  test("are for those who may see the response; a wrong parameter is named", async () => {
    const { body } = await respond({ input: script({ text: "hello" }) });
    for (const token of [TOKENS.guest, TOKENS.otherHome])
      expect((await inputItems(body.id, "", token)).status).toBe(404);
    expect((await inputItems("resp_none")).status).toBe(404);
    for (const [query, param] of [
      ["?limit=0", "limit"],
      ["?limit=101", "limit"],
      ["?limit=x", "limit"],
      ["?order=up", "order"],
      ["?after=msg_none", "after"],
    ]) {
      const { status, list } = await inputItems(body.id, query);
      expect([status, list.error?.param]).toEqual([400, param]);
    }
  });
});

describe("D4: item_reference", () => {
  const reference = ({ id }: { id: string }) => ({ type: "item_reference", id });
  const tools = [{ type: "function", name: "weather", parameters: { type: "object", properties: {} } }];
  const weather: Step = { text: "I ask.", calls: [{ name: "weather", arguments: { city: "Bern" } }] };

  /** Asks a question in which the client's tool is called. @returns the input of the next one: an array that goes on */
  async function asked(more: Record<string, unknown> = {}) {
    const question = script(weather, { text: "It says: $results" });
    const first = await respond({ input: [user(question)], tools, ...more });
    const call = first.body.output.find(({ type }) => type === "function_call");
    const input = [
      user(question),
      ...first.body.output.map(reference),
      { type: "function_call_output", call_id: call?.call_id, output: "it rains" },
    ];
    const second = await respond({ input, tools, ...more });
    expect(second.body.output).toMatchObject([{ content: [{ text: "It says: it rains" }] }]);
    return { question, first, second, next: [...input, ...second.body.output.map(reference)] };
  }

  async function shownFor(input: unknown[], more: Record<string, unknown> = {}) {
    const question = script({ text: "on" });
    const { status, body } = await respond({ input: [...input, user(question)], tools, ...more });
    expect([status, body.output]).toMatchObject([200, [{ content: [{ text: "on" }] }]]);
    return { question, shown: (await modelRequest(question))?.messages.slice(1) ?? [] };
  }

  test.each([
    ["an unnamed chat", {}],
    ["a conversation", { conversation: "named" }],
  ])("in %s is the answer or the call that it names, not a question once more", async (_, named) => {
    const more = "conversation" in named ? { conversation: `named-${crypto.randomUUID()}` } : {};
    const { question, next } = await asked(more);
    const one = await shownFor(next, more);
    const calls = [{ function: { name: "weather", arguments: '{"city":"Bern"}' } }];
    const before = [
      { role: "user", content: question },
      { role: "assistant", content: "I ask.", tool_calls: calls },
      { role: "tool", content: "it rains" },
      { role: "assistant", content: "It says: it rains" },
    ];
    expect(one.shown).toMatchObject([...before, { role: "user", content: one.question }]);
    // Without its type, as OpenAI's own schema allows.
    const bare = next.map((item) => ("id" in item ? { id: item.id } : item));
    const two = await shownFor(bare, more);
    expect(two.shown).toMatchObject([...before, { role: "user", content: two.question }]);
  });

  test("of each text of a streamed response is its answer, once", async () => {
    const question = script({ ...weather, text: "" }, { text: "So: $results" });
    const { data } = await events(
      await post("/v1/responses", { input: [user(question)], tools, stream: true }),
    );
    const { output } = (data.at(-1) as { response: Response_ }).response;
    const call = output.find(({ type }) => type === "function_call");
    const result = { type: "function_call_output", call_id: call?.call_id, output: "it rains" };
    const input = [user(question), ...output.map(reference), result];
    const streamed = await events(await post("/v1/responses", { input, tools, stream: true }));
    const end = (streamed.data.at(-1) as { response: Response_ }).response;
    const twice = [...end.output, ...end.output].map(reference);
    const { shown } = await shownFor([...input, ...twice]);
    expect(shown.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(shown[3]?.content).toBe("So: it rains");
  });

  test("of nothing that is here: the model learns that there was an answer", async () => {
    const gone = "[an earlier answer that is not kept any more]";
    const { second } = await asked();
    const [item] = second.body.output;
    const unstored = await respond({ input: script({ text: "hello" }), store: false });
    for (const id of ["msg_68af4030baa48193b0b43b4c2a176a1a", unstored.body.output[0]?.id ?? ""]) {
      const { shown } = await shownFor([user("one"), { type: "item_reference", id }]);
      expect(shown.slice(0, 2)).toMatchObject([{ content: "one" }, { role: "assistant", content: gone }]);
    }
    const beside = ["rs_1", "mcp_1", "fc_1"].map((id) => reference({ id }));
    const others = await shownFor([user("one"), { role: "assistant", content: "two" }, ...beside]);
    expect(others.shown).toHaveLength(3);
    // Another person's.
    const question = script({ text: "on" });
    const input = [user("one"), reference({ id: item?.id ?? "" }), user(question)];
    await post("/v1/responses", { input }, { token: TOKENS.guest });
    expect((await modelRequest(question))?.messages[2]).toMatchObject({ role: "assistant", content: gone });
  });
});

describe("D4: null for what is left out", () => {
  const nulls = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, null]));

  test("in a chat", async () => {
    const more = nulls(
      "tools tool_choice parallel_tool_calls stop user n stream stream_options response_format metadata max_tokens max_completion_tokens temperature top_p seed logprobs store edge functions function_call reasoning_effort service_tier",
    );
    const assistant = { ...nulls("content tool_calls refusal name audio function_call"), role: "assistant" };
    const { status, body } = await chat([assistant, user(script({ text: "hello" }))], {
      ...more,
      model: null,
    });
    expect([status, body.choices[0]?.message.content]).toEqual([200, "hello"]);
  });

  test("in a response", async () => {
    const more = nulls(
      "tools tool_choice parallel_tool_calls user stream stream_options text metadata max_output_tokens temperature top_p store background conversation previous_response_id instructions include reasoning truncation edge prompt service_tier",
    );
    const item = {
      ...nulls("id status name"),
      type: "message",
      role: "user",
      content: script({ text: "hello" }),
    };
    expect(await respond({ input: [item], ...more, model: null })).toMatchObject({ status: 200 });
  });

  test.each([{ type: "auto" }, { type: "none" }, "none", { type: "required" }])(
    "tool_choice: %j, with unknown fields and any type of body",
    async (tool_choice) => {
      const body = {
        model: "gpt-4o",
        messages: [user(script({ text: "hello" }))],
        tool_choice,
        n: 1,
        max_completion_tokens: 100,
        safety_identifier: "x",
        chat_template_kwargs: { enable_thinking: false },
      };
      for (const type of ["text/plain", "application/json; charset=UTF-8", "Application/JSON"]) {
        const headers = { "content-type": type };
        const response = await post("/v1/chat/completions", body, { headers });
        expect([response.status, await response.json()]).toMatchObject([200, { object: "chat.completion" }]);
      }
    },
  );
});
