/** The table of docs/explain/sessions.md: who sees and uses which session, for each role and each tool. */
import { reset } from "cloudflare:test";
import { afterAll, beforeAll, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { conversationOf, theHome } from "../../../../test/states.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { setVariables } from "../../../../test/variables.ts";
import { until } from "../../../../test/wait.ts";
import { ask, say } from "../../../../test/workerd.ts";
import type { HomeToolReply, HomeToolRequest } from "../../../kernel/api/home-tools.ts";
import type { Viewer } from "../../../kernel/api/may-see.ts";

/** A person's model has the person's name and role, and of the scopes `ask` alone. */
const VIEWERS = {
  owner: { name: "anna", role: "owner" },
  admin: { name: "ada", role: "guest" },
  began: { name: "mia", role: "member" },
  reader: { name: "max", role: "member" },
  guest: { name: "gus", role: "guest" },
  agent: { name: "agent:ann", role: "guest" },
  "another agent": { name: "agent:bob", role: "guest" },
} as const satisfies Record<string, Pick<Viewer, "name" | "role">>;
type Name = keyof typeof VIEWERS;

/** `mias`: a conversation of mia's. `shared`: another one, shared with max and agent:ann. `anns`: one that agent:ann began for mia. */
const SESSIONS = ["mias", "shared", "anns"] as const;
type Seen = Record<(typeof SESSIONS)[number], boolean>;

const READS: Record<Name, Seen> = {
  owner: { mias: true, shared: true, anns: true },
  admin: { mias: false, shared: false, anns: false },
  began: { mias: true, shared: true, anns: true },
  reader: { mias: false, shared: true, anns: false },
  guest: { mias: false, shared: false, anns: false },
  agent: { mias: false, shared: true, anns: true },
  "another agent": { mias: false, shared: false, anns: false },
};
/** A model writes, and ends turns, only in what is its person's or was shared with them. */
const USES: Record<Name, Seen> = { ...READS, owner: { mias: false, shared: false, anns: false } };

beforeAll(async () => {
  for (const id of ["mias", "shared"]) await say(id, script({ text: "said" }), { token: TOKENS.member });
  const share = (id: string, names: string[]) =>
    theHome()["conversations.shareConversation"](`a/api/${id}`, names) as unknown as Promise<boolean>;
  await share("shared", ["max", "agent:ann"]);
  const origin = { principal: "agent:ann", role: "guest", channel: "api" } as const;
  const turn = {
    id: crypto.randomUUID(),
    idempotency: undefined,
    text: script({ text: "said" }),
    images: [],
  };
  await conversationOf("anns").start({ ...turn, origin }, "any");
  await share("anns", ["mia"]);
  const isListed = async () => (await (await ask("/v1/conversations?all=yes")).text()).includes('"anns"');
  await until(isListed, { what: "ann's conversation is listed", within: 10_000 });
}, 30_000);
afterAll(reset);

async function run(
  who: Name,
  name: string,
  args: Record<string, unknown>,
  agent?: HomeToolRequest["from"]["agent"],
) {
  setVariables({ GATEWAY_TOOLS: "sessions" });
  const { name: principal, role } = VIEWERS[who];
  const request: HomeToolRequest = {
    id: crypto.randomUUID(),
    name,
    args,
    viewer: { name: principal, role, scopes: ["ask"] },
    from: { conversation: null, call: "c", depth: 0, ...(agent && { agent }) },
    origin: { principal, role, channel: "api" },
    sources: [],
    begun: { running: 0, lastHour: 0 },
  };
  const home = theHome() as unknown as Record<
    "calls.runTool",
    (request: HomeToolRequest) => Promise<HomeToolReply>
  >;
  return await home["calls.runTool"](request);
}

async function seen(
  who: Name,
  name: string,
  args: Record<string, unknown>,
  agent?: HomeToolRequest["from"]["agent"],
): Promise<Seen> {
  const found: Partial<Seen> = {};
  for (const session of SESSIONS) {
    const reply = await run(who, name, { ...args, session }, agent);
    const { status = "success", text = "" } = "outcome" in reply ? reply.outcome : {};
    found[session] = status === "success" || text.includes("No turn of that session runs");
    // An invisible session is answered as an unknown one; an owner sees sessions that they may not end.
    if (!found[session]) expect(text).toMatch(/There is no session|Only a session that is the user's own/);
  }
  return found as Seen;
}

const WHO = Object.keys(VIEWERS) as Name[];

test.each(WHO)("%s: sessions_history, session_status", async (who) => {
  expect(await seen(who, "sessions_history", {})).toEqual(READS[who]);
  expect(await seen(who, "session_status", {})).toEqual(READS[who]);
});

async function listed(
  who: Name,
  args: Record<string, unknown>,
  agent?: HomeToolRequest["from"]["agent"],
): Promise<Seen | undefined> {
  const reply = await run(who, "sessions_list", args, agent);
  if (!("outcome" in reply) || reply.outcome.status === "error") return undefined;
  expect(reply.outcome.sources).toEqual(["*"]);
  const { sessions } = JSON.parse(reply.outcome.text) as { sessions: Array<{ session: string }> };
  const found = SESSIONS.map((id) => [id, sessions.some(({ session }) => session === id)]);
  return Object.fromEntries(found) as Seen;
}

test.each(WHO)("%s: sessions_list, with 'all' for owners alone", async (who) => {
  expect(await listed(who, {})).toEqual(who === "owner" ? USES.owner : READS[who]);
  expect(await listed(who, { all: true })).toEqual(who === "owner" ? READS.owner : undefined);
});

/** By the person who asks ann, which by itself sees `shared` and `anns`. */
const OF_ANN = {
  mia: { mias: false, shared: true, anns: true },
  max: { mias: false, shared: true, anns: false },
  gus: { mias: false, shared: false, anns: false },
  "home:next door": { mias: false, shared: false, anns: false },
} as const satisfies Record<string, Seen>;

test.each(Object.keys(OF_ANN) as Array<keyof typeof OF_ANN>)(
  "a device that %s asks shows what that person may see, too",
  async (person) => {
    const agent = { id: "ann", person };
    expect(await listed("agent", {}, agent)).toEqual(OF_ANN[person]);
    expect(await seen("agent", "sessions_history", {}, agent)).toEqual(OF_ANN[person]);
    expect(await seen("agent", "session_status", {}, agent)).toEqual(OF_ANN[person]);
    expect(await seen("agent", "session_status", { cancel: true }, agent)).toEqual(OF_ANN[person]);
    const send = { message: script({ text: "heard" }), timeout_seconds: 0 };
    expect(await seen("agent", "sessions_send", send, agent)).toEqual(OF_ANN[person]);
  },
);

test.each(WHO)("%s: cancel", async (who) => {
  expect(await seen(who, "session_status", { cancel: true })).toEqual(USES[who]);
});

test.each(WHO)("%s: sessions_send", async (who) => {
  const message = () => script({ text: "heard" });
  expect(await seen(who, "sessions_send", { message: message(), timeout_seconds: 0 })).toEqual(USES[who]);
});

test.each(WHO)("%s: sessions_spawn begins a session of its own, whoever it is", async (who) => {
  const reply = await run(who, "sessions_spawn", { task: script({ text: "done" }) });
  expect(reply).toMatchObject({
    outcome: { status: "success", session: expect.stringMatching(/^session-/) },
  });
  const { session = "" } = "outcome" in reply ? reply.outcome : {};
  const belongs = await conversationOf(session).belongs();
  expect(belongs).toEqual({ principal: VIEWERS[who].name });
});
