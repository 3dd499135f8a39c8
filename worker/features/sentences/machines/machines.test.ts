/** Questions about machines in a real home: one call of the machine's own tool, and the answer in the person's language. */
import { reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, test } from "vitest";
import { languageFiles } from "../../../../test/language-files.ts";
import { setVariables } from "../../../../test/variables.ts";
import { agent, say, TestBridge } from "../../../../test/workerd.ts";

afterEach(reset);

beforeEach(() =>
  setVariables({ ASSETS: languageFiles, LLM_BASE_URL: "", LLM_MODEL: "", LLM_MODELS: "", AI: undefined }),
);

const TOOLS = ["temperature", "disk", "journal"].map((name) => ({
  name,
  description: `Read the ${name}`,
  parameters: { type: "object", properties: {} },
  effect: "read" as const,
  idempotent: true,
}));

/** Two machines, of which one is warmer than the other. */
async function machines(): Promise<TestBridge> {
  const bridge = await TestBridge.connect([
    agent("vm", { tools: TOOLS }),
    agent("nas", { tools: TOOLS.slice(0, 1) }),
  ]);
  const texts: Readonly<Record<string, string>> = {
    "vm temperature": "cpu-thermal: 61.5 °C",
    "nas temperature": "cpu-thermal: 40.0 °C\nnvme Composite: 35.1 °C",
    "vm disk": "/ 42% used (24.3 GB of 58.0 GB, 33.7 GB free) ext4 on /dev/sda1",
    "vm journal": "2026-11-22T01:35:26Z sshd[611]: Accepted publickey",
  };
  bridge.onCall = ({ agent: id, payload }) => ({
    status: "success",
    result: texts[`${id} ${(JSON.parse(payload) as { payload: { tool: string } }).payload.tool}`],
    tainted: false,
  });
  return bridge;
}

test.each([
  ["how hot is vm?", "vm: 61.5 °C."],
  ["how full is the disk of vm?", "vm, disk: 42 % used (24.3 GB of 58 GB), 33.7 GB free."],
  ["is vm hotter than 60?", "Yes. vm: 61.5 °C."],
  ["is vm hotter than 70 degrees?", "No. vm: 61.5 °C."],
  ["is the disk of vm above 80 percent?", "No. vm, disk: 42 % used (24.3 GB of 58 GB), 33.7 GB free."],
  ["which machines are hotter than 60?", "vm: 61.5 °C."],
  [
    "which machines are hotter than 90?",
    "None.\nnas: cpu-thermal 40 °C, nvme Composite 35.1 °C.\nvm: 61.5 °C.",
  ],
  ["wie heiß ist vm?", "vm: 61,5 °C."],
  ["ist vm wärmer als 60 Grad?", "Ja. vm: 61,5 °C."],
  [
    "wie voll ist die Festplatte von vm?",
    "vm, Festplatte: zu 42 % belegt (24,3 GB von 58 GB), 33,7 GB frei.",
  ],
])("%s", async (sentence, answer) => {
  await machines();
  expect((await say("asked", sentence)).body).toMatchObject({ status: "done", answer, model: "edgecall" });
});

test("a log is the tool's own text, below one sentence in the person's language", async () => {
  await machines();
  expect((await say("log", "zeig mir das Protokoll von vm")).body.answer).toBe(
    "vm, Protokoll, das Neueste zuletzt:\n2026-11-22T01:35:26Z sshd[611]: Accepted publickey",
  );
});

test("a tool that fails is said so, and is no answer to yes or no", async () => {
  const bridge = await machines();
  bridge.onCall = () => ({
    status: "error",
    error: "Error: This device has no temperature sensor that can be read.",
    error_type: "unavailable",
    tainted: false,
  });
  expect((await say("failed", "ist vm wärmer als 60 Grad?")).body.answer).toBe(
    "vm: Das hat nicht geklappt. This device has no temperature sensor that can be read.",
  );
});
