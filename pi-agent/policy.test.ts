import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decide, type PolicyRules, type Rule, type Ruled, unknownNames, verdictOf } from "./policy.ts";

const tool = (more: Partial<Ruled> = {}): Ruled => ({
  name: "bash",
  effect: "exec",
  permission: "shell",
  ...more,
});
const look = tool({ name: "cpu", effect: "read", permission: "device" });
const rules = (table: Record<string, Rule>): PolicyRules => new Map(Object.entries(table));

describe("decide", () => {
  test("without rules reads run and everything else asks", () => {
    expect(decide(look, rules({}), { tainted: false })).toEqual({ do: "allow" });
    for (const effect of ["write", "exec", "network", "device"] as const) {
      expect(decide(tool({ effect }), rules({}), { tainted: false })).toEqual({
        do: "ask",
        reason: `this device's policy asks before whatever is not a read (effect ${effect})`,
      });
    }
  });

  test("a tool's rule wins over its permission's, and that over the default", () => {
    expect(decide(tool(), rules({ shell: "allow" }), { tainted: false }).do).toBe("allow");
    expect(decide(tool(), rules({ shell: "allow", bash: "deny" }), { tainted: false }).do).toBe("deny");
    expect(decide(tool(), rules({ shell: "deny", bash: "ask" }), { tainted: false }).do).toBe("ask");
    expect(decide(look, rules({ device: "ask" }), { tainted: false })).toEqual({
      do: "ask",
      reason: "this device's policy asks before what needs device",
    });
  });

  test("a denial has the words of the tool-loop design", () => {
    expect(decide(tool(), rules({ shell: "deny" }), { tainted: false })).toEqual({
      do: "deny",
      text: "Error: Permission denied for tool 'bash' (requires: shell).\nThis agent does not have shell access. Explain to the user.",
    });
  });

  test("a stranger's text in the conversation: what was allowed asks, but for reads", () => {
    const allowed = rules({ bash: "allow", cpu: "allow" });
    expect(decide(tool(), allowed, { tainted: true })).toEqual({
      do: "ask",
      reason: expect.stringContaining("a stranger's text"),
    });
    expect(decide(look, allowed, { tainted: true }).do).toBe("allow");
    expect(decide(tool(), rules({ bash: "deny" }), { tainted: true }).do).toBe("deny");
  });

  test("whatever the rules: taint never allows more, and nothing but a read or a rule is ever allowed", () => {
    const rule = fc.constantFrom<Rule>("allow", "ask", "deny");
    const order = { deny: 0, ask: 1, allow: 2 };
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom("bash", "shell", "cpu", "device", "x"), rule),
        fc.constantFrom("read", "write", "exec", "network", "device"),
        (table, effect) => {
          const it = tool({ effect });
          const clean = decide(it, rules(table), { tainted: false }).do;
          const tainted = decide(it, rules(table), { tainted: true }).do;
          expect(order[tainted]).toBeLessThanOrEqual(order[clean]);
          if (effect !== "read") {
            expect(tainted).not.toBe("allow");
            if (clean === "allow") expect(table.bash ?? table.shell).toBe("allow");
          }
        },
      ),
    );
  });
});

test("rules for what is not there are found", () => {
  expect(unknownNames(rules({ bash: "deny", shell: "ask", bahs: "deny" }), ["bash"])).toEqual(["bahs"]);
});

describe("verdict", () => {
  const person = (text: string, hash: string | undefined = "h") => ({
    by: "person" as const,
    text,
    hash,
    principal: "anna",
  });

  test("only the one word, for exactly what was asked, approves", () => {
    expect(verdictOf("bash", person("approve"), "h")).toEqual({ approved: true });
    for (const word of ["yes", "Approve", "approve ", "deny", ""]) {
      expect(verdictOf("bash", person(word), "h")).toEqual({
        approved: false,
        text: "Error: Permission denied for tool 'bash': the user did not approve it. Nothing was run.\nExplain to the user; do not try again unless they ask for it.",
      });
    }
  });

  test.each([
    [person("approve", "other"), "the approval was for something else"],
    [{ ...person("approve"), hash: undefined }, "the approval did not say what it was for"],
    [{ by: "nobody" as const, afterMs: 600_000 }, "nobody approved it within 10 min"],
    [{ by: "end" as const }, "the call ended while it waited for the approval"],
  ])("no: %o", (answered, why) => {
    const verdict = verdictOf("bash", answered, "h");
    expect(verdict).toMatchObject({ approved: false });
    expect(verdict).toHaveProperty("text", expect.stringContaining(`'bash': ${why}. Nothing was run.`));
  });
});

test("of several permissions the strictest rule counts, and a tool's own rule wins over all", () => {
  const fetching = {
    name: "fetch",
    effect: "exec",
    permission: "shell",
    permissions: ["shell", "network"],
  } as const;
  expect(decide(fetching, rules({ shell: "allow", network: "deny" }), { tainted: false }).do).toBe("deny");
  expect(decide(fetching, rules({ shell: "allow", network: "ask" }), { tainted: false }).do).toBe("ask");
  expect(decide(fetching, rules({ shell: "allow" }), { tainted: false }).do).toBe("allow");
  expect(decide(fetching, rules({ fetch: "allow", network: "deny" }), { tainted: false }).do).toBe("allow");
});

test("a dangerous call asks, whoever is allowed the tool, and a rule that denies stays", () => {
  const danger = "it deletes folders with all that is in them";
  expect(decide(tool(), rules({ bash: "allow" }), { danger })).toEqual({ do: "ask", reason: danger });
  expect(decide(tool(), rules({ bash: "deny" }), { danger }).do).toBe("deny");
});
