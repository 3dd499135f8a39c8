/** Approvals by an address that the client shows its person (URL-mode elicitation), and the step-up of a connected program. */
import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { call, post, tools } from "../../../test/mcp-requests.ts";
import { pkce, SignIn } from "../../../test/oauth-sign-in.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, TestBridge } from "../../../test/workerd.ts";
import { apiTokenRecords } from "../../kernel/settings/tokens.ts";
import { mcpServer } from "./server.ts";

type Result = {
  resultType: string;
  content: { text: string }[];
  isError?: boolean;
  inputRequests?: Record<string, { method: string; params: Record<string, string> }>;
  requestState?: string;
  _meta?: Record<string, string>;
};

let rpcId = 0;

async function modernCall(
  name: string,
  args: object,
  more: object = {},
  elicitation: object | null = { url: {} },
  token: string = TOKENS.owner,
): Promise<{ result: Result; error?: { message: string; data?: object } }> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": elicitation ? { elicitation } : {},
  };
  const headers = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": name,
  };
  rpcId += 1;
  const params = { name, arguments: args, _meta, ...more };
  const { messages, text } = await post(
    { jsonrpc: "2.0", id: rpcId, method: "tools/call", params },
    { headers, token },
  );
  const message = messages.find(({ id }) => id === rpcId);
  if (!message) throw new Error(text);
  return message as unknown as { result: Result; error?: { message: string; data?: object } };
}

const theQuestion = () =>
  until(async () => {
    const { questions } = (await (await ask("/v1/questions")).json()) as { questions: { id: string }[] };
    return questions[0];
  });
const answer = (id: string, text: string) =>
  ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify({ answer: text }) });

let bridge: TestBridge;

// The first request loads the Worker module by module, which takes longer without a bundle than a test may.
beforeAll(async () => void (await tools()), 30_000);

/** The gateway asks for an agent that cannot ask itself. */
beforeEach(async () => {
  const { questions } = (await (await ask("/v1/questions")).json()) as { questions: { id: string }[] };
  for (const { id } of questions) await answer(id, "deny");
  bridge = await TestBridge.connect([
    agent("pi", { features: ["tool", "cancel", "ack"], tools: [CPU, SIREN] }),
  ]);
  bridge.onCall = () => ({ status: "success", tool: "siren", result: "it sounds" });
});

const calls = () => bridge.calls().filter(({ payload }) => payload.includes("siren"));

