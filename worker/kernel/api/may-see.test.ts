/**
 * Tests the table of docs/explain/security.md (the callers that may see and answer something), for each role and scope at each
 * route.
 */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { call, tools as listed } from "../../../test/mcp-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";
import type { Conversation } from "../../conversation.ts";
import { CONVERSATION_V4 } from "../fixtures/v4.ts";
import { maySee } from "./may-see.ts";
import { mediaId, newMedia } from "./media.ts";
import { conversationOf } from "./stubs.ts";

beforeAll(async () => void (await listed()), 30_000);

/** Everything here was begun by mia, a member with `ask` and `command`. */
const VIEWERS = {
  owner: TOKENS.owner,
  admin: TOKENS.admin,
  began: TOKENS.member,
  approver: TOKENS.approver,
  guest: TOKENS.guest,
  scraper: TOKENS.scraper,
  "other home": TOKENS.otherHome,
} as const;
type ViewerName = keyof typeof VIEWERS;
const NAMES = Object.keys(VIEWERS) as ViewerName[];

const post = (path: string, body: unknown, token: string) =>
  ask(path, { method: "POST", body: JSON.stringify(body), token });

const success = { status: "success", tool: "cpu", result: "load 0.5" };
const callCpu = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };

/** Makes a conversation of mia's with a picture, shared with these people. */
async function conversationOfMia(id: string, shared: string[] = []) {
  const pixel = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
  const response = await post(
    `/v1/conversations/${id}/messages`,
    { text: script({ text: "seen" }), images: [pixel] },
    TOKENS.member,
  );
  const { turn } = (await response.json()) as { turn: string };
  if (shared.length > 0)
    expect((await post(`/v1/conversations/${id}/share`, { with: shared }, TOKENS.member)).status).toBe(200);
  return { turn, picture: mediaId(`${turn}-0`, `a/api/${id}`) };
}

async function statuses(of: (token: string, name: ViewerName) => Promise<Response>) {
  const found: Partial<Record<ViewerName, number>> = {};
  for (const name of NAMES) {
    const response = await of(VIEWERS[name], name);
    await response.arrayBuffer();
    found[name] = response.status;
  }
  return found;
}

/** The callers of a conversation that is not shared, and of one that is shared with max and gus. */
const PRIVATE = {
  owner: 200,
  admin: 200,
  began: 200,
  approver: 404,
  guest: 404,
  scraper: 403,
  "other home": 404,
};
const SHARED = { ...PRIVATE, approver: 200, guest: 200 };

