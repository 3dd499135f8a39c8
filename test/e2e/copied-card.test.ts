// @module-tag needs/mosquitto
/** A device's card was copied: two devices with one id and one key use one broker. */
import { cpSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { findMosquitto } from "../../bridge/testkit/brokers.ts";
import { until } from "../wait.ts";
import { Program } from "./program.ts";
import { useStack } from "./stack.ts";

const stack = useStack({ mosquitto: findMosquitto() }, async (stack) => {
  await stack.startAgent({ id: "pi" });
  await stack.gateway.online("pi");
});

test("D15 the copy is refused by name, and the first device answers within 30 s after the copy is gone", async () => {
  const card = dirname(stack.workspaceOf("pi"));
  const copy = mkdtempSync(join(tmpdir(), "edgecall-copy-"));
  cpSync(card, copy, { recursive: true });
  const second = new Program({
    name: "copy",
    script: "pi-agent/main.ts",
    args: ["--config", join(copy, "agent.toml")],
    env: {},
  });
  try {
    await until(() => second.lines.some((line) => line.includes("mqtt.duplicate_agent_id")), {
      within: 30_000,
      what: "the copy says that it gives way",
    });
    const refusal = second.lines.find((line) => line.includes("mqtt.duplicate_agent_id")) ?? "";
    expect(refusal).toContain("another device with the id 'pi' was here first");
  } finally {
    await second.stop();
  }
  const answers = async () => {
    const { body } = await stack.gateway.command("pi", "tool", { tool: "memory", parameters: {} });
    return body.payload?.status === "success";
  };
  await until(answers, { within: 30_000, every: 250, what: "the first answers" });
  expect(stack.agent("pi").lines.join("\n")).not.toContain("mqtt.duplicate_agent_id");
});
