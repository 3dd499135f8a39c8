import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { NO_TOOL_CALLED } from "@edgecall/core/loop/history.ts";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { call, tools as listed, type McpResult, post, rpc } from "../../../test/mcp-requests.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, type CallFrame, CPU, SIREN, TestBridge } from "../../../test/workerd.ts";
import { Ledger } from "../../kernel/home/ledger/ledger.ts";
import { HomeTokens } from "../../kernel/home/people/tokens.ts";
import { RECHECK } from "../../kernel/http/object-stream.ts";

// The first request loads the Worker module by module, which takes longer without a bundle than a test may.
beforeAll(async () => void (await listed()), 30_000);

const RECHECK_MS = RECHECK.everyMs;
afterEach(() => {
  RECHECK.everyMs = RECHECK_MS;
});

const success = { status: "success", tool: "cpu", result: "load 0.5" };
const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch"];
/** An action whose schema takes no other parameter. */
const ECHO = {
  ...CPU,
  name: "echo",
  parameters: { type: "object", properties: { text: { type: "string" } }, additionalProperties: false },
};
/** A picture of one white pixel. */
const GIF = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";

function textOf(result: McpResult): string {
  return result.content[0]?.text ?? "";
}

function commandOf(frame: CallFrame | undefined) {
  return JSON.parse(frame?.payload ?? "{}") as Record<string, unknown> & { payload: Record<string, unknown> };
}

async function withPi(more: Parameters<typeof agent>[1] = {}) {
  return await TestBridge.connect([agent("pi", { features: FEATURES, tools: [CPU, SIREN], ...more })]);
}

async function theQuestion() {
  return await until(async () => {
    const { questions } = (await (await ask("/v1/questions")).json()) as {
      questions: Array<{ id: string; channel: string; call: string; text: string }>;
    };
    return questions[0];
  });
}

const answer = (id: string, text: string) =>
  ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer: text }) });

