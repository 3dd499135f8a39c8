/**
 * An attacker knows the broker's password and every topic, and has no key. Each of his attempts is made over a real
 * broker. After each one the paired device still works, has run nothing for him, and none of his false reports is
 * accepted.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stamped } from "@edgecall/core/protocol/signing.ts";
import { KeyPair } from "@edgecall/node/keypair.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { Identity } from "../../pi-agent/link/identity.ts";
import { until } from "../wait.ts";
import { BrokerFence, FENCE } from "./broker-fence.ts";
import { Observer } from "./observer.ts";
import { useStack } from "./stack.ts";

const folder = mkdtempSync(join(tmpdir(), "edgecall-attacker-"));
const marks = join(folder, "marks");
const APPEND = { tool: "append", parameters: {} };
const FORGED = "forged-by-the-attacker";
const done = () => (existsSync(marks) ? readFileSync(marks, "utf8").split("\n").length - 1 : 0);

// Without Mosquitto the embedded broker takes its place.
const stack = useStack({ mosquitto: findMosquitto(), vars: { ALLOW_UNSIGNED_AGENTS: "" } }, async (it) => {
  const env = { EDGECALL_TEST_TOOLS: "1", EDGECALL_TEST_FILE: marks };
  await it.startAgent({ id: "pi", env, top: { policy: { append: "allow" } } });
  await it.gateway.online("pi");
});
let thief: Observer;
let fence: BrokerFence;
const own = new Identity(KeyPair.make());

beforeAll(async () => {
  thief = await Observer.start(stack.mqttUrl);
  fence = await BrokerFence.pair(stack.gateway, thief.client);
  // Real messages that the attacker records.
  for (let i = 0; i < 2; i += 1) await stack.gateway.command("pi", "tool", APPEND);
  await until(() => tape("reports").length > 0 && tape("commands").length > 0);
});
afterAll(async () => {
  await thief.stop();
  rmSync(folder, { recursive: true, force: true });
});

type Kind = "capabilities" | "tools" | "presence" | "reports" | "events" | "status" | "commands";
const RETAINED = ["capabilities", "tools", "presence"] as const;
const SAID = [...RETAINED, "reports", "events"] as const;

const tape = (kind: string) => thief.of("pi", kind).filter(({ body }) => "sig" in body || "mac" in body);
const newest = (kind: string) => tape(kind).at(-1)?.text ?? "";
const bootId = () => String(tape("presence").at(-1)?.body.boot_id);
const publish = (topic: string, text: string | Buffer, retain = false) =>
  thief.client.publishAsync(topic, text, { qos: 1, retain });
const write = (kind: Kind, text: string | Buffer, retain = RETAINED.some((one) => one === kind)) =>
  publish(`evoclaw/agents/pi/${kind}`, text, retain);

/** Messages of the right form with the attacker's content. */
const FORGERIES: Record<Exclude<Kind, "commands">, object> = {
  capabilities: { agent_id: "pi", capabilities: FORGED, features: ["tool", "prompt", "ack"] },
  tools: { hash: FORGED, tools: [{ name: FORGED, description: FORGED, parameters: {}, effect: "read" }] },
  presence: { state: "offline", reason: FORGED },
  reports: {
    agent_id: "pi",
    report_type: "result",
    payload: { request_id: FORGED, status: "success", result: FORGED },
  },
  events: { type: "question", request_id: FORGED, question_id: FORGED, text: FORGED, options: ["yes", "no"] },
  status: { status: FORGED },
};
const stampedText = (body: object, more: object = {}) =>
  stamped(JSON.stringify({ ...body, ...more }), { boot_id: bootId(), n: Date.now() * 2_048 });
const commandText = (command: string, payload: object, more: object = {}) =>
  JSON.stringify({ command, payload, request_id: crypto.randomUUID(), expires_in_ms: 60_000, ...more });

type Attempt = [name: string, run: () => Promise<unknown>];

