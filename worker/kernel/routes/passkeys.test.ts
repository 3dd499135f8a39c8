/** Passkeys of the console's people: how they are made, what they confirm, and what is refused. */
import { reset, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { toBase64Url } from "@edgecall/core/encoding.ts";
import { ALGORITHMS } from "@edgecall/core/passkeys/passkey.ts";
import { Authenticator } from "@edgecall/core/passkeys/testkit/authenticator.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { device, hosting, READ, SET, UNLOCK } from "../../../test/hosted-device.ts";
import { headerOf, PasskeyBrowser } from "../../../test/passkey-browser.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { openQuestions } from "../../../test/turns.ts";
import { until } from "../../../test/wait.ts";
import { ask, type TestBridge } from "../../../test/workerd.ts";
import type { Registration } from "../api/passkeys.ts";

const LOCK = device("front-door", { line: "lock", tools: [READ, UNLOCK, { ...SET, name: "lock" }] });
const LAMP = device("kitchen-lamp");

let bridge: TestBridge;
let anna: PasskeyBrowser;
beforeEach(async () => {
  bridge = await hosting([LAMP, LOCK]);
  bridge.onCall = () => ({ status: "success", confirmed: true, result: "done", tainted: false });
  anna = await PasskeyBrowser.signIn(TOKENS.owner);
});
afterEach(reset);

const again = { token: TOKENS.owner };

/** Somebody asks the lock to open. @returns the question's id */
async function unlockAsked(token = TOKENS.owner): Promise<string> {
  const before = new Set(((await openQuestions()) as Array<{ id: string }>).map(({ id }) => id));
  void ask("/v1/agents/front-door/commands", {
    method: "POST",
    token,
    body: JSON.stringify({ command: "tool", payload: { tool: "unlock", parameters: { on: true } } }),
  });
  const asked = await until(
    async () => ((await openQuestions()) as Array<{ id: string }>).find(({ id }) => !before.has(id)),
    { what: "the question" },
  );
  return asked.id;
}

const unlocks = () => bridge.calls().filter(({ payload }) => payload.includes('"unlock"'));
const home = () => env.HOME.getByName("a");
const sql = (query: string, ...values: unknown[]) =>
  runInDurableObject(home(), (_, { storage }) => storage.sql.exec(query, ...values).toArray());
const list = async () =>
  (await anna.send("GET /v1/passkeys")).body as unknown as {
    passkeys: Array<{ id: string; person: string; by: string; is_synced: boolean }>;
    host: string | null;
    problem?: string;
  };

describe("a passkey is made", () => {
  test.each(ALGORITHMS)("of algorithm %i, and confirms a dangerous call", async (algorithm) => {
    for (const isSynced of [false, true]) {
      const added = await anna.register(again, { algorithm, isSynced });
      expect(added.status, JSON.stringify(added.body)).toBe(201);
      const id = await unlockAsked();
      const answered = await anna.confirmed(`POST /v1/questions/${id}`, { answer: "approve" });
      expect(answered.body).toMatchObject({ answered_by: "anna", answered_how: "passkey" });
    }
    await until(() => unlocks().length === 2);
    expect((await list()).passkeys).toMatchObject([
      { person: "anna", by: "token", is_synced: false },
      { person: "anna", by: "token", is_synced: true },
    ]);
  });

  test("with a code of the machine, once, and only by the person for whom it was made", async () => {
    const made = await ask("/v1/passkeys/codes", { method: "POST" });
    const { code } = (await made.json()) as { code: string };
    const max = await PasskeyBrowser.signIn(TOKENS.approver);
    expect((await max.register({ code })).status).toBe(403);
    expect((await anna.register({ code: code.toLowerCase() })).status).toBe(201);
    expect((await anna.register({ code })).status).toBe(403);
  });

  test("with another passkey", async () => {
    await anna.register(again);
    const challenge = await anna.challenge("POST /v1/passkeys/registrations");
    const proof = await anna.proof(challenge);
    expect((await anna.register(undefined, { proof })).body).toMatchObject({ by: "passkey" });
    expect((await anna.register(undefined, { proof })).status).toBe(403);
  });

  test("never from a session alone: every route refuses, and nothing is stored", async () => {
    const forged = headerOf({
      nonce: "AAAA",
      assertion: {
        id: "AAAA",
        clientDataJSON: "AAAA",
        authenticatorData: "AAAA",
        signature: "AAAA",
        userHandle: null,
      },
    });
    const refused = [
      await anna.send("POST /v1/passkeys/registrations"),
      await anna.send("POST /v1/passkeys/registrations", {}),
      await anna.send("POST /v1/passkeys/registrations", {}, forged),
      await anna.send("POST /v1/passkeys/registrations", undefined, forged),
      await anna.send("POST /v1/passkeys/registrations", { token: TOKENS.guest }),
      await anna.send("POST /v1/passkeys/registrations", { token: TOKENS.otherHome }),
      await anna.send("POST /v1/passkeys/registrations", { token: TOKENS.bridge }),
      await anna.send("POST /v1/passkeys/registrations", { token: "made-up-token-of-nobody" }),
      await anna.send("POST /v1/passkeys/registrations", { code: "AAAAAAAAAA" }),
      await anna.send("POST /v1/passkeys/registrations", { shown: "token" }),
      await anna.send("POST /v1/passkeys/codes"),
      await anna.send("POST /v1/passkeys/challenges", { method: "POST", path: "/v1/passkeys/registrations" }),
    ];
    const handle = toBase64Url(new Uint8Array(32));
    const own = await Authenticator.make(-7, handle);
    const registration = {
      nonce: toBase64Url(new Uint8Array(32)),
      challenge: toBase64Url(new Uint8Array(32)),
      rp_id: "gateway",
      user: { id: handle, name: "anna" },
    } as Registration;
    refused.push(await anna.send("POST /v1/passkeys", await anna.newPasskey(registration, own)));
    for (const { status, body } of refused) expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
    for (const table of ["passkey", "passkey_challenge", "passkey_code", "passkey_person"])
      expect(await sql(`SELECT * FROM ${table}`)).toEqual([]);
  });

  test("never by a token that a session alone made: it shows no more than that session", async () => {
    const all = { name: "anna", role: "owner", scopes: ["ask", "command", "approve", "admin"] };
    const { token } = (await anna.send("POST /v1/tokens", all)).body as { token: string };
    const made = async () => ask("/v1/passkeys/codes", { method: "POST", token });
    expect((await made()).status).toBe(403);
    expect((await anna.register({ token })).status).toBe(403);
    const other = await PasskeyBrowser.signIn(token);
    expect((await other.register({ token })).status).toBe(403);
    // A token that such a token makes is one, too.
    const second = await ask("/v1/tokens", { method: "POST", token, body: JSON.stringify(all) });
    const { token: child } = (await second.json()) as { token: string };
    expect((await anna.register({ token: child })).status).toBe(403);
    expect(await sql("SELECT * FROM passkey")).toEqual([]);
    // And once there is a passkey it answers and gives no more than a press does.
    await anna.register(again);
    const id = await unlockAsked();
    const yes = { method: "POST", token, body: JSON.stringify({ answer: "approve" }) };
    expect((await ask(`/v1/questions/${id}`, yes)).status).toBe(403);
    expect((await ask("/v1/tokens", { method: "POST", token, body: JSON.stringify(all) })).status).toBe(403);
    // A token that a passkey confirmed counts as any other.
    const confirmed = (await anna.confirmed("POST /v1/tokens", all)).body as { token: string };
    expect((await ask(`/v1/questions/${id}`, { ...yes, token: confirmed.token })).status).toBe(200);
  });

  test("the owner's token is not replaced by a session alone", async () => {
    expect((await anna.send("POST /v1/tokens/rotate")).status).toBe(403);
  });

  test("its person gives it another name, and nobody else does", async () => {
    const { body } = await anna.register(again);
    const max = await PasskeyBrowser.signIn(TOKENS.approver);
    expect((await max.send(`PATCH /v1/passkeys/${body.id}`, { name: "mine" })).status).toBe(404);
    expect((await anna.send(`PATCH /v1/passkeys/${body.id}`, { name: "a\u202eb" })).status).toBe(400);
    expect((await anna.send(`PATCH /v1/passkeys/${body.id}`, { name: "Anna's phone" })).body).toMatchObject({
      name: "Anna's phone",
    });
  });

  test("and a stranger stores nothing", async () => {
    const ways = ["registrations", "challenges", "codes", ""];
    for (const way of ways)
      expect((await ask(`/v1/passkeys${way && `/${way}`}`, { method: "POST", token: null })).status).toBe(
        401,
      );
    expect(await sql("SELECT * FROM passkey_challenge")).toEqual([]);
  });

  test("only with an assertion of the same key, over this registration, by a verified person", async () => {
    const begin = async () =>
      (await anna.send("POST /v1/passkeys/registrations", again)).body as unknown as Registration;
    const finish = async (change: (made: Awaited<ReturnType<PasskeyBrowser["newPasskey"]>>) => object) => {
      const begun = await begin();
      const made = await anna.newPasskey(begun, await Authenticator.make(-7, begun.user.id));
      return await anna.send("POST /v1/passkeys", change(made));
    };
    const other = await Authenticator.make(-7, (await begin()).user.id);
    const { passkey } = other;
    expect((await finish((made) => ({ ...made, public_key: passkey.publicKey }))).status).toBe(400);
    expect((await finish((made) => ({ ...made, id: passkey.id }))).status).toBe(400);
    expect((await finish((made) => ({ ...made, algorithm: -8 }))).status).toBe(400);
    expect((await finish((made) => ({ ...made, algorithm: -37 }))).status).toBe(400);
    expect((await finish((made) => ({ ...made, name: "a\nb" }))).status).toBe(400);
    expect((await finish((made) => ({ ...made, name: "" }))).status).toBe(400);
    expect((await finish((made) => ({ ...made, authenticator_data: "AAAA" }))).status).toBe(400);
    expect((await finish((made) => ({ ...made, client_data: "AAAA" }))).status).toBe(400);
    // An assertion for another registration.
    const [first, second] = [await begin(), await begin()];
    const key = await Authenticator.make(-7, first.user.id);
    const made = await anna.newPasskey(first, key);
    const cross = { ...made, assertion: (await anna.newPasskey(second, key)).assertion };
    expect((await anna.send("POST /v1/passkeys", cross)).status).toBe(400);
    // One try each.
    expect((await anna.send("POST /v1/passkeys", made)).status).toBe(400);
    // Another person cannot finish what this one began.
    const max = await PasskeyBrowser.signIn(TOKENS.approver);
    expect((await max.send("POST /v1/passkeys", await anna.newPasskey(await begin(), key))).status).toBe(400);
    expect((await list()).passkeys).toEqual([]);
  });

  test.each([
    ["http://192.168.1.5:8787", "an IP address"],
    ["http://127.0.0.1:8787", "http://localhost:8787"],
    ["https://192.168.1.5", "an IP address"],
    ["http://gateway.local:8787", "only over https"],
  ])("not at %s, and the answer says why", async (address, why) => {
    const asked = await (await import("cloudflare:workers")).exports;
    const worker = (asked as unknown as { default: Fetcher }).default;
    const headers = { authorization: `Bearer ${TOKENS.owner}` };
    const listed = (await (await worker.fetch(`${address}/v1/passkeys`, { headers })).json()) as {
      problem: string;
    };
    expect(listed.problem).toContain(why);
    const begun = await worker.fetch(`${address}/v1/passkeys/registrations`, { method: "POST", headers });
    expect(begun.status).toBe(400);
  });
});

describe("what is refused", () => {
  const yes = { answer: "approve" };
  let id: string;
  let route: string;
  beforeEach(async () => {
    await anna.register(again);
    id = await unlockAsked();
    route = `POST /v1/questions/${id}`;
  });

  async function expectRefused(sent: Promise<{ status: number; body: object }>, status = 403) {
    const answer = await sent;
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(await openQuestions()).toEqual(expect.arrayContaining([expect.objectContaining({ id })]));
    expect(unlocks()).toEqual([]);
  }

  test("a press alone, with words that say which ways are open", async () => {
    const answer = await anna.send(route, yes);
    expect(answer).toMatchObject({ status: 403, body: { error: { code: "needs_passkey" } } });
    expect(answer.body.error?.message).toContain("confirm with your passkey");
    await expectRefused(anna.send(route, yes));
  });

  test("the confirmation of another call", async () => {
    const other = await unlockAsked();
    await expectRefused(
      anna.send(route, yes, await anna.proof(await anna.challenge(`POST /v1/questions/${other}`, yes))),
    );
  });

  test("a call that was changed after the challenge was made", async () => {
    const proof = await anna.proof(await anna.challenge(route, yes));
    await sql(
      "UPDATE question SET approval = json_set(approval, '$.hash', ?) WHERE id = ?",
      "b".repeat(64),
      id,
    );
    await expectRefused(anna.send(route, yes, proof));
  });

  test("once turned into always: something more that the answer gives", async () => {
    const proof = await anna.proof(await anna.challenge(route, yes));
    const way = {
      by: "session",
      id: undefined,
      place: { host: "gateway", origin: "https://gateway" },
      proof: JSON.parse(atob(proof.replaceAll("-", "+").replaceAll("_", "/"))),
      keep: "c".repeat(64),
    } as const;
    const viewer = { name: "anna", role: "owner", scopes: ["ask", "approve"] } as const;
    const answer = await runInDurableObject(home(), (it) =>
      it["questions.answer"](id, "approve", viewer, way),
    );
    expect(answer).toMatchObject({ ok: false, status: 403 });
    await expectRefused(anna.send(route, yes));
  });

  test("the confirmation of a request in place of an answer's, and the other way", async () => {
    const token = { name: "x", role: "guest", scopes: ["ask"] };
    const ofRequest = await anna.proof(await anna.challenge("POST /v1/tokens", token));
    await expectRefused(anna.send(route, yes, ofRequest));
    const ofAnswer = await anna.proof(await anna.challenge(route, yes));
    expect((await anna.send("POST /v1/tokens", token, ofAnswer)).status).toBe(403);
  });

  test("another home's", async () => {
    const berta = await PasskeyBrowser.signIn(TOKENS.otherHome);
    await berta.register({ token: TOKENS.otherHome });
    const token = { name: "x", role: "guest", scopes: ["ask"] };
    await expectRefused(
      anna.send(route, yes, await berta.proof(await berta.challenge("POST /v1/tokens", token))),
    );
  });

  test("another person's, and their challenge with one's own passkey", async () => {
    const max = await PasskeyBrowser.signIn(TOKENS.approver);
    await max.register({ token: TOKENS.approver });
    const challenge = await anna.challenge(route, yes);
    await expectRefused(max.send(route, yes, await anna.proof(challenge)), 404);
    await expectRefused(anna.send(route, yes, await max.proof(await anna.challenge(route, yes))));
    await expectRefused(
      anna.send(route, yes, await anna.proof(await anna.challenge(route, yes), { userHandle: "BBBB" })),
    );
  });

  test("one whose time is over", async () => {
    const proof = await anna.proof(await anna.challenge(route, yes));
    await sql("UPDATE passkey_challenge SET until = ?", Date.now() - 1);
    await expectRefused(anna.send(route, yes, proof));
  });

  test("a second use, and one after a failed try", async () => {
    const token = { name: "x", role: "guest", scopes: ["ask"] };
    const proof = await anna.proof(await anna.challenge("POST /v1/tokens", token));
    expect((await anna.send("POST /v1/tokens", token, proof)).status).toBe(201);
    expect((await anna.send("POST /v1/tokens", token, proof)).status).toBe(403);
    const challenge = await anna.challenge("POST /v1/tokens", token);
    expect(
      (await anna.send("POST /v1/tokens", token, await anna.proof(challenge, { flags: 0x01 }))).status,
    ).toBe(403);
    expect((await anna.send("POST /v1/tokens", token, await anna.proof(challenge))).status).toBe(403);
  });

  test("of two at once, one", async () => {
    const token = { name: "x", role: "guest", scopes: ["ask"] };
    const proof = await anna.proof(await anna.challenge("POST /v1/tokens", token));
    const both = await Promise.all([1, 2].map(() => anna.send("POST /v1/tokens", token, proof)));
    expect(both.map(({ status }) => status).sort()).toEqual([201, 403]);
  });

  test("a request that differs from the one that was confirmed", async () => {
    const token = { name: "x", role: "guest", scopes: ["ask"] };
    const proof = async () => await anna.proof(await anna.challenge("POST /v1/tokens", token));
    expect((await anna.send("POST /v1/tokens", { ...token, role: "owner" }, await proof())).status).toBe(403);
    expect((await anna.send("POST /v1/tokens?x=1", token, await proof())).status).toBe(403);
    expect((await anna.send("POST /v1/device-codes", {}, await proof())).status).toBe(403);
  });

  test.each([
    ["the person was not verified", { flags: 0x01 }],
    ["nobody was there", { flags: 0x04 }],
    ["another origin", { clientData: { origin: "https://gateway.evil.example" } }],
    ["a frame", { clientData: { crossOrigin: true } }],
    ["another host", { rpId: "evil.example" }],
    ["the answer to a registration", { clientData: { type: "webauthn.create" } }],
    ["a counter that stood still", { counter: 1 }],
    ["its copies are another thing than when it was made", { flags: 0x0d }],
  ])("%s", async (_, change) => {
    await expectRefused(anna.send(route, yes, await anna.proof(await anna.challenge(route, yes), change)));
  });

  test("a signature of another key under this passkey's id", async () => {
    const challenge = await anna.challenge(route, yes);
    const other = await Authenticator.make(-7, "AAAA");
    const proof = JSON.parse(
      atob((await anna.proof(challenge, {}, other)).replaceAll("-", "+").replaceAll("_", "/")),
    );
    const forged = {
      ...proof,
      assertion: { ...proof.assertion, id: anna.authenticator?.passkey.id, userHandle: null },
    };
    await expectRefused(anna.send(route, yes, headerOf(forged)));
  });

  test("rubbish in the header, with words that name it", async () => {
    for (const rubbish of ["!", "AAAA", headerOf({}), headerOf([]), "A".repeat(20_000)])
      await expectRefused(anna.send(route, yes, rubbish), 400);
  });

  test("a person without the right to approve stays without it", async () => {
    const mia = await PasskeyBrowser.signIn(TOKENS.member);
    await mia.register({ token: TOKENS.member });
    expect(
      (
        await mia.send("POST /v1/passkeys/challenges", {
          method: "POST",
          path: `/v1/questions/${id}`,
          body: JSON.stringify(yes),
        })
      ).status,
    ).toBe(404);
  });

  test("a no needs nothing", async () => {
    expect((await anna.send(route, { answer: "deny" })).body).toMatchObject({
      answer: "deny",
      answered_how: "press",
    });
  });

  test("a bearer token is as it was, and the record says so", async () => {
    const answered = await ask(`/v1/questions/${id}`, { method: "POST", body: JSON.stringify(yes) });
    expect(await answered.json()).toMatchObject({ answered_how: "token" });
    const { entries } = (await (
      await until(async () => {
        const audit = await ask("/v1/audit?agent=front-door");
        return (await audit.clone().text()).includes("unlock") ? audit : undefined;
      })
    ).json()) as { entries: Array<{ approval?: object }> };
    expect(entries[0]?.approval).toMatchObject({ approved: true, by: "anna", how: "token" });
  });
});

describe("a passkey is removed", () => {
  test("with as much as it takes to add one, and by owners also another person's", async () => {
    const max = await PasskeyBrowser.signIn(TOKENS.approver);
    const added = await max.register({ token: TOKENS.approver });
    const id = String(added.body.id);
    const route = `DELETE /v1/passkeys/${id}`;
    expect((await max.send(route)).status).toBe(403);
    expect((await max.send(route, { token: TOKENS.guest })).status).toBe(403);
    expect((await anna.send(route)).status).toBe(403);
    const mia = await PasskeyBrowser.signIn(TOKENS.member);
    expect((await mia.send(route, { token: TOKENS.member })).status).toBe(404);
    expect((await anna.send(route, again)).status).toBe(204);
    // Lost: the token, or a code of the machine.
    await max.register({ token: TOKENS.approver });
    expect(
      (await max.send(`DELETE /v1/passkeys/${max.authenticator?.passkey.id}`, { token: TOKENS.approver }))
        .status,
    ).toBe(204);
    await max.register({ token: TOKENS.approver });
    expect((await max.confirmed(`DELETE /v1/passkeys/${max.authenticator?.passkey.id}`)).status).toBe(204);
    expect((await list()).passkeys).toEqual([]);
  });
});
