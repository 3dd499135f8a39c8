import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { releaseModel } from "../../../test/model-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { rowsOf } from "../../../test/stopping.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, say, TestBridge } from "../../../test/workerd.ts";
import { conversationOf } from "../api/stubs.ts";
import { isBlank } from "../migrate.ts";

const callCpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };
const success = { status: "success", tool: "cpu", result: "load 0.5" };

async function json(response: Response) {
  return (await response.json()) as {
    error?: { code: string; message: string; type?: string; param?: null };
  } & Record<string, unknown>;
}

const post = (path: string, body: unknown, more: Parameters<typeof ask>[1] = {}) =>
  ask(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), ...more });

describe("access", () => {
  test("healthz needs no token; everything else does", async () => {
    expect(await json(await ask("/healthz", { token: null }))).toMatchObject({ ok: true });
    for (const path of ["/v1/agents", "/v1/status", "/v1/conversations/x", "/ask", "/nothing"]) {
      const response = await ask(path, { token: null });
      expect(response.status, path).toBe(401);
      expect(response.headers.get("www-authenticate")).toContain("Bearer");
    }
    expect((await ask("/v1/agents", { token: "wrong-token-wrong-token" })).status).toBe(401);
    // A bridge's token is not valid for a person, and the reverse.
    expect((await ask("/v1/agents", { token: TOKENS.bridge })).status).toBe(401);
    expect((await ask("/bridge", { token: TOKENS.owner, headers: { upgrade: "websocket" } })).status).toBe(
      401,
    );
  });

  test("G14 no token, a wrong one, and an unknown route below /v1 each have their own text, in OpenAI's form too", async () => {
    const none = await json(await ask("/v1/agents", { token: null }));
    expect(none.error?.message).toContain("a bearer token is needed");
    const wrong = await json(await ask("/v1/agents", { token: "wrong-token-wrong-token" }));
    expect(wrong.error).toMatchObject({ code: "unauthorized", type: "authentication_error", param: null });
    expect(wrong.error?.message).toContain("this bearer token is not known here");
    const unserved = await post("/v1/embeddings", { model: "x", input: "y" });
    expect(unserved.status).toBe(404);
    expect((await json(unserved)).error).toEqual({
      code: "not_found",
      message: "no such route: POST /v1/embeddings",
      type: "invalid_request_error",
      param: null,
    });
  });

  test("a scope that the token lacks", async () => {
    const response = await post("/v1/agents/pi/commands", { command: "ping" }, { token: TOKENS.guest });
    expect(response.status).toBe(403);
    expect((await json(response)).error?.message).toBe("the token 'gus' does not have the scope 'command'");
  });

  test("a web page cannot connect as a bridge", async () => {
    const response = await ask("/bridge", {
      token: TOKENS.bridge,
      headers: { upgrade: "websocket", origin: "https://evil.example" },
    });
    expect(response.status).toBe(403);
    expect((await ask("/bridge", { token: TOKENS.bridge })).status).toBe(426);
  });
});

describe("wrong input names the field", () => {
  const messages = "/v1/conversations/x/messages";
  test.each([
    ["not JSON", messages, "{", /not JSON/],
    ["no text", messages, {}, /text: /],
    ["an empty text", messages, { text: "  " }, /text: /],
    ["a wrong type", messages, { text: 5 }, /text: .*string/],
    ["an unknown key", messages, { text: "x", texst: "y" }, /texst/],
    ["a picture that is not one", messages, { text: "x", images: ["file:///etc/passwd"] }, /images.0: /],
    ["an id that is none", "/v1/conversations/a%2Fb/messages", { text: "x" }, /id: expected/],
    ["an unknown command", "/v1/agents/pi/commands", { command: "fly" }, /command: /],
    ["an agent's id that is none", "/v1/agents/a%20b/commands", { command: "ping" }, /agent: expected/],
    ["an empty question", "/ask", "  ", /question/],
  ])("%s", async (_, path, body, message) => {
    const response = await post(path, body);
    expect(response.status).toBe(400);
    expect((await json(response)).error?.message).toMatch(message);
  });

  test("a body over the limit, a body that is not text", async () => {
    expect((await post(messages, "x".repeat(1_100_000))).status).toBe(413);
    expect((await ask(messages, { method: "POST", body: new Uint8Array([0xff, 0xfe, 0x00]) })).status).toBe(
      400,
    );
  });

  test("a turn that does not exist, an invalid turn id, an invalid Last-Event-ID", async () => {
    expect((await ask(`/v1/conversations/x/turns/${crypto.randomUUID()}`)).status).toBe(404);
    expect((await ask("/v1/conversations/x/turns/5")).status).toBe(400);
    const events = `/v1/conversations/x/turns/${crypto.randomUUID()}/events`;
    expect((await ask(events, { headers: { "last-event-id": "-1" } })).status).toBe(400);
    expect((await ask(events)).status).toBe(404);
  });
});

