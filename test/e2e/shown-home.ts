/** The demo home with something of everything: devices, a Pi, questions that wait, a rule that has told something, conversations. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { type DemoHome, startDemoHome } from "../../local/demo/demo.ts";
import { furnish } from "../../local/demo/furnish.ts";
import type { Step } from "../scripted-model.ts";
import { TOKENS } from "../tokens.ts";
import { until } from "../wait.ts";
import { action } from "./edge-calls.ts";
import type { Question } from "./gateway-client.ts";
import { RULE_VARS } from "./home-rules.ts";
import { type Stack, useStack } from "./stack.ts";

/** A question, the conversation in which it is asked, and what the model does then. */
type Asked = { conversation: string; text: string; steps: Step[] };

const SCRIPT = [
  "set -e",
  "cd /srv/garden",
  "tar czf /tmp/pictures.tgz pictures",
  "rm -rf pictures/2025-*",
  "ls -l /tmp/pictures.tgz",
].join("\n");

/** What waits for the owner: harmless, dangerous, several at once, a script. By their conversations. */
const WAITING: readonly Asked[] = [
  {
    conversation: "plug",
    text: "The washing is done, switch the machine off.",
    steps: [action("washing-machine", "set", { on: false })],
  },
  { conversation: "lock", text: "Let the parcel in.", steps: [action("front-door", "unlock")] },
  {
    conversation: "batch",
    text: "Switch the kettle and the dryer on.",
    steps: [
      {
        calls: ["dryer", "washing-machine"].map((agent_id) => ({
          arguments: { agent_id, action: "set", params: { on: true } },
        })),
      },
    ],
  },
  {
    conversation: "script",
    text: "Make room on garden-pi.",
    steps: [action("garden-pi", "bash", { command: SCRIPT })],
  },
];
const ANSWERED: Asked = {
  conversation: "answered",
  text: "How warm is the garden house, and how much memory is free?",
  steps: [
    {
      calls: ["temperature", "memory"].map((name) => ({
        arguments: { agent_id: "garden-pi", action: name, params: {} },
      })),
    },
    {
      text: "The **garden house** as `garden-pi` measured it just now:\n\n- its processor is at 48 °C, which is well\n- half of its memory is free",
    },
  ],
};
const FREEZER: Asked = {
  conversation: "freezer",
  text: "Tell me when the freezer gets warmer than −15 °C.",
  steps: [
    {
      calls: [
        {
          name: "watch",
          arguments: {
            ...{ name: "Freezer too warm", agent_id: "freezer", reading: "Temperature" },
            ...{ is: "above", value: -15, for_minutes: 0 },
          },
        },
      ],
    },
    { text: "I will." },
  ],
};

export type ShownHome = { stack: Stack; house: () => DemoHome; questionOf: (conversation: string) => string };

/** Starts it for the tests of a file. It is ready when each of `WAITING` waits. */
export function useShownHome(): ShownHome {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-shown-"));
  const stack = useStack({ vars: RULE_VARS, bridge: { BRIDGE_STATE: folder } });
  let house: DemoHome | undefined;
  const questions = new Map<string, string>();

  const begin = async ({ conversation, text, steps }: Asked) => {
    stack.model.written.set(text, steps);
    return await stack.gateway.begin(text, conversation);
  };
  const ended = async (asked: Asked) => stack.gateway.settled(asked.conversation, await begin(asked));

  beforeAll(async () => {
    const capabilities = "garden house: temperature, CPU, memory and disk of a Pi Zero";
    [house] = await Promise.all([
      startDemoHome({ url: stack.mqttUrl, seed: 4 }),
      stack.startAgent({ id: "garden-pi", capabilities, top: { policy: { shell: "ask" } } }),
    ]);
    house.happen("freezer closed");
    house.change("Freezer", { temperature: -18.2 });
    await furnish({ url: stack.gateway.url, token: TOKENS.owner });
    await stack.gateway.online("garden-pi");
    for (const id of ["washing-machine", "dryer"]) {
      const body = JSON.stringify({ mode: "ask" });
      const changed = await stack.gateway.fetch(`/v1/devices/${id}`, { method: "PATCH", body });
      if (!changed.ok) throw new Error(`${id}: ${changed.status} ${await changed.text()}`);
    }
    await ended(ANSWERED);
    await ended(FREEZER);
    for (const asked of WAITING) await begin(asked);
    await until(
      async () => {
        const response = await stack.gateway.fetch("/v1/questions");
        const open = ((await response.json()) as { questions: Question[] }).questions;
        for (const { id, conversation } of open) questions.set(conversation, id);
        return WAITING.every(({ conversation }) => questions.has(conversation));
      },
      { within: 60_000, what: "all questions wait" },
    );
  }, 180_000);
  afterAll(() => house?.stop());

  const there = () => {
    if (!house) throw new Error("the house is not there yet");
    return house;
  };
  return { stack, house: there, questionOf: (conversation) => questions.get(conversation) ?? "" };
}
