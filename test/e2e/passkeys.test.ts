/// <reference lib="dom" />
/** Passkeys in a real Chromium with a virtual authenticator: registered, asked for, refused, lost; and a program that has the person's session. */
import { generateKeyPairSync } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { script } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { askIn, axeFinds, openWindow, signIn, useChromium } from "./chromium.ts";
import { action, RESULTS } from "./edge-calls.ts";
import { useStack } from "./stack.ts";

/** Nobody has a chat here, so without a passkey a press counts. */
const stack = useStack({ vars: { CHANNELS: "[]" } }, async (stack) => {
  await stack.startAgent({ id: "pi", top: { policy: { shell: "ask" } } });
  await stack.gateway.online("pi");
});

let page: Page;
let cdp: CDPSession;
let authenticator = "";
/** Requests of a program that has the session. None may pass. */
let attempts = 0;

const home = () => stack.gateway.url.replace("127.0.0.1", "localhost");
const ran = (name: string) => existsSync(join(stack.workspaceOf("pi"), name));
const touch = (name: string) => script(action("pi", "bash", { command: `touch ${name}` }), RESULTS);

async function plugIn(): Promise<void> {
  if (authenticator !== "")
    await cdp.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId: authenticator });
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  } as const;
  ({ authenticatorId: authenticator } = await cdp.send("WebAuthn.addVirtualAuthenticator", { options }));
}

const verified = (isUserVerified: boolean) =>
  cdp.send("WebAuthn.setUserVerified", { authenticatorId: authenticator, isUserVerified });
const present = (enabled: boolean) =>
  cdp.send("WebAuthn.setAutomaticPresenceSimulation", { authenticatorId: authenticator, enabled });

type Sent = { status: number; body: { error?: { code: string; message: string } } & Record<string, unknown> };

/** As a script in the page sends it, with the session's cookie. */
async function send(route: string, body?: unknown, proof?: string): Promise<Sent> {
  const [method = "", path = ""] = route.split(" ");
  const text = body === undefined ? undefined : JSON.stringify(body);
  return await page.evaluate(
    async ([method, path, text, proof]) => {
      const response = await fetch(path, {
        method,
        headers: { "x-edgecall-console": "1", ...(proof && { "x-edgecall-proof": proof }) },
        ...(text !== undefined && { body: text }),
      });
      const answer = await response.text();
      return { status: response.status, body: answer === "" ? {} : JSON.parse(answer) };
    },
    [method, path, text, proof] as const,
  );
}

/** A confirmation that a script in the page gets from the authenticator, while a person is there. @param asks changes of the request to the browser */
async function proofFor(
  route: string,
  body?: unknown,
  asks: { userVerification?: UserVerificationRequirement } = {},
) {
  const [method = "", path = ""] = route.split(" ");
  const about = { method, path, body: body === undefined ? "" : JSON.stringify(body) };
  const { status, body: challenge } = await send("POST /v1/passkeys/challenges", about);
  if (status !== 201) throw new Error(JSON.stringify(challenge));
  return await page.evaluate(
    async ([challenge, asks]) => {
      const bytes = (text: string) =>
        Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
      const text = (bytes: ArrayBuffer) =>
        btoa(String.fromCharCode(...new Uint8Array(bytes)))
          .replaceAll("+", "-")
          .replaceAll("/", "_")
          .replaceAll("=", "");
      const credential = (await navigator.credentials.get({
        publicKey: {
          challenge: bytes(challenge.challenge),
          rpId: challenge.rp_id,
          allowCredentials: challenge.allow.map((id) => ({ type: "public-key" as const, id: bytes(id) })),
          userVerification: "required",
          ...asks,
        },
      })) as PublicKeyCredential;
      const answer = credential.response as AuthenticatorAssertionResponse;
      const assertion = {
        id: credential.id,
        clientDataJSON: text(answer.clientDataJSON),
        authenticatorData: text(answer.authenticatorData),
        signature: text(answer.signature),
        userHandle: answer.userHandle ? text(answer.userHandle) : null,
      };
      return text(
        new TextEncoder().encode(JSON.stringify({ nonce: challenge.nonce, assertion })).buffer as ArrayBuffer,
      );
    },
    [
      challenge as unknown as { nonce: string; challenge: string; rp_id: string; allow: string[] },
      asks,
    ] as const,
  );
}

