/** The three example flows of the tool-loop design: by the device's own loop, and as actions of an edge_call. */
import { expect, test } from "vitest";
import { ZERO_2W_CHIPS } from "../../pi-agent/testing/boards/zero-2w.ts";
import { fakeGpio } from "../../pi-agent/testing/programs/gpiod.ts";
import { script } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import { Observer, payloadOf } from "./observer.ts";
import { noGit } from "./peers.ts";
import { type Commit, logOf, makeRepository } from "./repository.ts";
import { useStack } from "./stack.ts";

const gpio = fakeGpio(2, ZERO_2W_CHIPS, { registers: "raspi-gpio" });
gpio.set("gpiochip0", 17, { name: "GPIO17", val: 1 });
let commits: Commit[] = [];

const stack = useStack({}, async (stack) => {
  await stack.startAgent({ id: "pi", model: true, programs: gpio.scripts });
  await stack.gateway.online("pi");
  if (noGit === undefined) commits = makeRepository(stack.workspaceOf("pi"));
});

type Calls = ReadonlyArray<readonly [name: string, args: Record<string, unknown>]>;

/** The device's model makes the calls. @returns all results that its tools gave it */
async function byItsOwnLoop(calls: Calls): Promise<string | null> {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const steps = calls.map(([name, args]) => tool(name, args));
    const turn = await stack.gateway.ask(script(ownLoop("pi", ...steps, RESULTS), RESULTS));
    expect(turn.calls).toMatchObject([
      { agent: "pi", calls: calls.map(([name, args]) => ({ name, args, status: "success" })) },
    ]);
    await until(() => observer.commands("pi", "prompt").length > 0);
    const [prompt, ...others] = observer.of("pi", "commands").filter(({ body }) => body.command !== "ack");
    expect([prompt?.body.command, others]).toEqual(["prompt", []]);
    const report = await observer.answerTo("pi", prompt?.body.request_id);
    expect(payloadOf(report.body).tools_executed).toMatchObject(
      calls.map(([name]) => ({ tool: name, success: true })),
    );
    return turn.answer;
  } finally {
    await observer.stop();
  }
}

/** The gateway's model makes the calls, each as a command. */
async function asActions(calls: Calls): Promise<string | null> {
  const observer = await Observer.start(stack.mqttUrl);
  try {
    const steps = calls.map(([name, args]) => action("pi", name, args));
    const turn = await stack.gateway.ask(script(...steps, RESULTS));
    expect(turn.calls).toMatchObject(
      calls.map(([name]) => ({ agent: "pi", action: name, status: "success" })),
    );
    await until(() => observer.commands("pi", "tool").length >= calls.length);
    const commands = observer.commands("pi", "tool").map(({ body }) => payloadOf(body));
    expect(commands).toMatchObject(calls.map(([name, args]) => ({ tool: name, parameters: args })));
    return turn.answer;
  } finally {
    await observer.stop();
  }
}

for (const [way, play] of [
  ["the device's own loop", byItsOwnLoop],
  ["edge_call actions", asActions],
] as const) {
  test(`GPIO, by ${way}: is pin 17 high?`, async () => {
    const before = gpio.text("gpiochip0", 17);
    expect(await play([["gpio_read", { pin: 17 }]])).toBe("GPIO17 is HIGH (1): an input.");
    expect(gpio.text("gpiochip0", 17)).toBe(before);
  });

  test(`a file, by ${way}: what is in /etc/hostname?`, async () => {
    expect(await play([["read", { path: "/etc/hostname" }]])).toBe("alex-eye\n");
  });

  test(`a chain, by ${way}: the last three commits, and the diff of the newest`, {
    tags: ["needs/git", "needs/bubblewrap"],
  }, async () => {
    const calls = [
      ["git_log", { max_count: 3 }],
      ["git_diff", { commit: commits[0]?.hash }],
    ] as const;
    expect(await play(calls)).toBe(`${logOf(commits)} | ${DIFF}`);
  });
}

const DIFF = `diff --git a/main.go b/main.go
index 38dd16d..42eee5b 100644
--- a/main.go
+++ b/main.go
@@ -1,3 +1,4 @@
 package main
 
+func fix() {}
 func main() {}
`;

test("every history that the model received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