describe("a call", () => {
  test("L15: an answer for which the device's model called no tool says so", async () => {
    const bridge = await withPi();
    bridge.onCall = () => ({ status: "success", content: "Done!", asked: false });
    const result = await call("edge_call", { agent_id: "pi", query: "clean up" });
    expect(textOf(result)).toBe(`[${NO_TOOL_CALLED}]\nDone!`);
    expect(result._meta).toMatchObject({ "edgecall/asked": false });
  });

  test("by edge_call and by its own name: the device learns who asked", async () => {
    const bridge = await withPi();
    bridge.onCall = () => success;
    const direct = await call("edge_call", { agent_id: "pi", action: "cpu" });
    expect(direct.content).toEqual([{ type: "text", text: "load 0.5" }]);
    expect(direct.isError).toBeUndefined();
    expect(textOf(await call("pi__cpu", {}))).toBe("load 0.5");
    for (const frame of bridge.calls())
      expect(commandOf(frame)).toMatchObject({
        command: "tool",
        payload: { tool: "cpu" },
        caller: { principal: "anna", role: "owner", channel: "mcp" },
        tainted: true,
      });
    expect(
      await call("edge_call", { agent_id: "pi", query: "how warm?" }, { token: TOKENS.guest }),
    ).toBeTruthy();
    expect(commandOf(bridge.calls()[2])).toMatchObject({
      command: "prompt",
      payload: { prompt: "how warm?" },
      caller: { principal: "gus", role: "guest" },
    });
  });

  test("that fails is reported as such; an impossible one is refused without a device", async () => {
    const bridge = await withPi();
    bridge.onCall = () => ({
      status: "error",
      tool: "cpu",
      error: "no such sensor",
      error_type: "not_found",
    });
    expect(await call("pi__cpu", {})).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "Error: no such sensor" }],
    });
    expect(textOf(await call("edge_call", { agent_id: "nobody", query: "x" }))).toContain(
      "Online agents: pi",
    );
    expect(textOf(await call("edge_call", { agent_id: "pi", action: "fly" }))).toContain(
      "has no action 'fly'",
    );
    expect(textOf(await call("edge_call", {}))).toContain("missing 'agent_id'");
    const misspelt = await call("edge_call", { agent_id: "pi", quarry: "x" });
    expect(textOf(misspelt)).toContain("missing 'query' or 'action'");
    expect(misspelt.content[1]?.text).toContain('no argument "quarry"');
    expect(bridge.calls()).toHaveLength(1);
  });

  test("D3: what another program adds to a call reaches no device, and the result says so", async () => {
    const bridge = await withPi({ tools: [CPU, SIREN, ECHO] });
    bridge.onCall = () => success;
    const n8n = { toolCallId: "call_1", sessionId: "s", chatInput: "how warm?" };
    const injected = { ...n8n, tool: "x" };
    const answer = await call("pi__echo", { text: 7, ...injected });
    expect(answer.content).toEqual([
      { type: "text", text: "load 0.5" },
      {
        type: "text",
        text: 'Note: this tool has no argument "toolCallId", "sessionId", "chatInput", "tool"; ignored.',
      },
    ]);
    const sent = () => commandOf(bridge.calls().at(-1)).payload.parameters;
    // What the action has keeps its name and value: the device checks it.
    expect(sent()).toEqual({ text: 7 });
    // The schema of this one takes other names too.
    const open = await call("pi__cpu", injected);
    expect(sent()).toEqual({ tool: "x" });
    expect(open.content[1]?.text).toContain('"toolCallId", "sessionId", "chatInput"; ignored.');
    const direct = await call("edge_call", { agent_id: "pi", action: "cpu", params: { n: 1 }, ...n8n });
    expect(direct.content[1]?.text).toContain('"toolCallId", "sessionId", "chatInput"');
    // Within `params` they are the device's to check.
    expect(sent()).toEqual({ n: 1 });
    const all = await call("edge_list", n8n);
    expect(all.isError).toBeUndefined();
    expect(all.content[1]?.text).toContain("toolCallId");
    const wrong = await call("edge_call", { agent_id: 7, query: "x", toolCallId: "x" });
    expect(wrong.isError).toBe(true);
    expect(textOf(wrong)).toContain("agent_id");
  });

  test("D3: null for what is left out, and a note that quotes at most ten names", async () => {
    const bridge = await withPi();
    bridge.onCall = () => success;
    const nulls = { agent_id: "pi", action: "cpu", query: null, params: null, toolCallId: null };
    expect(textOf(await call("edge_call", nulls))).toBe("load 0.5");
    const words = await call(
      "edge_call",
      { agent_id: "pi", query: "x", action: null },
      { token: TOKENS.guest },
    );
    expect(words.isError).toBeUndefined();
    const { result } = await rpc("tools/call", { name: "pi__cpu", arguments: null, _meta: null });
    expect(result?.content).toEqual([{ type: "text", text: "load 0.5" }]);
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`"\n${n}${"x".repeat(100)}`, 1]));
    const { text = "" } = (await call("edge_list", many)).content[1] ?? {};
    expect(text.length).toBeLessThan(900);
    expect(text).toMatch(/^Note: [^\n]* and 2 more; ignored\.$/);
  });

  test("D2: a client of JSON alone gets a slow result as JSON, and one of events alone as an event", async () => {
    const bridge = await withPi();
    bridge.onCall = ({ id }) => {
      setTimeout(() => bridge.report(id, "pi", success), 1_500);
      return undefined;
    };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "pi__cpu" } };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      progressToken: 1,
    };
    const modern = { ...message, params: { ...message.params, _meta } };
    const named = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "pi__cpu" };
    const forms = ["application/json", "text/event-stream"].flatMap((accept) => [
      { accept, body: message, headers: { "mcp-protocol-version": "2025-06-18" } },
      { accept, body: modern, headers: named },
    ]);
    await Promise.all(
      forms.map(async ({ accept, body, headers }) => {
        const response = await ask("/mcp", {
          method: "POST",
          body: JSON.stringify(body),
          headers: { "content-type": "application/json; charset=utf-8", accept, ...headers },
        });
        expect([response.status, response.headers.get("content-type")]).toEqual([200, accept]);
        const text = await response.text();
        const json = accept === "application/json" ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "");
        expect(JSON.parse(json)).toMatchObject({ id: 1, result: { content: [{ text: "load 0.5" }] } });
      }),
    );
  });

  test("with a key runs once, however often it is sent", async () => {
    const bridge = await withPi();
    bridge.onCall = () => success;
    const init = { headers: { "idempotency-key": "once" } };
    const first = await call("pi__cpu", {}, init);
    expect(await call("pi__cpu", {}, init)).toEqual(first);
    expect(bridge.calls()).toHaveLength(1);
    expect(await call("pi__cpu", {}, { headers: { "idempotency-key": "twice" } })).not.toEqual(first);
    expect(bridge.calls()).toHaveLength(2);
  });

  test("sends progress to the client that gave a token for it", async () => {
    const bridge = await withPi();
    bridge.onCall = ({ id, payload }) => {
      expect(JSON.parse(payload)).toMatchObject({ watch: true });
      bridge.send({
        t: "event",
        id,
        agent: "pi",
        payload: JSON.stringify({ type: "progress", request_id: id, text: "half way" }),
      });
      return success;
    };
    const params = { name: "pi__cpu", arguments: {}, _meta: { progressToken: "p" } };
    const { messages } = await post({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    expect(messages.map(({ method }) => method)).toEqual(["notifications/progress", undefined]);
    expect(messages[0]?.params).toEqual({ progressToken: "p", progress: 1, message: "half way" });
  });

  test("that takes longer than the client waits continues, and can be looked up", async () => {
    const bridge = await withPi();
    const running = await call("pi__cpu", {}, { headers: { "edgecall-wait": "0" } });
    expect(textOf(running)).toMatch(/^Still running on 'pi'/);
    const id = String(running._meta?.["edgecall/call_id"]);
    bridge.report(id, "pi", success);
    expect(textOf(await call("edge_result", { agent_id: "pi", call_id: id }))).toBe("load 0.5");
  });

  test("that is accepted and done later is no success, and its result can be looked up then", async () => {
    const bridge = await withPi();
    bridge.onCall = () => ({ status: "accepted", tool: "cpu", result: "begun", job: "job-0001" });
    const accepted = await call("pi__cpu", {});
    expect(textOf(accepted)).toMatch(/^Accepted by 'pi', not done/);
    expect(accepted._meta).toMatchObject({ "edgecall/status": "accepted", "edgecall/call_id": "job-0001" });
    bridge.report("job-0001", "pi", success);
    expect(textOf(await call("edge_result", { agent_id: "pi", call_id: "job-0001" }))).toBe("load 0.5");
  });

  test("to an offline agent is refused at once, or waits if the action may", async () => {
    const tools = [CPU, { ...CPU, name: "later", queue_ms: 3_600_000 }];
    const bridge = await withPi({ online: false, tools });
    expect((await listed()).map(({ name }) => name).slice(3)).toEqual(["pi__later"]);
    expect(await call("pi__cpu", {})).toMatchObject({ isError: true });
    const queued = await call("pi__later", {});
    expect(textOf(queued)).toMatch(/^Accepted by 'pi', not done/);
    bridge.onCall = () => ({ ...success, result: "at last" });
    bridge.send({ t: "agent", agent: agent("pi", { features: FEATURES, tools }) });
    const look = { agent_id: "pi", call_id: queued._meta?.["edgecall/call_id"] };
    expect(textOf(await call("edge_result", look))).toBe("at last");
  });

  test("returns a picture as a picture; a file is a link without bytes", async () => {
    const bridge = await withPi();
    const place = btoa("mcp/somebody-elses").replace(/=+$/, "");
    const id = `${crypto.randomUUID()}.${place}`;
    const media = [
      { media_type: "image/gif", bytes: 43, data: GIF },
      { media_type: "image/png", bytes: 5, id, sha256: "0".repeat(64) },
    ];
    bridge.onCall = () => ({ ...success, media });
    const { content } = await call("pi__cpu", {});
    expect(content[1]).toEqual({ type: "image", data: GIF, mimeType: "image/gif" });
    expect(content[2]).toMatchObject({ type: "resource_link", uri: `https://gateway/v1/media/${id}` });
  });
});

