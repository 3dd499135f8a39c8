import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test, vi } from "vitest";
import { until } from "../../test/wait.ts";
import { z } from "../protocol/parse.ts";
import { defineTool, faultResult, modelTextOf, type Tool, textOf, textResult } from "./contract.ts";
import { Locks } from "./locks.ts";
import { ToolRegistry } from "./registry.ts";
import { type RunEvent, type RunnerOptions, type RunRequest, runTool } from "./runner.ts";

const CALLER = { principal: "ada", role: "owner", channel: "test" };
const FOREVER = () => new Promise<never>(() => {});

const calls = new AsyncLocalStorage<true>();

/** @returns the timers set within it that are still to fire. Those that another file of this process left are not among them. */
function timersOf(within: AsyncLocalStorage<true>): ReadonlySet<unknown> {
  const open = new Set<unknown>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  vi.spyOn(globalThis, "setTimeout").mockImplementation(((work: () => void, ms?: number) => {
    const timer = set(() => {
      open.delete(timer);
      work();
    }, ms);
    if (within.getStore()) open.add(timer);
    return timer;
  }) as typeof setTimeout);
  vi.spyOn(globalThis, "clearTimeout").mockImplementation((timer) => {
    open.delete(timer);
    clear(timer);
  });
  return open;
}
const SECRET = "hunter2-hunter2";

const bash = (execute: Tool["execute"], more: Partial<Tool> = {}): Tool => ({
  ...defineTool({
    name: "bash",
    description: "Runs",
    input: z.strictObject({ command: z.string() }),
    effect: "exec",
    idempotent: false,
    timeoutMs: 5_000,
    maxTimeoutMs: 10_000,
    execute,
  }),
  ...more,
});

const run = (tool: Tool, more: Partial<RunRequest> = {}, options: RunnerOptions = {}) =>
  runTool(
    new ToolRegistry([tool]),
    { callId: "c1", name: tool.name, args: { command: "make" }, caller: CALLER, ...more },
    { graceMs: 10, ...options },
  );

/** Resolves when its call is aborted. */
const untilStopped = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));

const TIMED_OUT = "Error: Tool 'bash' timed out after 0.1s. Command: 'make'.";
const ADVICE = "Try again with a shorter timeout or explain to the user.";