describe("a call that needs approval, of a client that shows addresses", () => {
  // A program that was denied three times is not asked about any more.
  afterEach(reset);

  test("asks for its person; after they approved at the gateway, the second try has the result", async () => {
    const { result } = await modernCall("pi__siren", { loud: true });
    const { id } = await theQuestion();
    expect(result).toMatchObject({
      resultType: "input_required",
      inputRequests: {
        answer: {
          method: "elicitation/create",
          params: {
            mode: "url",
            elicitationId: id,
            url: `https://gateway/#/waiting/${id}`,
            message: expect.stringContaining("pi"),
          },
        },
      },
    });
    const { requestState } = result;
    const accepted = { requestState, inputResponses: { answer: { action: "accept" } } };
    // `accept` is no approval: the second try is held until the person has answered.
    const again = modernCall("pi__siren", { loud: true }, accepted);
    await until(async () => (await theQuestion()).id === id);
    expect(calls()).toHaveLength(0);
    await answer(id, "approve");
    expect((await again).result).toMatchObject({ resultType: "complete", content: [{ text: "it sounds" }] });
    // A third try is the same call.
    const third = await modernCall("pi__siren", { loud: true }, accepted);
    expect(third.result.content[0]?.text).toBe("it sounds");
    expect(calls()).toHaveLength(1);
  });

  test("a person who denies it is believed, whatever the client says", async () => {
    const { result } = await modernCall("pi__siren", {});
    const again = modernCall(
      "pi__siren",
      {},
      {
        requestState: result.requestState,
        inputResponses: { answer: { action: "accept", content: { answer: "approve" } } },
      },
    );
    await answer((await theQuestion()).id, "deny");
    expect((await again).result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("not approved") }],
    });
    expect(calls()).toHaveLength(0);
  });

  test("nobody answers: the second try says that nothing has run, and how to look again", async () => {
    const { result } = await modernCall("pi__siren", {});
    const { id } = await theQuestion();
    const headers = { "edgecall-wait": "1" };
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": { elicitation: { url: {} } },
    };
    const { messages } = await post(
      {
        jsonrpc: "2.0",
        id: "again",
        method: "tools/call",
        params: { name: "pi__siren", arguments: {}, requestState: result.requestState, _meta },
      },
      {
        headers: {
          ...headers,
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "pi__siren",
        },
      },
    );
    const last = messages[0]?.result as unknown as Result;
    expect(last.resultType).toBe("complete");
    expect(last.content[0]?.text).toContain("Nothing has run yet");
    await answer(id, "deny");
  });

  test.each(["decline", "cancel"])("%s withdraws the question and the call", async (action) => {
    const { result } = await modernCall("pi__siren", {});
    await theQuestion();
    const again = await modernCall(
      "pi__siren",
      {},
      {
        requestState: result.requestState,
        inputResponses: { answer: { action } },
      },
    );
    expect(again.result).toMatchObject({ isError: true, resultType: "complete" });
    const { questions } = (await (await ask("/v1/questions")).json()) as { questions: object[] };
    expect([questions, calls()]).toEqual([[], []]);
  });

  test("a client that leaves while its second try is held cancels the call", async () => {
    const { result } = await modernCall("pi__siren", {});
    await theQuestion();
    const token = apiTokenRecords(env).find(({ name }) => name === "anna");
    if (!token) throw new Error("no token of anna");
    const late: Promise<unknown>[] = [];
    const server = mcpServer({
      homeTools: [],
      env,
      token,
      origin: "https://gateway",
      waitUntil: (work) => void late.push(work),
    });
    const client = new AbortController();
    const again = server.call(
      "pi__siren",
      {},
      {
        headers: new Headers(),
        signal: client.signal,
        closeCancels: true,
        showsUrl: true,
        again: { state: result.requestState ?? "", responses: { answer: { action: "accept" } } },
      },
    );
    client.abort();
    await again;
    await Promise.all(late);
    const { questions } = (await (await ask("/v1/questions")).json()) as { questions: object[] };
    expect([questions, calls()]).toEqual([[], []]);
  });

  test("names the call to look for, also when its state has expired", async () => {
    const { result } = await modernCall("pi__siren", {});
    const call = result._meta?.["edgecall/call_id"];
    expect(call).toMatch(/./);
    const { id } = await theQuestion();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 600_001 });
    const { error } = await modernCall("pi__siren", {}, { requestState: result.requestState });
    vi.useRealTimers();
    expect(error?.message).toContain(`edge_result with agent_id 'pi' and call_id '${call}'`);
    expect(error?.data).toMatchObject({ "edgecall/call_id": call });
    await answer(id, "deny");
  });

  test("the state of another call, of another caller, or a made-up one is refused", async () => {
    const { result } = await modernCall("pi__siren", { loud: true });
    const { requestState = "" } = result;
    for (const [args, state, token] of [
      [{ loud: false }, requestState, TOKENS.owner],
      [{ loud: true }, `A${requestState}`, TOKENS.owner],
      [{ loud: true }, "", TOKENS.owner],
      [{ loud: true }, requestState, TOKENS.member],
    ] as const) {
      const { error } = await modernCall("pi__siren", args, { requestState: state }, { url: {} }, token);
      expect(error?.message).toContain("requestState");
    }
    expect(calls()).toHaveLength(0);
    await answer((await theQuestion()).id, "deny");
  });

  test.each([
    ["that declares none", null],
    ["that declares forms alone", {}],
    ["that declares forms by name", { form: {} }],
  ])("a client %s gets words", async (_, elicitation) => {
    const { result } = await modernCall("pi__siren", {}, {}, elicitation);
    expect(result).toMatchObject({ resultType: "complete" });
    expect(result.content[0]?.text).toContain("Nothing has run yet");
    await answer((await theQuestion()).id, "deny");
  });

  test("a client of 2025 gets words, too", async () => {
    const asked = await call("pi__siren", {});
    expect(asked.content[0]?.text).toContain("Nothing has run yet");
    await answer((await theQuestion()).id, "deny");
  });
});

describe("a connected program that may only ask", () => {
  const signIn = new SignIn((path, init = {}) => ask(path, { token: null, ...init }), "https://gateway");
  const raw = (name: string, args: unknown, token: string) =>
    ask("/mcp", {
      method: "POST",
      token,
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name, arguments: args },
      }),
    });

  test("gets 403 for an action, with the scope that it needs; a new consent gives it", async () => {
    const { access_token, clientId, cookie } = await signIn.connect(TOKENS.owner);
    for (const [name, args] of [
      ["pi__cpu", {}],
      ["edge_call", { agent_id: "pi", action: "cpu" }],
    ] as const) {
      const refused = await raw(name, args, access_token);
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
        403,
        'Bearer error="insufficient_scope", scope="ask command", resource_metadata="https://gateway/.well-known/oauth-protected-resource/mcp"',
      ]);
    }
    expect((await raw("edge_list", {}, access_token)).status).toBe(200);
    const query = { agent_id: "pi", query: "How warm is it?", action: "" };
    const asked = await raw("edge_call", query, access_token);
    expect(asked.status).toBe(200);
    expect(await asked.text()).not.toContain("scope");
    for (const strange of ["x", 5, true, [], null])
      expect((await raw("edge_call", strange, access_token)).status).toBe(200);
    const { verifier, challenge } = pkce();
    const path = signIn.authorizePath(clientId, challenge, { scope: "ask command" });
    expect((await signIn.open(path, cookie)).html).toContain("it asks for this");
    const code = await signIn.consent(path, cookie, { command: "yes", trusted: "yes" });
    const more = await signIn.redeem(clientId, code, verifier);
    expect(more.scope).toBe("ask command");
    expect(await (await raw("pi__cpu", {}, more.access_token)).text()).toContain("it sounds");
  });

  test("of a person who has no `command` gets words, since asking them is of no use", async () => {
    const { access_token } = await signIn.connect(TOKENS.guest);
    const answered = await raw("edge_call", { agent_id: "pi", action: "cpu" }, access_token);
    expect(answered.status).toBe(200);
    expect(await answered.text()).toContain("lacks the scope 'command'");
  });
});