describe("a call that needs approval", () => {
  test("answers with the question's address; after approval elsewhere its result can be looked up", async () => {
    const bridge = await withPi();
    let asking: CallFrame | undefined;
    bridge.onCall = (frame) => {
      const { command, payload } = commandOf(frame);
      if (command !== "answer") {
        asking = frame;
        void deviceAsks(bridge, frame.id, payload);
        return undefined;
      }
      bridge.report(frame.id, "pi", { status: "answered" });
      const result = payload.answer === "approve" ? "it sounds" : "not";
      bridge.report(asking?.id ?? "", "pi", { status: "success", tool: "siren", result });
      return undefined;
    };
    const asked = await call("pi__siren", { loud: true });
    const question = await theQuestion();
    expect(textOf(asked)).toContain("Nothing has run yet");
    expect(textOf(asked)).toContain(`https://gateway/v1/questions/${question.id}`);
    expect(question).toMatchObject({ channel: "mcp", call: asking?.id });
    const again = { agent_id: "pi", call_id: asked._meta?.["edgecall/call_id"] };
    // A look-up before the answer gives the same reply.
    expect(textOf(await call("edge_result", again))).toContain(question.id);
    expect((await answer(question.id, "approve")).status).toBe(200);
    expect(textOf(await call("edge_result", again))).toBe("it sounds");
    expect(bridge.calls().filter((frame) => commandOf(frame).command === "tool")).toHaveLength(1);
  });

  test("for an agent that cannot ask: the gateway asks before it sends", async () => {
    const bridge = await withPi({ features: ["tool", "cancel", "ack"] });
    bridge.onCall = () => ({ status: "success", tool: "siren", result: "it sounds" });
    const asked = await call("pi__siren", {});
    expect(textOf(asked)).toContain("Run siren on pi?");
    expect(bridge.calls()).toHaveLength(0);
    await answer((await theQuestion()).id, "deny");
    const denied = await call("edge_result", { agent_id: "pi", call_id: asked._meta?.["edgecall/call_id"] });
    expect(denied).toMatchObject({ isError: true });
    expect(textOf(denied)).toContain("it was not approved");
    expect(bridge.calls()).toHaveLength(0);
  });
});