describe("the result of a stopped call", () => {
  test("contains its output so far", async () => {
    const tool = bash(async (_, { update }) => {
      update("compiling a\n");
      update("compiling b\n");
      return await FOREVER();
    });
    const { result } = await run(tool, { timeoutMs: 100 });
    expect(modelTextOf(result)).toBe(`${TIMED_OUT}\nOutput so far:\ncompiling a\ncompiling b\n${ADVICE}`);
    expect(result.fault).toEqual({ code: "timeout", message: TIMED_OUT, advice: ADVICE });
  });

  test("contains the end of long output", async () => {
    const tool = bash(async (_, { update }) => {
      for (let line = 0; line < 10_000; line += 1) update(`line ${line}\n`);
      return await FOREVER();
    });
    const text = textOf((await run(tool, { timeoutMs: 50 })).result);
    expect(text).toContain("\nOutput so far:\n[Cut: the last 16384 bytes are shown.]\n");
    expect(text).toMatch(/line 9999$/);
    expect(text.length).toBeLessThan(17_000);
  });

  test("without output is only the error text", async () => {
    const { result } = await run(bash(FOREVER), { timeoutMs: 100 });
    expect(modelTextOf(result)).toBe(`${TIMED_OUT}\n${ADVICE}`);
  });

  test("after a cancel too", async () => {
    const stop = new AbortController();
    const tool = bash(async (_, { update }) => {
      update("half");
      stop.abort();
      return await FOREVER();
    });
    const { result } = await run(tool, { signal: stop.signal });
    expect(result.fault?.code).toBe("aborted");
    expect(modelTextOf(result)).toBe(
      "Error: Tool 'bash' was cancelled while it ran. A part of its work may be done.\nOutput so far:\nhalf\nTell the user so; do not call it again unless the user asks.",
    );
  });

  test("the tool's own result, in time, has priority over its output; the call still counts as stopped", async () => {
    const tool = bash(async (_, { signal, update }) => {
      update("half");
      await untilStopped(signal);
      return textResult("half, and the rest of the pipe", { exit_code: 143 });
    });
    const { result } = await run(tool, { timeoutMs: 100 }, { graceMs: 1_000 });
    expect(result.fault?.code).toBe("timeout");
    expect(textOf(result)).toBe(`${TIMED_OUT}\nOutput so far:\nhalf, and the rest of the pipe`);
    expect(result.details).toEqual({ exit_code: 143 });
  });

  test("its own words about the time-out are unchanged", async () => {
    const own = faultResult("timeout", "Error: the pump did not answer in time; the valve is shut.");
    const tool = bash(async (_, { signal }) => {
      await untilStopped(signal);
      return own;
    });
    expect((await run(tool, { timeoutMs: 20 }, { graceMs: 1_000 })).result).toEqual(own);
  });

  test("is not replaced by an exception or an empty result", async () => {
    for (const end of [() => Promise.reject(new Error("EPIPE")), async () => textResult(" ")]) {
      const tool = bash(async (_, { signal, update }) => {
        update("half");
        await untilStopped(signal);
        return await end();
      });
      const { result } = await run(tool, { timeoutMs: 20 }, { graceMs: 1_000 });
      expect(textOf(result)).toMatch(/\nOutput so far:\nhalf$/);
      expect(result.fault?.code).toBe("timeout");
    }
  });

  test("a result after the grace period changes nothing, and is dropped", async () => {
    const heard: string[] = [];
    const late = Promise.withResolvers<void>();
    const tool = bash(async (_, { update }) => {
      update("early");
      await late.promise;
      update("late");
      return textResult("late");
    });
    const { result } = await run(tool, { timeoutMs: 10, update: (text) => heard.push(text) });
    late.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(textOf(result)).toMatch(/\nOutput so far:\nearly$/);
    expect(heard).toEqual(["early"]);
  });

  test("a call that ended before its cancel is not cancelled", async () => {
    const stop = new AbortController();
    const running = run(
      bash(async () => textResult("done")),
      { signal: stop.signal },
    );
    const { result } = await running;
    stop.abort();
    expect(result).toEqual(textResult("done"));
  });
});