const forging: Attempt[] = (Object.keys(FORGERIES) as Array<keyof typeof FORGERIES>).flatMap(
  (kind): Attempt[] => {
    const body = FORGERIES[kind];
    return [
      [`${kind}, unsigned`, () => write(kind, JSON.stringify(body))],
      [`${kind}, unsigned, with the run's name and a high counter`, () => write(kind, stampedText(body))],
      [
        `${kind}, with a key of his own`,
        () => write(kind, own.sign({ agent: "pi", kind }, stampedText(body))),
      ],
      [`${kind}, no JSON`, () => write(kind, Buffer.from([0, 255, 254, 1]))],
      [`${kind}, empty`, () => write(kind, "")],
    ];
  },
);
const replaying: Attempt[] = SAID.flatMap((kind): Attempt[] => [
  [
    `${kind}, all of the tape`,
    async () => {
      for (const { text } of tape(kind)) await write(kind, text);
    },
  ],
  [
    `${kind}, the newest with other words and the same signature`,
    () =>
      write(
        kind,
        newest(kind).replace(/"(reason|capabilities|hash|report_type|type)":"[^"]*"/, `"$1":"${FORGED}"`),
      ),
  ],
  [
    `${kind}, a text of another topic`,
    () => write(kind, newest(kind === "reports" ? "presence" : "reports")),
  ],
  [`${kind}, as an agent of another name`, () => publish(`evoclaw/agents/pi2/${kind}`, newest(kind), true)],
]);
const commanding: Attempt[] = [
  ["append, unsigned", () => write("commands", commandText("tool", APPEND))],
  ["append, unsigned and retained", () => write("commands", commandText("tool", APPEND), true)],
  [
    "append, with a key of his own",
    () =>
      write(
        "commands",
        own.sign({ agent: "pi", kind: "commands" }, stampedText(JSON.parse(commandText("tool", APPEND)))),
      ),
  ],
  [
    "append, all of the tape",
    async () => {
      for (const { text } of tape("commands")) await write("commands", text);
    },
  ],
  [
    "append, the tape under new ids",
    async () => {
      for (const { text } of tape("commands"))
        await write(
          "commands",
          text.replace(/"request_id":"[^"]*"/, `"request_id":"${crypto.randomUUID()}"`),
        );
    },
  ],
  [
    "append, the tape with a later counter",
    async () => {
      for (const { text } of tape("commands"))
        await write("commands", text.replace(/"n":\d+/, `"n":${Date.now() * 2}`));
    },
  ],
  [
    "append, with the agent's own signature of a report",
    () =>
      write(
        "commands",
        newest("reports").replace(/^\{/, `{"command":"tool","payload":${JSON.stringify(APPEND)},`),
      ),
  ],
  ...[
    "shutdown",
    "cancel",
    "ack",
    "answer",
    "watch",
    "upload",
    "gateway",
    "update_genome",
    "evolution",
    "prompt",
    "execute",
    "skill",
  ].map(
    (command): Attempt => [
      `${command}, unsigned`,
      () =>
        write(
          "commands",
          commandText(command, { request_id: newestCall(), version: "99.0.0", answer: "approve" }),
        ),
    ],
  ),
  ["a broadcast", () => publish("evoclaw/broadcast", commandText("shutdown", {}))],
  ["a strategy", () => publish("evoclaw/agents/pi/strategy", commandText("update_strategy", {}))],
];
const newestCall = () => String(tape("commands").at(-1)?.body.request_id);
const naming: Attempt[] = [
  "@bridge",
  "edgecall-bridge",
  "PI",
  "pi ",
  "__proto__",
  "constructor",
  "x".repeat(65),
  "pí",
  "-",
  "pi2",
].map(
  (id): Attempt => [
    `an agent named '${id.slice(0, 20)}'`,
    async () => {
      await publish(
        `evoclaw/agents/${id}/capabilities`,
        JSON.stringify({ ...FORGERIES.capabilities, agent_id: id }),
        true,
      );
      await publish(
        `evoclaw/agents/${id}/presence`,
        JSON.stringify({ state: "online", boot_id: FORGED }),
        true,
      );
      await publish(
        `evoclaw/agents/${id}/reports`,
        JSON.stringify({ report_type: "heartbeat", payload: {} }),
      );
    },
  ],
);
const flooding: Attempt[] = [
  [
    "1,100 invented agents, small adverts",
    async () => {
      const advert = JSON.stringify({ capabilities: FORGED });
      await Promise.all(
        Array.from({ length: 1_100 }, (_, n) =>
          publish(`evoclaw/agents/ghost-${n}/capabilities`, advert, true),
        ),
      );
    },
  ],
  [
    "200 invented agents, tools of 40 KiB",
    async () => {
      const tools = JSON.stringify({
        hash: FORGED,
        tools: [{ name: "x", description: "x".repeat(40_000), parameters: {} }],
      });
      for (let n = 0; n < 200; n += 1) await publish(`evoclaw/agents/ghost-${n}/tools`, tools, true);
    },
  ],
  [
    "1,000 reports",
    () =>
      Promise.all(Array.from({ length: 1_000 }, () => write("reports", JSON.stringify(FORGERIES.reports)))),
  ],
  [
    "1,000 commands",
    () => Promise.all(Array.from({ length: 1_000 }, () => write("commands", commandText("tool", APPEND)))),
  ],
  [
    "200 presences",
    () =>
      Promise.all(Array.from({ length: 200 }, () => write("presence", JSON.stringify(FORGERIES.presence)))),
  ],
  [
    "reports of 300 KB",
    async () => {
      for (let i = 0; i < 10; i += 1) await write("reports", JSON.stringify({ x: "y".repeat(300_000) }));
    },
  ],
];

/** The device works, ran nothing for the attacker, and no false report was accepted. */
async function expectUnharmed(name: string, doneBefore: number): Promise<void> {
  const looks = await fence.passed();
  await until(async () => (await stack.gateway.command("pi", "ping")).body.payload?.pong, {
    within: 40_000,
    every: 200,
    what: `pi answers after: ${name}`,
  });
  // The device still obeys its owner. Work that it had begun for the attacker would be counted before this call ends.
  expect((await stack.gateway.command("pi", "tool", APPEND)).body.payload, name).toMatchObject({
    status: "success",
  });
  expect(done(), name).toBe(doneBefore + 1);
  for (const agents of [...looks, await stack.gateway.agents()]) {
    expect(
      agents.map(({ id }) => id).filter((id) => id !== FENCE),
      name,
    ).toEqual(["pi"]);
    expect(JSON.stringify(agents), name).not.toContain(FORGED);
  }
  const visible = await Promise.all(
    ["/v1/questions", "/v1/audit?limit=100"].map(async (path) => (await stack.gateway.fetch(path)).text()),
  );
  expect(visible.join(), name).not.toContain(FORGED);
}

const ALL = { forging, replaying, commanding, naming, flooding };

test("at least fifty attempts", () => {
  expect(Object.values(ALL).flat().length).toBeGreaterThanOrEqual(50);
});

describe.each(Object.entries(ALL))("an attacker with the broker's password: %s", (_, attempts) => {
  test.each(attempts)("%s", { timeout: 90_000 }, async (name, run) => {
    const before = done();
    await run();
    await expectUnharmed(name, before);
  });
});

describe("S10 S11 the same attempts over a restart of the bridge", () => {
  test.each<Attempt>([
    [
      "an old birth of its own in place of its presence",
      async () => {
        const [old] = tape("presence");
        // A newer run, so that the recorded text is old.
        await stack.agent("pi").kill();
        await stack.restartAgent("pi");
        await stack.gateway.online("pi");
        await stack.bridge.kill();
        await write("presence", old?.text ?? "");
      },
    ],
    [
      "everything retained is cleared",
      async () => {
        await stack.bridge.kill();
        for (const kind of RETAINED) await write(kind, "");
      },
    ],
    [
      "all of the tape of its presence, the oldest last",
      async () => {
        await stack.bridge.kill();
        for (const { text } of tape("presence").toReversed()) await write("presence", text);
      },
    ],
    [
      "1,100 retained adverts, the attacker gone",
      async () => {
        await stack.bridge.kill();
        await ALL.flooding[0]?.[1]();
      },
    ],
  ])("%s", { timeout: 120_000 }, async (name, run) => {
    const before = done();
    await run();
    await stack.startBridge();
    await expectUnharmed(name, before);
  });
});