describe("edge_list and edge_result", () => {
  test("the agents, and their arguments", async () => {
    const bridge = await withPi();
    const all = JSON.parse(textOf(await call("edge_list", {}))) as { agents: object[] };
    expect(all.agents).toMatchObject([{ agent_id: "pi", online: true, actions: ["cpu", "siren"] }]);
    const one = JSON.parse(textOf(await call("edge_list", { agent_id: "pi" }))) as { actions: object[] };
    expect(one.actions[0]).toMatchObject({ name: "cpu", effect: "read", params: { type: "object" } });
    expect(await call("edge_list", { agent_id: "x" })).toMatchObject({ isError: true });
    bridge.close();
  });

  test("no result of an unknown call, or of another home's", async () => {
    const bridge = await withPi();
    bridge.onCall = () => success;
    const { _meta } = await call("pi__cpu", {});
    const args = { agent_id: "pi", call_id: _meta?.["edgecall/call_id"] };
    expect(textOf(await call("edge_result", args))).toBe("load 0.5");
    expect(textOf(await call("edge_result", args, { token: TOKENS.otherHome }))).toContain("has no call");
    expect(textOf(await call("edge_result", { ...args, agent_id: "x" }))).toContain("has no call");
  });
});

test("S13 the result of a pending call is not given to a token that was revoked meanwhile", async () => {
  RECHECK.everyMs = 50;
  const bridge = await withPi();
  bridge.onCall = () => undefined;
  const body = JSON.stringify({ name: "short", role: "member", scopes: ["ask", "command"] });
  const made = (await (await ask("/v1/tokens", { method: "POST", body })).json()) as {
    token: string;
    record: { id: string };
  };
  const waits = call("pi__cpu", {}, { token: made.token });
  const { id } = await until(() => bridge.calls()[0]);
  // Set directly, so that the outcome is there when the waiting ends, without a notice to the waiting client.
  await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => {
    expect(new HomeTokens(storage).revoke(made.record.id, false)).toHaveLength(1);
    const outcome = { status: "success", text: "load 0.5", elapsedMs: 1, sources: [] } as const;
    expect(new Ledger(storage).settle(id, { ...outcome, sources: [] }, true, Date.now())).toBeTruthy();
  });
  const told = await waits;
  expect(told._meta?.["edgecall/status"]).toBe("running");
  bridge.close();
}, 20_000);