async function refused(sent: Promise<Sent>): Promise<Sent["body"]> {
  attempts += 1;
  const { status, body } = await sent;
  expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
  expect(status, JSON.stringify(body)).toBeLessThan(500);
  return body;
}

const passkeys = async () =>
  (await send("GET /v1/passkeys")).body.passkeys as Array<{ id: string; name: string }>;

/** A person adds a passkey on the page. */
async function add(name: string, shows: string): Promise<void> {
  await page.goto(`${home()}/#/setup/passkeys`);
  await page.getByLabel(/^Your token, or a code/).fill(shows);
  const form = page.getByRole("form", { name: "New passkey" });
  await form.getByLabel("Name").fill(name);
  await form.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText(name, { exact: true }).waitFor();
}

async function removeAll(): Promise<void> {
  for (const { id } of await passkeys())
    expect((await send(`DELETE /v1/passkeys/${id}`, { token: TOKENS.owner })).status).toBe(204);
}

/** A question about a script, asked by the gateway's API. @returns its id, and the end of the turn */
async function scriptAsked(name: string) {
  const conversation = crypto.randomUUID();
  const turn = stack.gateway.ask(touch(name), conversation);
  const { id } = await stack.gateway.question(conversation);
  return { id, route: `POST /v1/questions/${id}`, turn };
}

const YES = { answer: "approve" };