describe("S13 a conversation", () => {
  const reads: Array<[string, (id: string, turn: string, picture: string) => string, string]> = [
    ["its turns", (id) => `/v1/conversations/${id}`, "GET"],
    ["one turn", (id, turn) => `/v1/conversations/${id}/turns/${turn}`, "GET"],
    ["its events", (id, turn) => `/v1/conversations/${id}/turns/${turn}/events`, "GET"],
    ["stop", (id, turn) => `/v1/conversations/${id}/turns/${turn}/cancel`, "POST"],
    ["its pictures", (_, __, picture) => `/v1/media/${picture}`, "GET"],
  ];

  test.each(reads)(
    "S13 %s: seen by its creator, owners, administrators, and the people it is shared with",
    async (_, path, method) => {
      const own = await conversationOfMia("seen-own");
      const shared = await conversationOfMia("seen-shared", ["max", "gus"]);
      const at = (id: string, of: typeof own) =>
        statuses((token) => ask(path(id, of.turn, of.picture), { method, token }));
      expect(await at("seen-own", own)).toEqual(PRIVATE);
      expect(await at("seen-shared", shared)).toEqual(SHARED);
    },
  );

  test("S13 other people cannot write in it, share it or delete it, and an invisible one does not exist for them", async () => {
    await conversationOfMia("kept");
    const speak = await post("/v1/conversations/kept/messages", { text: "hello" }, TOKENS.guest);
    expect(speak.status).toBe(404);
    const unknown = await ask("/v1/conversations/never-begun", { token: TOKENS.guest });
    const hidden = await ask("/v1/conversations/kept", { token: TOKENS.guest });
    expect([hidden.status, await hidden.text()]).toEqual([unknown.status, await unknown.text()]);
    expect((await post("/v1/conversations/kept/share", { with: ["gus"] }, TOKENS.guest)).status).toBe(404);
    expect((await ask("/v1/conversations/kept", { method: "DELETE", token: TOKENS.guest })).status).toBe(404);

    // The people it is shared with may write in it, and neither share nor delete it.
    const shared = await post("/v1/conversations/kept/share", { with: ["gus", "gus"] }, TOKENS.member);
    expect(await shared.json()).toEqual({ id: "kept", shared_with: ["gus"] });
    expect((await say("kept", script({ text: "hi" }), { token: TOKENS.guest })).status).toBe(200);
    expect((await post("/v1/conversations/kept/share", { with: [] }, TOKENS.guest)).status).toBe(403);
    expect((await ask("/v1/conversations/kept", { method: "DELETE", token: TOKENS.guest })).status).toBe(403);

    await post("/v1/conversations/kept/share", { with: [] }, TOKENS.member);
    expect((await ask("/v1/conversations/kept", { token: TOKENS.guest })).status).toBe(404);
    expect((await ask("/v1/conversations/kept", { method: "DELETE", token: TOKENS.member })).status).toBe(
      204,
    );
    // The id is free again, and belongs to its next user.
    expect((await say("kept", script({ text: "mine" }), { token: TOKENS.guest })).status).toBe(200);
    expect((await ask("/v1/conversations/kept", { token: TOKENS.member })).status).toBe(404);
  });

  test("S13 a refusal to share names the field", async () => {
    await conversationOfMia("shared-wrong");
    for (const body of [{}, { with: "gus" }, { with: [""] }, { with: Array(21).fill("x") }]) {
      const response = await post("/v1/conversations/shared-wrong/share", body, TOKENS.member);
      expect(response.status).toBe(400);
      expect(await response.text()).toMatch(/with/);
    }
    expect((await post("/v1/conversations/nobodys/share", { with: ["gus"] }, TOKENS.member)).status).toBe(
      404,
    );
  });

  test("S13 the list has one's own and shared conversations; owners and administrators see all", async () => {
    await conversationOfMia("listed-own");
    await conversationOfMia("listed-shared", ["gus"]);
    const ids = async (token: string, query = "?limit=100") => {
      const response = await ask(`/v1/conversations${query}`, { token });
      if (!response.ok) return response.status;
      const { conversations } = (await response.json()) as {
        conversations: Array<{ id: string; principal?: string }>;
      };
      return conversations
        .filter(({ id }) => id.startsWith("listed-"))
        .map(({ id, principal }) => [id, principal]);
    };
    const both = [
      ["listed-own", undefined],
      ["listed-shared", undefined],
    ];
    expect(((await ids(TOKENS.member)) as unknown[]).toSorted()).toEqual(both);
    expect(await ids(TOKENS.guest)).toEqual([["listed-shared", "mia"]]);
    expect(await ids(TOKENS.owner)).toEqual([]);
    for (const token of [TOKENS.owner, TOKENS.admin])
      expect(((await ids(token, "?limit=100&all=yes")) as unknown[]).toSorted()).toEqual([
        ["listed-own", "mia"],
        ["listed-shared", "mia"],
      ]);
    expect(await ids(TOKENS.guest, "?all=yes")).toBe(403);
    expect(await ids(TOKENS.owner, "?all=maybe")).toBe(400);
  });

  test("S13 a conversation of 0.2.0 belongs to the first person who asked in it", async () => {
    await conversationOfMia("old");
    await runInDurableObject(env.CONVERSATION.getByName("a/api/old"), (_: Conversation, { storage }) => {
      for (const table of ["entry", "media", "media_part", "migration"])
        storage.sql.exec(`DROP TABLE ${table}`);
      storage.sql.exec(CONVERSATION_V4.replaceAll('"anna"', '"mia"'));
    });
    await runInDurableObject(env.HOME.getByName("a"), (_, { storage }) => {
      storage.sql.exec("DELETE FROM conversation");
    });
    expect((await ask("/v1/conversations/old", { token: TOKENS.member })).status).toBe(200);
    expect((await ask("/v1/conversations/old", { token: TOKENS.guest })).status).toBe(404);
    expect((await ask("/v1/conversations/old")).status).toBe(200);
  });
});