describe("events", () => {
  type Event = { id?: number; event: string; data: Record<string, unknown> };
  async function eventsOf(response: Response): Promise<Event[]> {
    const text = await response.text();
    return text
      .split("\n\n")
      .filter((block) => block.includes("event: "))
      .map((block) => {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
        const id = field("id");
        return {
          ...(id !== undefined && { id: Number(id) }),
          event: field("event") ?? "",
          data: JSON.parse(field("data") ?? "{}"),
        };
      });
  }

  test("arrive as they happen; a client that attaches again misses nothing and gets nothing twice", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = () => success;
    const response = await post(
      "/v1/conversations/sse/messages",
      { text: script(callCpu, { text: "It is $results" }) },
      { headers: { accept: "text/event-stream" } },
    );
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const turn = response.headers.get("edgecall-turn");
    const events = await eventsOf(response);
    expect(events.map(({ event }) => event)).toEqual(["turn", "message", "call", "delta", "delta", "done"]);
    expect(events.find(({ event }) => event === "call")?.data).toMatchObject({
      status: "success",
      agent: "pi",
      result: "load 0.5",
    });
    expect(
      events
        .filter(({ event }) => event === "delta")
        .map(({ data }) => data.text)
        .join(""),
    ).toBe("It is load 0.5");
    expect(events.at(-1)?.data).toMatchObject({ status: "done", answer: "It is load 0.5" });

    const counted = events.filter(({ id }) => id !== undefined);
    for (const [position, { id }] of counted.entries()) {
      const rest = await eventsOf(
        await ask(`/v1/conversations/sse/turns/${turn}/events`, { headers: { "last-event-id": String(id) } }),
      );
      expect(rest.filter((event) => event.id !== undefined)).toEqual(counted.slice(position + 1));
    }
  });

  test("a retried step is reported", async () => {
    await TestBridge.connect([agent("pi")]);
    const response = await post(
      "/v1/conversations/reset/messages",
      { text: script({ breakOff: true }, { text: "whole" }) },
      { headers: { accept: "text/event-stream" } },
    );
    const events = await eventsOf(response);
    const names = events.map(({ event }) => event);
    expect(names.indexOf("reset")).toBeGreaterThan(names.indexOf("delta"));
    expect(
      events
        .slice(names.indexOf("reset"))
        .filter(({ event }) => event === "delta")
        .map(({ data }) => data.text)
        .join(""),
    ).toBe("whole");
  });
});

describe("commands", () => {
  test("are answered with the agent's report", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = () => ({ pong: true });
    const response = await post("/v1/agents/pi/commands", { command: "ping" });
    expect(response.status).toBe(200);
    expect(await json(response)).toMatchObject({
      agent: "pi",
      report_type: "result",
      payload: { pong: true },
    });
  });

  test("to an unknown agent are answered at once", async () => {
    await TestBridge.connect([agent("shelf", { online: false, last_seen: null })]);
    expect((await post("/v1/agents/nobody/commands", { command: "ping" })).status).toBe(404);
    const offline = await post("/v1/agents/shelf/commands", { command: "ping" });
    expect(offline.status).toBe(409);
    expect((await json(offline)).error).toMatchObject({
      code: "offline",
      message: expect.stringContaining("last seen never"),
    });
  });
});

