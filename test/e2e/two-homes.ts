/**
 * For tests of two homes at two gateways, each with its own broker, bridge and devices, as real processes. One lends an agent to the
 * other. All bytes between the gateways pass two taps: they hold no name of the other home beyond what docs/guides/lend.md lists.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { OWNER, onTelegram } from "../platforms/people.ts";
import { type Step, script } from "../scripted-model.ts";
import { sha256, TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { action, RESULTS } from "./edge-calls.ts";
import type { GatewayClient, Question } from "./gateway-client.ts";
import { PeerTap } from "./peer-tap.ts";
import { type Stack, useStack } from "./stack.ts";

/** Each side must learn none of this of the other: its people, devices and their words, its bridge and its home. */
const LENDER = {
  home: "larchhome",
  person: "Wilhelmina",
  devices: ["press-hidden"],
  words: ["hidden press of the lender"],
  bridge: "larchbridge",
};
export const BORROWER = {
  home: "birchhome",
  person: "Bartholomew",
  devices: ["kettle-own"],
  words: ["own kettle of the borrower"],
  bridge: "birchbridge",
};
type Side = typeof LENDER;

/** A second home at the lender's gateway. */
const NEIGHBOUR = { home: "lindenhome", person: "Leopold" };

const scopes = ["ask", "command", "approve", "admin"];
const ownerOf = (token: string, { home, person }: { home: string; person: string }) => ({
  hash: sha256(token),
  name: person,
  home,
  role: "owner",
  scopes,
});

const vars = (side: Side, tap: PeerTap): Record<string, string> => ({
  PUBLIC_URL: tap.url,
  CHANNELS: "[]",
  API_TOKENS: JSON.stringify([ownerOf(TOKENS.owner, side), ownerOf(TOKENS.otherHome, NEIGHBOUR)]),
  BRIDGE_TOKENS: JSON.stringify([{ hash: sha256(TOKENS.bridge), name: "bridge", home: side.home }]),
});

/** The question that the lender's owner sees in the console. */
export async function questionAt(gateway: GatewayClient, within = 20_000): Promise<Question> {
  const look = async () =>
    ((await (await gateway.fetch("/v1/questions")).json()) as { questions: Question[] }).questions[0];
  return await until(() => look().catch(() => undefined), {
    within,
    every: 25,
    what: "a question at the lender",
  });
}

export const append = (text: string) => action("work/lathe", "append", { text });

export type TwoHomes = Awaited<ReturnType<typeof useTwoHomes>>;