describe("S13 questions and approvals", () => {
  /** Makes a call of mia's for which a device asks. @returns the question's id */
  async function asked(conversation: string, approval: boolean) {
    const bridge = await TestBridge.connect([
      agent("pi", {
        features: ["tool", "prompt", "cancel", "ack", "question", "watch"],
        tools: [CPU, SIREN],
      }),
    ]);
    bridge.onCall = (frame) => {
      const command = JSON.parse(frame.payload) as { command: string };
      if (command.command !== "tool") return { status: "answered" };
      const parameters = { loud: true };
      void approvalHash("pi", "siren", parameters).then((hash) => {
        const event = {
          type: "question",
          request_id: frame.id,
          question_id: conversation,
          text: "May I?",
          expires_in_ms: 60_000,
          ...(approval && { approval: { tool: "siren", parameters, reason: "it writes", hash } }),
        };
        bridge.send({ t: "event", id: frame.id, agent: "pi", payload: JSON.stringify(event) });
      });
      return undefined;
    };
    const turn = say(conversation, script(callCpu, { text: "$results" }), { token: TOKENS.member });
    const question = await until(async () => {
      const { questions } = (await (await ask("/v1/questions")).json()) as {
        questions: Array<{ id: string; conversation: string }>;
      };
      return questions.find((one) => one.conversation === conversation);
    });
    return {
      id: question.id,
      end: async () => {
        bridge.report(bridge.calls()[0]?.id ?? "", "pi", success);
        await turn;
      },
    };
  }

  /** Returns the callers that see it in the list, and the status that each gets for an invalid answer. */
  async function seenBy(id: string) {
    const found: Partial<Record<ViewerName, [boolean, number]>> = {};
    for (const name of NAMES) {
      const token = VIEWERS[name];
      const list = await ask("/v1/questions", { token });
      const { questions = [] } = (await list.json()) as { questions?: Array<{ id: string }> };
      const answer = await post(`/v1/questions/${id}`, { answer: "" }, token);
      // An empty answer is refused first; the rights show in the status of an invalid one.
      expect([400, 403]).toContain(answer.status);
      const wrong = await post(`/v1/questions/${id}`, { answer: "neither" }, token);
      await wrong.arrayBuffer();
      found[name] = [questions.some((one) => one.id === id), wrong.status];
    }
    return found;
  }

  test("S13 an approval: answered by readers of the conversation with 'approve'; owners and administrators see it", async () => {
    const { id, end } = await asked("approval", true);
    expect(await seenBy(id)).toEqual({
      // 400: allowed, but the answer must be approve or deny.
      owner: [true, 400],
      admin: [true, 403],
      began: [false, 403],
      approver: [false, 404],
      guest: [false, 404],
      scraper: [false, 403],
      "other home": [false, 404],
    });
    await post("/v1/conversations/approval/share", { with: ["max", "gus"] }, TOKENS.member);
    expect(await seenBy(id)).toMatchObject({ approver: [true, 400], guest: [false, 403] });
    expect((await post(`/v1/questions/${id}`, { answer: "deny" }, TOKENS.approver)).status).toBe(200);
    await end();
  });

  test("S13 a question: answered by readers of the conversation", async () => {
    const { id, end } = await asked("plain", false);
    const list = async (token: string) =>
      (
        (await (await ask("/v1/questions", { token })).json()) as { questions: Array<{ id: string }> }
      ).questions.some((one) => one.id === id);
    const sees = async () =>
      Object.fromEntries(
        await Promise.all(
          (["owner", "admin", "began", "approver", "guest", "other home"] as const).map(
            async (name) => [name, await list(VIEWERS[name])] as const,
          ),
        ),
      );
    const own = { owner: true, admin: true, began: true, approver: false, guest: false, "other home": false };
    expect(await sees()).toEqual(own);
    expect((await post(`/v1/questions/${id}`, { answer: "hm" }, TOKENS.guest)).status).toBe(404);
    await post("/v1/conversations/plain/share", { with: ["gus"] }, TOKENS.member);
    expect(await sees()).toEqual({ ...own, guest: true });
    expect((await post(`/v1/questions/${id}`, { answer: "hm" }, TOKENS.guest)).status).toBe(200);
    await end();
  });
});

