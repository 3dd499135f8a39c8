/** An object is stopped while a caller waits for it. A caller that only sees an error would do its work twice. */
import { reset } from "cloudflare:test";
import { afterEach, expect, test } from "vitest";
import { call as mcpCall } from "../../../test/mcp-requests.ts";
import { chat, chatNamed, user } from "../../../test/openai-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { conversationOf, theHome } from "../../../test/states.ts";
import { hold, stop } from "../../../test/stopping.ts";
import { AGENTS, expectTurns, results, sameCallAgain, siren, sounds } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, say, TestBridge } from "../../../test/workerd.ts";
import { Conversation } from "../../conversation.ts";
import { Home } from "../../home.ts";

const WITHIN_MS = 20_000;

// Each test has its own home.
afterEach(reset);

test(
  "a message is one turn, even if its conversation is stopped before it answers",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const id = crypto.randomUUID();
    const start = hold(Conversation, "start", "after");
    const said = say(id, script({ calls: [siren] }, results));
    await start.reached();
    // The model is not asked again about what was stored.
    const call = await until(() => bridge.calls()[0]?.id);
    await stop("abort", conversationOf(id), start.release);
    bridge.report(call, "pi", sounds);
    expect(await said).toMatchObject({ status: 200, body: { answer: "it sounds" } });
    await expectTurns(id, [{ answer: "it sounds" }]);
    expect(bridge.calls()).toHaveLength(1);
  },
  WITHIN_MS,
);

test(
  "so is a request of an OpenAI client",
  async () => {
    const bridge = await TestBridge.connect(AGENTS);
    const start = hold(Conversation, "start", "after");
    const headers = { "x-edge-conversation": "stopped" };
    const said = chat([user(script({ calls: [siren] }, results))], {}, headers);
    await start.reached();
    const call = await until(() => bridge.calls()[0]?.id);
    await stop("abort", await chatNamed("stopped"), start.release);
    bridge.report(call, "pi", sounds);
    expect((await said).body.choices[0]?.message.content).toBe("it sounds");
    expect(bridge.calls()).toHaveLength(1);
  },
  WITHIN_MS,
);

const sirenCommand = { command: "tool", payload: { tool: "siren", parameters: {} } };
const calls: Record<string, { method: "calls.command" | "calls.submit"; send: () => Promise<unknown> }> = {
  "a command of the API": {
    method: "calls.command",
    send: async () => {
      const body = JSON.stringify(sirenCommand);
      return await (await ask("/v1/agents/pi/commands", { method: "POST", body })).json();
    },
  },
  "a call of an MCP client": {
    method: "calls.submit",
    send: async () => await mcpCall("edge_call", { agent_id: "pi", action: "siren" }),
  },
};

test.each(Object.entries(calls))(
  "%s is sent once, even if Home is stopped before it answers",
  async (_, { method, send }) => {
    const first = await TestBridge.connect(AGENTS);
    const held = hold(Home, method, "after");
    const answer = send();
    await held.reached();
    const sent = await until(() => first.calls()[0]?.id);
    await stop("abort", theHome(), held.release);
    await until(() => first.closed, { what: "the crash closes the bridge's socket" });
    const bridge = await TestBridge.connect(AGENTS);
    await sameCallAgain(bridge, sent);
    bridge.report(sent, "pi", sounds);
    expect(JSON.stringify(await answer)).toContain("it sounds");
    expect(bridge.calls()).toHaveLength(1);
  },
  WITHIN_MS,
);