describe("locks", () => {
  const pin = (execute: Tool["execute"], more: Partial<Tool> = {}) =>
    bash(execute, { lock: (input) => `pin:${(input as { command: string }).command}`, ...more });

  test("calls with the same key run one after another, and the time-out starts with the tool", async () => {
    const locks = new Locks();
    const first = Promise.withResolvers<void>();
    const order: string[] = [];
    const one = run(
      pin(async () => {
        order.push("first starts");
        await first.promise;
        order.push("first ends");
        return textResult("1");
      }),
      {},
      { locks },
    );
    const two = run(
      pin(async () => {
        order.push("second");
        return textResult("2");
      }),
      { timeoutMs: 30 },
      { locks },
    );
    const other = await run(
      pin(async () => textResult("3")),
      { args: { command: "else" } },
      { locks },
    );
    expect(textOf(other.result)).toBe("3");
    // Longer than the second call's time-out, which must not have started.
    await new Promise((resolve) => setTimeout(resolve, 300));
    first.resolve();
    expect(textOf((await one).result)).toBe("1");
    const { result, elapsedMs } = await two;
    expect(textOf(result)).toBe("2");
    // Without its wait.
    expect(elapsedMs).toBeLessThan(250);
    expect(order).toEqual(["first starts", "first ends", "second"]);
  });

  test("a tool that runs alone blocks the others", async () => {
    const locks = new Locks();
    const free = Promise.withResolvers<void>();
    let started = false;
    const alone = run(
      bash(
        async () => {
          await free.promise;
          return textResult("alone");
        },
        { runs: "alone" },
      ),
      {},
      { locks },
    );
    const other = run(
      bash(async () => {
        started = true;
        return textResult("other");
      }),
      {},
      { locks },
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toBe(false);
    free.resolve();
    await Promise.all([alone, other]);
    expect(started).toBe(true);
  });

  test("a cancel ends the wait, and reports that nothing was run", async () => {
    const locks = new Locks();
    void locks.run({ alone: true }, undefined, FOREVER);
    const stop = new AbortController();
    const waiting = run(
      bash(() => expect.fail("was run")),
      { signal: stop.signal },
      { locks },
    );
    stop.abort();
    const { result } = await waiting;
    expect(result.fault).toMatchObject({
      code: "aborted",
      message: expect.stringContaining("Nothing was run"),
    });
  });

  test("a tool that continues after its time-out keeps its lock until it ends", async () => {
    const locks = new Locks();
    const hangs = Promise.withResolvers<never>();
    const { result } = await run(
      pin(() => hangs.promise),
      { timeoutMs: 10 },
      { locks },
    );
    expect(result.fault?.code).toBe("timeout");
    let started = false;
    const next = run(
      pin(async () => {
        started = true;
        return textResult("next");
      }),
      {},
      { locks },
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toBe(false);
    hangs.reject(new Error("killed at last"));
    expect(textOf((await next).result)).toBe("next");
  });

  test("but not forever", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    vi.setTimerTickMode("nextTimerAsync");
    const ofCalls = timersOf(calls);
    try {
      const locks = new Locks();
      const next = await calls.run(true, async () => {
        await run(pin(FOREVER), {}, { locks });
        return await run(
          pin(async () => textResult("next")),
          {},
          { locks },
        );
      });
      expect(textOf(next.result)).toBe("next");
      await until(() => ofCalls.size === 0, { what: "no timer is left" });
    } finally {
      vi.restoreAllMocks();
      vi.useRealTimers();
    }
  });

  test("an exception in the lock key is a failure of the tool", async () => {
    const lock = () => {
      throw new Error("no such path");
    };
    const { result } = await run(bash(FOREVER, { lock }), {}, { locks: new Locks() });
    expect(textOf(result)).toBe("Error: Tool 'bash' failed: no such path");
  });
});

describe("secrets", () => {
  const secrets = [SECRET];

  test("appear in no result, whoever reads it", async () => {
    const said = `the password is ${SECRET}.`;
    const masked = "the password is [secret].";
    const execute = async () => ({
      ...faultResult("io", said, { details: { stderr: said, code: 1 }, cause: new Error(said) }),
      forUser: said,
    });
    const log: RunEvent[] = [];
    const { result } = await run(bash(execute), {}, { secrets, log: (event) => log.push(event) });
    expect(result).toMatchObject({
      content: [{ type: "text", text: masked }],
      forUser: masked,
      fault: { code: "io", message: masked },
      details: { stderr: masked, code: 1 },
    });
    expect(log.at(-1)).toMatchObject({ message: masked, cause: masked });
    expect(JSON.stringify(log)).not.toContain(SECRET);
  });

  test("nor in an exception, nor in partial output, however it is split", async () => {
    const thrown = await run(
      bash(async () => Promise.reject(new Error(SECRET))),
      {},
      { secrets },
    );
    expect(textOf(thrown.result)).toBe("Error: Tool 'bash' failed: [secret]");

    const heard: string[] = [];
    const tool = bash(async (_, { update }) => {
      for (const letter of `a ${SECRET} b`) update(letter);
      return await FOREVER();
    });
    const { result } = await run(tool, { timeoutMs: 10, update: (text) => heard.push(text) }, { secrets });
    expect(heard.join("")).toBe("a [secret] b");
    expect(textOf(result)).toMatch(/\nOutput so far:\na \[secret\] b$/);
  });

  test("nor in a question to the person", async () => {
    const asked: string[] = [];
    const tool = bash(async (_, { ask }) => textResult(await ask({ text: `Use ${SECRET}?` })));
    const ask = async ({ text }: { text: string }) => {
      asked.push(text);
      return "yes";
    };
    await run(tool, { ask }, { secrets });
    expect(asked).toEqual(["Use [secret]?"]);
  });

  test("a secret at the cut of a long text does not survive in part", async () => {
    const text = "x".repeat(50 * 1024 - 5) + SECRET;
    const { result } = await run(
      bash(async () => textResult(text)),
      {},
      { secrets },
    );
    expect(textOf(result)).not.toContain(SECRET.slice(0, 5));
  });
});