describe("S13 results of commands and of MCP's calls", () => {
  test("S13 of a command: its caller with 'command', and owners; of a prompt: its caller", async () => {
    const bridge = await TestBridge.connect([
      agent("pi", { features: ["tool", "prompt", "ack"], tools: [CPU] }),
    ]);
    bridge.onCall = (frame) =>
      JSON.parse(frame.payload).command === "prompt" ? { status: "success", content: "21 degrees" } : success;
    const made = await post(
      "/v1/agents/pi/commands",
      { command: "tool", payload: { tool: "cpu", parameters: {} } },
      TOKENS.member,
    );
    const { request_id: id } = (await made.json()) as { request_id: string };
    expect(await statuses((token) => ask(`/v1/agents/pi/commands/${id}`, { token }))).toEqual({
      owner: 200,
      admin: 403,
      began: 200,
      approver: 403,
      guest: 403,
      scraper: 403,
      "other home": 404,
    });
    const looks = async (call_id: string) => {
      const found: Partial<Record<ViewerName, boolean>> = {};
      for (const name of ["owner", "admin", "began", "approver", "guest", "other home"] as const) {
        const got = await call("edge_result", { agent_id: "pi", call_id }, { token: VIEWERS[name] });
        found[name] = got.isError !== true;
      }
      return found;
    };
    const none = {
      owner: true,
      admin: false,
      began: true,
      approver: false,
      guest: false,
      "other home": false,
    };
    expect(await looks(id)).toEqual(none);
    const words = await call("edge_call", { agent_id: "pi", query: "how warm?" }, { token: TOKENS.member });
    expect(words.isError).toBeUndefined();
    const asked = String(words._meta?.["edgecall/call_id"]);
    expect(await looks(asked)).toEqual({ ...none, admin: true });
    const action = await call("edge_call", { agent_id: "pi", action: "cpu" }, { token: TOKENS.member });
    expect(await looks(String(action._meta?.["edgecall/call_id"]))).toEqual(none);
  });

  test("S13 what such a call uploaded; of an earlier version, only owners and administrators", async () => {
    const kept = async (place: string, principal: string | undefined) => {
      const id = mediaId(crypto.randomUUID(), place);
      const picture = await newMedia(id, "image/png", new Uint8Array([1, 2, 3]));
      expect(await conversationOf(env, place).keep(picture, principal)).toBe(true);
      return statuses((token) => ask(`/v1/media/${id}`, { token }));
    };
    expect(await kept(`a/mcp/${crypto.randomUUID()}`, "mia")).toEqual(PRIVATE);
    expect(await kept(`a/mcp/${crypto.randomUUID()}`, undefined)).toEqual({ ...PRIVATE, began: 404 });
    const command = { ...PRIVATE, admin: 403, approver: 403, guest: 403 };
    expect(await kept(`a/command/${crypto.randomUUID()}`, "mia")).toEqual(command);
    expect(await kept("a/openai/once.0123", "gus")).toEqual({ ...PRIVATE, began: 404, guest: 200 });
    // A chat's pictures were only for administrators; now also for the people of the chat, and for owners.
    expect(await kept("a/telegram/family.7", "telegram:7")).toEqual({ ...PRIVATE, began: 404 });
  });
});