describe("the rest", () => {
  test.for([
    ["GET", "/ask", "POST"],
    ["PUT", "/v1/conversations/x", "GET, PATCH, DELETE"],
    ["POST", "/v1/media/x", "GET, PUT"],
    ["GET", "/v1/chat/completions", "POST"],
    ["PUT", "/v1/models", "GET"],
  ] as const)("%s %s names the allowed methods: %s", async ([method, path, allow]) => {
    const response = await ask(path, { method });
    expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
    expect((await json(response)).error).toMatchObject({
      code: "method_not_allowed",
      message: `${method} ${path}: expected ${allow}`,
    });
  });

  test("a path without any method is no route", async () => {
    for (const path of ["/nothing", "/v1", "/v1/chat/nothing", "/v1/console/nothing"]) {
      const response = await ask(path);
      expect([response.status, response.headers.get("allow")], path).toEqual([404, null]);
      expect((await json(response)).error?.message).toBe(`no such route: GET ${path}`);
    }
  });

  test("/ask answers with text only", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    bridge.onCall = () => success;
    const response = await post("/ask", script(callCpu, { text: "$results" }));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("load 0.5\n");
    const failed = await post("/ask", script({ status: 401 }));
    expect(failed.status).toBe(502);
    expect(await failed.text()).toContain("could not get an answer from the model");
  });

  test("a question of /ask leaves no rows after two days", async () => {
    const held = { hold: "two-days", step: { text: "x" } };
    const asked = await post("/ask", script(held), { headers: { prefer: "wait=0" } });
    const place = asked.headers.get("location") ?? "";
    await releaseModel("two-days");
    await until(async () => (await ask(place)).status === 200);
    const stub = env.CONVERSATION.getByName(`a/ask/${place.split("/").at(-1)}`);
    const rows = () => rowsOf(stub, "SELECT 1 FROM entry");
    expect((await rows()).length).toBeGreaterThan(0);
    await runInDurableObject(stub, (_, { storage }) => {
      storage.sql.exec(
        "UPDATE entry SET body = json_set(body, '$.at', (body ->> '$.at') - 49 * 3600000) WHERE kind = 'end'",
      );
    });
    // After two days it sleeps, and reads its rows again.
    await evictDurableObject(stub);
    await runDurableObjectAlarm(stub);
    await until(async () => (await rows()).length === 0);
  });

  test("reading or deleting a conversation that was never begun leaves no rows", async () => {
    const path = "/v1/conversations/nobody-began";
    const turn = `${path}/turns/${crypto.randomUUID()}`;
    for (const look of [path, turn, `${turn}/events`]) expect((await ask(look)).status).toBe(404);
    expect((await ask(`${turn}/cancel`, { method: "POST" })).status).toBe(404);
    expect((await ask(path, { method: "DELETE" })).status).toBe(204);
    const stub = env.CONVERSATION.getByName("a/api/nobody-began");
    expect(await runInDurableObject(stub, (_, { storage }) => isBlank(storage))).toBe(true);
    // Neither does a late result for a deleted one, because otherwise Home would deliver it forever.
    const gone = conversationOf(env, "a/api/nobody-began");
    await gone.settle("call", { status: "success", text: "late", elapsedMs: 1 });
    await gone.progress({ call: "call", text: "late" });
    await gone.closeQuestion("question", "no", null);
    expect(await runInDurableObject(stub, (_, { storage }) => isBlank(storage))).toBe(true);
    expect((await say("nobody-began", script({ text: "begun" }))).body.answer).toBe("begun");
  });

  test("a conversation is deleted", async () => {
    await say("forget", script({ text: "x" }));
    expect((await ask("/v1/conversations/forget", { method: "DELETE" })).status).toBe(204);
    expect((await ask("/v1/conversations/forget")).status).toBe(404);
    expect((await say("forget", script({ text: "anew" }))).body.answer).toBe("anew");
  });

  test("a conversation with a running and a waiting turn is deleted: both are cancelled", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    const first = say("forget-queue", script(callCpu, { text: "never" }));
    await until(() => bridge.calls().length > 0);
    const second = say("forget-queue", script({ text: "never" }));
    await until(async () => {
      const { turns } = (await json(await ask("/v1/conversations/forget-queue"))) as { turns?: unknown[] };
      return turns?.length === 2;
    });
    expect((await ask("/v1/conversations/forget-queue", { method: "DELETE" })).status).toBe(204);
    expect([(await first).body.status, (await second).body.status]).toEqual(["cancelled", "cancelled"]);
  });

  test("after its deletion a conversation still gets its alarms", async () => {
    await say("forget-alarm", script({ text: "x" }));
    await ask("/v1/conversations/forget-alarm", { method: "DELETE" });
    const { body } = await say(
      "forget-alarm",
      script({ status: 429, headers: { "retry-after": "1" } }, { text: "in the end" }),
    );
    expect(body.answer).toBe("in the end");
  });

  test("status shows the bridge, the agents and the open calls", async () => {
    const bridge = await TestBridge.connect([agent("pi")]);
    const answer = say("status", script(callCpu, { text: "$results" }));
    const call = await until(() => bridge.calls()[0]);
    expect(await json(await ask("/v1/status"))).toMatchObject({
      home: "a",
      bridge: { online: true, id: "test" },
      agents: { known: expect.any(Number), online: 1 },
      calls: [{ id: call.id, agent: "pi", command: "tool" }],
    });
    bridge.report(call.id, "pi", success);
    await answer;
    expect(await json(await ask("/v1/status"))).toMatchObject({ calls: [] });
  });
});