async function deviceAsks(bridge: TestBridge, id: string, payload: Record<string, unknown>): Promise<void> {
  const { tool, parameters } = payload as { tool: string; parameters: Record<string, unknown> };
  const hash = await approvalHash("pi", tool, parameters);
  const event = {
    type: "question",
    request_id: id,
    question_id: "q1",
    text: "May I sound the siren?",
    approval: { tool, parameters, reason: "the policy says ask", hash },
    expires_in_ms: 60_000,
  };
  bridge.send({ t: "event", id, agent: "pi", payload: JSON.stringify(event) });
}

test("with any advert, clients accept the list of tools", async () => {
  const bridge = await TestBridge.connect([agent("pi", { tools: [CPU] })]);
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom(..."aZ0_-"), minLength: 1, maxLength: 64 }),
      fc.string({ unit: "binary", maxLength: 500 }),
      fc.dictionary(fc.string(), fc.jsonValue()),
      async (name, description, parameters) => {
        await bridge.snapshot([agent("pi", { tools: [CPU, { name, description, parameters }] })]);
        const all = await listed();
        expect(all.length).toBeGreaterThanOrEqual(4);
        expect(new Set(all.map((tool) => tool.name)).size).toBe(all.length);
        for (const tool of all) {
          expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(tool.inputSchema.type).toBe("object");
          if (!tool.name.startsWith("edge_")) expect(tool.description).not.toMatch(/[\n\r\u2028]/);
        }
        expect((await call("edge_list", { agent_id: "pi" })).isError).toBeUndefined();
      },
    ),
    { numRuns: 60 },
  );
});

// The last one: its second agent stays on record.
test("a call to any agent: the answer says which one it was, and so its result is found", async () => {
  const bridge = await TestBridge.connect(
    ["pi", "pj"].map((id) => agent(id, { features: FEATURES, tools: [CPU] })),
  );
  bridge.onCall = () => success;
  const result = await call("edge_call", { agent_id: "any", action: "cpu" });
  const [frame] = bridge.calls();
  expect(textOf(result)).toBe(`[${frame?.agent} was chosen of 2: online, has 'cpu', no open call]\nload 0.5`);
  expect(result._meta).toMatchObject({ "edgecall/agent_id": frame?.agent, "edgecall/call_id": frame?.id });
  for (const agent_id of ["any", frame?.agent])
    expect(textOf(await call("edge_result", { agent_id, call_id: frame?.id }))).toBe(textOf(result));
});