/** Call it once, at the top of a test file. */
export async function useTwoHomes() {
  const dir = mkdtempSync(join(tmpdir(), "edgecall-federation-"));
  const marksFile = join(dir, "marks");
  const taps = { lender: await PeerTap.start(), borrower: await PeerTap.start() };
  afterAll(() => {
    for (const tap of Object.values(taps)) tap.stop();
    rmSync(dir, { recursive: true, force: true });
  });
  // After a restart of a gateway, its bridge comes back in a moment.
  beforeEach(async () => {
    await lender.gateway.online("lathe");
    await borrower.gateway.online("kettle-own");
  });
  afterEach(() => {
    for (const tap of Object.values(taps)) {
      tap.onRequest = () => "pass";
      tap.onAnswer = () => "pass";
    }
  });

  const agentOf = (id: string, capabilities?: string) => ({
    id,
    model: true,
    ...(capabilities !== undefined && { capabilities }),
    top: { state_dir: join(dir, id) },
    env: { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: marksFile },
  });

  const lender = useStack(
    { vars: vars(LENDER, taps.lender), bridge: { BRIDGE_ID: LENDER.bridge } },
    async (stack) => {
      taps.lender.target = stack.gateway.url;
      await stack.startAgent(agentOf("lathe"));
      await stack.startAgent(agentOf(LENDER.devices[0] ?? "", LENDER.words[0]));
      for (const id of ["lathe", ...LENDER.devices]) await stack.gateway.online(id);
    },
  );

  const borrowerVars = vars(BORROWER, taps.borrower);
  const borrower = useStack({ vars: borrowerVars, bridge: { BRIDGE_ID: BORROWER.bridge } }, async (stack) => {
    taps.borrower.target = stack.gateway.url;
    const [id = ""] = BORROWER.devices;
    await stack.startAgent(agentOf(id, BORROWER.words[0]));
    await stack.gateway.online(id);
    const hasTool = async () =>
      (await stack.gateway.toolsOf(id)).tools.some(({ name }) => name === "edge_call");
    await until(hasTool, { what: "it may call other agents" });
    await lend("work");
  });

  const telegram = await onTelegram((path, init) => fetch(`${borrower.gateway.url}${path}`, init));
  borrowerVars.CHANNELS = JSON.stringify([
    { ...telegram.settings, home: BORROWER.home, role_of: { [OWNER]: "owner" } },
  ]);
  afterAll(() => telegram.server.close());

  const marks = () => (existsSync(marksFile) ? readFileSync(marksFile, "utf8").trim().split("\n").length : 0);

  async function post(client: GatewayClient, path: string, body: object) {
    const response = await client.fetch(path, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    return {
      status: response.status,
      body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>,
    };
  }

  /** The lender's owner lends the lathe, and the other owner borrows it. @returns the grant */
  async function lend(name: string, to: GatewayClient = borrower.gateway): Promise<string> {
    const terms = { agents: ["lathe"], scopes: ["ask", "command"], reads_only: false, expires_in_days: 1 };
    const lent = await post(lender.gateway, "/v1/lending", { label: `people of ${name}`, ...terms });
    expect(lent.status, JSON.stringify(lent.body)).toBe(201);
    const { invitation } = lent.body;
    const taken = await post(to, "/v1/borrowing", { invitation, name });
    expect(taken.status, JSON.stringify(taken.body)).toBe(201);
    return (lent.body.lent as { id: string }).id;
  }

  /** A turn of the borrower's chat begins, and the lathe's owner is asked. */
  async function askedAtLender(step: Step = append("one")) {
    const conversation = crypto.randomUUID();
    const id = await borrower.gateway.begin(script(step, RESULTS), conversation);
    const question = await questionAt(lender.gateway);
    return { question, ended: () => borrower.gateway.settled(conversation, id, 60_000) };
  }

  /** Kills a gateway, which comes back with its bridge. */
  async function restart(stack: Stack): Promise<void> {
    await stack.worker.kill();
    const back = Promise.withResolvers<void>();
    // Until its bridge is back, the lender says of every device that it is offline.
    if (stack === lender) taps.lender.onRequest = () => back.promise.then(() => "pass" as const);
    await stack.startWorker();
    if (stack === lender) await lender.gateway.online("lathe");
    back.resolve();
  }

  return { lender, borrower, taps, telegram, marks, post, lend, askedAtLender, restart };
}

/** Tests of what the ones before it sent: call it at the end of a file. */
export function testWhatEachSideLearns({ lender, borrower, taps }: TwoHomes): void {
  describe("what each side may learn", () => {
    const namesOf = ({ person, devices, words, bridge }: Side) => [person, bridge, ...devices, ...words];

    test("no byte between the gateways holds a name of the other home", () => {
      const all = `${taps.lender.text()}\n${taps.borrower.text()}`;
      expect(all.length).toBeGreaterThan(10_000);
      for (const name of [...namesOf(LENDER), ...namesOf(BORROWER), NEIGHBOUR.home, NEIGHBOUR.person])
        expect(all, name).not.toContain(name);
    });

    test("a home's id is in the path of what it is asked, and in the borrower's first request alone", () => {
      const isNamed = (tap: PeerTap, home: string) =>
        tap.passed.filter(({ path, body, answer }) => {
          const without = `${path.replace(`/v1/peer/${home}/`, "")}${body}${answer}`;
          return without.includes(home);
        });
      for (const tap of Object.values(taps)) expect(isNamed(tap, LENDER.home)).toEqual([]);
      for (const { path } of Object.values(taps).flatMap((tap) => isNamed(tap, BORROWER.home)))
        expect(path).toMatch(/\/take$/);
    });

    test.each([
      ["lender", () => lender, [...namesOf(BORROWER), BORROWER.home]],
      ["borrower", () => borrower, [...namesOf(LENDER), LENDER.home]],
    ] as const)(
      "nothing that people, models and devices of the %s see has a name of the other home",
      async (_, of, names) => {
        const { gateway, model } = of();
        const seen = [
          ...(await Promise.all(
            [
              "/v1/audit?limit=500",
              "/v1/lending",
              "/v1/agents",
              "/v1/status",
              "/v1/questions",
              "/v1/conversations",
            ].map(async (path) => await (await gateway.fetch(path)).text()),
          )),
          JSON.stringify(model.requests.map(({ messages, tools }) => ({ messages, tools }))),
          of().log(),
        ].join("\n");
        for (const name of names) expect(seen, name).not.toContain(name);
      },
    );

    test("no conversation of the borrower is named", async () => {
      const response = await borrower.gateway.fetch("/v1/conversations?limit=100");
      const { conversations } = (await response.json()) as { conversations: Array<{ id: string }> };
      expect(conversations.length).toBeGreaterThan(0);
      const all = `${taps.lender.text()}\n${taps.borrower.text()}`;
      for (const { id } of conversations) expect(all).not.toContain(id);
    });
  });

  test("every history that the models received is valid", () => {
    expect([...lender.model.breaches, ...borrower.model.breaches]).toEqual([]);
  });
}