test("S13 the result of a job from a prompt is for its caller, with only 'ask'", async () => {
  const bridge = await TestBridge.connect([
    agent("pi", { features: ["tool", "prompt", "ack", "job"], tools: [CPU] }),
  ]);
  const job = `job-${crypto.randomUUID()}`;
  bridge.onCall = () => ({ status: "accepted", job, tool: "backup", result: "The backup has begun." });
  const args = { agent_id: "pi", query: "back up" };
  const accepted = await call("edge_call", args, { token: TOKENS.guest });
  expect(accepted._meta?.["edgecall/call_id"]).toBe(job);
  bridge.report(job, "pi", { status: "success", tool: "backup", result: "12 GB saved" });
  const look = (token: string) => call("edge_result", { agent_id: "pi", call_id: job }, { token });
  await expect.poll(async () => JSON.stringify(await look(TOKENS.guest))).toContain("12 GB saved");
  expect((await look(TOKENS.approver)).isError).toBe(true);
});

test("S13 when two people begin one conversation at once, one gets it", async () => {
  const ids = Array.from({ length: 5 }, () => crypto.randomUUID());
  for (const id of ids) {
    const begun = await Promise.all(
      [TOKENS.member, TOKENS.guest].map((token) =>
        post(`/v1/conversations/${id}/messages`, { text: script({ text: "mine" }) }, token),
      ),
    );
    expect(begun.map(({ status }) => status).sort()).toEqual([200, 404]);
  }
});

test("S13 a response of OpenAI's routes belongs to its token; its pictures are visible like a conversation's", async () => {
  const made = await post("/v1/responses", { model: "x", input: script({ text: "mine" }) }, TOKENS.member);
  const { id } = (await made.json()) as { id: string };
  const own = {
    owner: 404,
    admin: 404,
    began: 200,
    approver: 404,
    guest: 404,
    scraper: 403,
    "other home": 404,
  };
  for (const [path, method] of [
    [`/v1/responses/${id}`, "GET"],
    [`/v1/responses/${id}/cancel`, "POST"],
  ] as const)
    expect(await statuses((token) => ask(path, { method, token })), path).toEqual(own);
  for (const token of [TOKENS.guest, TOKENS.owner])
    expect((await ask(`/v1/responses/${id}`, { method: "DELETE", token })).status).toBe(404);
  expect((await ask(`/v1/responses/${id}`, { method: "DELETE", token: TOKENS.member })).status).toBe(200);
});

test("S13 the event streams of a conversation and of questions are open to the callers of the lists", async () => {
  await conversationOfMia("streamed", ["gus"]);
  const opened = await Promise.all(
    NAMES.map(async (name) => {
      const control = new AbortController();
      const of = async (path: string) => {
        const { status, body } = await ask(path, { token: VIEWERS[name], signal: control.signal });
        await body?.cancel();
        return status;
      };
      return [name, await of("/v1/conversations/streamed/events"), await of("/v1/questions/events")] as const;
    }),
  );
  expect(Object.fromEntries(opened.map(([name, status]) => [name, status]))).toEqual({
    // The other home has no conversation with this id yet, so it would make its own.
    ...{ ...PRIVATE, guest: 200, "other home": 200 },
  });
  expect(Object.fromEntries(opened.map(([name, _, status]) => [name, status]))).toMatchObject({
    guest: 200,
    scraper: 403,
  });
});

test("S13 only for administrators: the audit log, backups, keys; metrics need 'metrics'", async () => {
  const admins = {
    owner: 200,
    admin: 200,
    began: 403,
    approver: 403,
    guest: 403,
    scraper: 403,
    "other home": 200,
  };
  for (const path of ["/v1/audit", "/v1/audit/export", "/v1/export", "/v1/keys", "/v1/senders/requests"])
    expect(await statuses((token) => ask(path, { token })), path).toEqual(admins);
  expect(await statuses((token) => ask("/metrics", { token }))).toMatchObject({ guest: 403, scraper: 200 });
});

test("S13 a conversation without a recorded creator belongs only to the owner", () => {
  const scopes = ["ask", "command", "approve"] as const;
  const unknown = { kind: "conversation", by: undefined } as const;
  expect(maySee({ name: "mia", role: "member", scopes }, unknown)).toBe(false);
  expect(maySee({ name: "anna", role: "owner", scopes }, unknown)).toBe(true);
  // A role alone gives no right: a token for metrics sees metrics, whatever its role is.
  expect(maySee({ name: "anna", role: "owner", scopes: ["metrics"] }, unknown)).toBe(false);
});