describe("passkeys", { tags: ["needs/chromium", "needs/bubblewrap"] }, () => {
  useChromium(async (browser) => {
    page = await openWindow(browser);
    cdp = await page.context().newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    await plugIn();
  });
  beforeEach(async () => {
    if (authenticator === "") return;
    await verified(true);
    await present(true);
  });

  test("a browser that opens 127.0.0.1 is sent to localhost; a program is not", async () => {
    await signIn(page, stack.gateway.url, TOKENS.owner);
    expect(new URL(page.url()).hostname).toBe("localhost");
    const program = await fetch(stack.gateway.url, { redirect: "manual" });
    expect(program.status).toBe(200);
    const listed = await fetch(`${stack.gateway.url}/v1/passkeys`, {
      headers: { authorization: `Bearer ${TOKENS.owner}`, accept: "text/html" },
    });
    expect(((await listed.json()) as { problem: string }).problem).toContain(home());
  });

  test("the first one is never made from the session alone", async () => {
    await page.goto(`${home()}/#/setup/passkeys`);
    await page.getByText("Without a passkey a press in this browser is enough").waitFor();
    const form = page.getByRole("form", { name: "New passkey" });
    await form.getByLabel("Name").fill("a program's");
    await form.getByRole("button", { name: "Add a passkey" }).click();
    await form.getByText("being signed in is not enough").waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await refused(send("POST /v1/passkeys/registrations"));
    await refused(send("POST /v1/passkeys/registrations", {}));
    await refused(send("POST /v1/passkeys/registrations", { token: TOKENS.guest }));
    await refused(send("POST /v1/passkeys/registrations", { code: "ABCDEFGHJK" }));
    await refused(send("POST /v1/passkeys/registrations", { by: "token" }));
    await refused(send("POST /v1/passkeys/registrations", undefined, "e30"));
    await refused(send("POST /v1/passkeys/codes"));
    await refused(
      send("POST /v1/passkeys/challenges", { method: "POST", path: "/v1/passkeys/registrations" }),
    );
    await refused(send("POST /v1/passkeys", {}));
    expect(await passkeys()).toEqual([]);
  });

  test("without one a press counts, as before", async () => {
    await page.goto(`${home()}/#/chat`);
    const turn = await askIn(page, touch("before"));
    await turn.getByRole("button", { name: "Run", exact: true }).click();
    await turn.locator(".answer").waitFor();
    expect(ran("before")).toBe(true);
  });

  test.each([-7, -257, -8])(
    "of algorithm %i it is made, and a script that it confirms runs",
    async (algorithm) => {
      await plugIn();
      // The page offers all three, and the authenticator takes the first that it has.
      await page.goto(`${home()}/#/setup/passkeys`);
      await page.evaluate((alg) => {
        const create = navigator.credentials.create.bind(navigator.credentials);
        navigator.credentials.create = (options) => {
          if (options?.publicKey) options.publicKey.pubKeyCredParams = [{ type: "public-key", alg }];
          return create(options);
        };
      }, algorithm);
      const name = `key ${algorithm}`;
      await add(name, TOKENS.owner);
      await page.goto(`${home()}/#/chat`);
      const turn = await askIn(page, touch(`by${algorithm}`));
      await turn.getByRole("button", { name: "Run", exact: true }).click();
      await turn.locator(".answer").waitFor();
      expect(ran(`by${algorithm}`)).toBe(true);
      await page.reload();
      await removeAll();
    },
  );

  test("an unverified person, nobody, and Cancel approve nothing", async () => {
    await plugIn();
    await add("my key", TOKENS.owner);
    await page.goto(`${home()}/#/chat`);
    const turn = await askIn(page, touch("unverified"));
    const approve = turn.getByRole("button", { name: "Run", exact: true });
    await verified(false);
    await approve.click();
    await turn.getByText(/^Not confirmed/).waitFor();
    await verified(true);
    await present(false);
    await approve.click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Confirm with your passkey" }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await turn.getByText(/^Not confirmed/).waitFor();
    // A held button, and a key: no more than a press.
    await approve.click({ delay: 800 });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await approve.focus();
    await page.keyboard.press("Enter");
    await dialog.getByRole("button", { name: "Ask my phone instead" }).click();
    await turn.getByText(/press it in another browser/).waitFor();
    expect(ran("unverified")).toBe(false);
    await turn.getByRole("button", { name: "No", exact: true }).click();
    await turn.locator(".answer").waitFor();
  });

  test("a program with the session tries every control: none passes", async () => {
    const { id, route } = await scriptAsked("program");
    await refused(send(route, YES));
    await refused(send(route, { answer: "accept" }));
    await refused(send(`${route}?x=1`, YES));
    await refused(send(route, YES, "e30"));
    await refused(send(route, { ...YES, keep: { always: true } }));
    const publicKey = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x;
    const token = { name: "x", role: "owner", scopes: ["ask", "command", "approve", "admin"] };
    const device = { mode: "allowed", allow: "x" };
    const controls: Array<[route: string, body?: unknown]> = [
      ["POST /v1/tokens", token],
      ["POST /v1/tokens", { ...token, role: "guest", scopes: ["ask"] }],
      ["POST /v1/tokens/rotate"],
      ["POST /v1/passkeys/registrations"],
      ["POST /v1/passkeys/codes"],
      ["PUT /v1/passkeys/taps/telegram:1"],
      ["PATCH /v1/devices/pi", device],
      ["PATCH /v1/devices/pi", { mode: "ask" }],
      ["PATCH /v1/devices/pi", { mode: null }],
      ["PATCH /v1/devices/pi", { settings: true }],
      ["POST /v1/agents/pi/accept-text"],
      ["POST /v1/agents/pi/accept-text", {}],
      ["POST /v1/agents/new/key", { public_key: publicKey }],
      ["POST /v1/agents/pi/readmit"],
      ["POST /v1/device-codes", {}],
      ["POST /v1/device-codes", { agent: "@bridge" }],
      ["POST /v1/pairings", {}],
      ["POST /v1/senders/requests/ABCDEF", { role: "owner" }],
      ["POST /v1/pairings/ABCDEF", { role: "owner" }],
      ["POST /v1/connections", { channel: "telegram", connection: "x", token: `1:${"x".repeat(30)}` }],
      ["POST /v1/oauth/clients", { name: "x", redirect_uris: ["https://app.example/cb"], secret: false }],
      [
        "POST /v1/lending",
        { label: "x", agents: ["pi"], scopes: ["ask"], reads_only: true, expires_in_days: 1 },
      ],
      ["POST /v1/borrowing", { invitation: "ecl_", name: "x" }],
      ["POST /v1/borrowing/x/accept-text"],
      ["POST /v1/import?replace=yes", {}],
    ];
    for (const [route, body] of controls) {
      const { error } = await refused(send(route, body));
      expect(["needs_passkey", "needs_more", "forbidden"], route).toContain(error?.code);
      await refused(send(route, body, "e30"));
    }
    const [own] = await passkeys();
    for (const body of [undefined, {}, { token: TOKENS.guest }, { code: "ABCDEFGHJK" }])
      await refused(send(`DELETE /v1/passkeys/${own?.id}`, body));
    expect(await passkeys()).toHaveLength(1);
    expect(ran("program")).toBe(false);
    expect((await send(`POST /v1/questions/${id}`, { answer: "deny" })).status).toBe(200);
  });

  test("what a person confirmed once serves nothing else", async () => {
    const [one, other] = [await scriptAsked("one"), await scriptAsked("other")];
    // Of another question, of another control, for more than was confirmed.
    await refused(send(one.route, YES, await proofFor(other.route, YES)));
    const token = { name: "x", role: "guest", scopes: ["ask"] };
    await refused(send(one.route, YES, await proofFor("POST /v1/tokens", token)));
    await refused(send("POST /v1/tokens", token, await proofFor(one.route, YES)));
    await refused(
      send(
        "POST /v1/tokens",
        { ...token, scopes: ["ask", "admin"] },
        await proofFor("POST /v1/tokens", token),
      ),
    );
    await refused(send(one.route, { ...YES, keep: { always: true } }, await proofFor(one.route, YES)));
    // The page asks the authenticator not to verify the person.
    await verified(false);
    await refused(send(one.route, YES, await proofFor(one.route, YES, { userVerification: "discouraged" })));
    await verified(true);
    const proof = await proofFor(one.route, YES);
    expect(await send(one.route, YES, proof)).toMatchObject({
      status: 200,
      body: { answered_how: "passkey" },
    });
    await one.turn;
    expect(ran("one")).toBe(true);
    for (const again of [one.route, other.route]) await refused(send(again, YES, proof));
    await refused(send("POST /v1/tokens", token, proof));
    expect(ran("other")).toBe(false);
    await send(other.route, { answer: "deny" });
    expect(attempts).toBeGreaterThanOrEqual(60);
  });

  test("with it a token is made on the page, and the record says so", async () => {
    await page.goto(`${home()}/#/setup/tokens`);
    const form = page.getByRole("form", { name: "New token" });
    await form.getByLabel("Name").fill("a script of mine");
    await form.getByRole("button", { name: "Make the token" }).click();
    await form.getByText("Copy it now").waitFor();
    const audit = await fetch(`${stack.gateway.url}/v1/audit?tool=confirmed`, {
      headers: { authorization: `Bearer ${TOKENS.owner}` },
    });
    expect(await audit.json()).toMatchObject({
      entries: [{ parameters: { request: "POST /v1/tokens", by: "passkey" } }],
    });
  });

  test("lost: a code of the machine removes it and adds a new one", async () => {
    // The authenticator is gone, and the passkey with it.
    await plugIn();
    const code = async () => {
      const made = await fetch(`${stack.gateway.url}/v1/passkeys/codes`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKENS.owner}` },
      });
      return ((await made.json()) as { code: string }).code;
    };
    await page.goto(`${home()}/#/setup/passkeys`);
    await page.getByLabel(/^Your token, or a code/).fill(await code());
    await page.getByRole("button", { name: "Remove the passkey my key" }).click();
    await page.getByRole("button", { name: "Yes, remove" }).click();
    await page.getByText("my key", { exact: true }).waitFor({ state: "detached" });
    await add("the new one", await code());
    await page.getByRole("button", { name: "Rename the new one" }).click();
    await page.getByLabel("New name").fill("my phone");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("my phone", { exact: true }).waitFor();
    const turn = await (async () => {
      await page.goto(`${home()}/#/chat`);
      return await askIn(page, touch("recovered"));
    })();
    await turn.getByRole("button", { name: "Run", exact: true }).click();
    await turn.locator(".answer").waitFor();
    expect(ran("recovered")).toBe(true);
  });

  test("and the page about them speaks the person's language", async () => {
    await page.evaluate(() => localStorage.setItem("edgecall.language", "de"));
    await page.goto(`${home()}/#/setup/passkeys`);
    await page.reload();
    await page.getByRole("button", { name: "my phone umbenennen" }).waitFor();
    await page.getByRole("button", { name: "Passkey anlegen" }).waitFor();
    expect(await axeFinds(page)).toEqual([]);
  });
});
