import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PolicyRules, Rule } from "../config/policy-rules.ts";
import { allowedWhenTainted, decide, type Ruled, unknownNames, verdictOf } from "./policy.ts";

const tool = (more: Partial<Ruled> = {}): Ruled => ({
  name: "bash",
  effect: "exec",
  permission: "shell",
  ...more,
});
const look = tool({ name: "cpu", effect: "read", permission: "device" });
const rules = (table: Record<string, Rule>): PolicyRules => new Map(Object.entries(table));

describe("decide", () => {
  test("without rules reads run and everything else asks, in plain words (C10)", () => {
    expect(decide(look, rules({}), { tainted: false })).toEqual({ do: "allow" });
    for (const [effect, words] of [
      ["write", "it writes files"],
      ["exec", "it runs programs"],
      ["network", "it uses the network"],
      ["device", "it acts on the device"],
    ] as const) {
      expect(decide(tool({ effect }), rules({}), { tainted: false })).toEqual({
        do: "ask",
        reason: `this device's policy asks before whatever is not a read (${words})`,
      });
    }
  });

  test("a tool's rule has priority over its permission's, and that over the default", () => {
    expect(decide(tool(), rules({ shell: "allow" }), { tainted: false }).do).toBe("allow");
    expect(decide(tool(), rules({ shell: "allow", bash: "deny" }), { tainted: false }).do).toBe("deny");
    expect(decide(tool(), rules({ shell: "deny", bash: "ask" }), { tainted: false }).do).toBe("ask");
    expect(decide(look, rules({ device: "ask" }), { tainted: false })).toEqual({
      do: "ask",
      reason: "this device's policy asks before what needs device",
    });
  });

  test("a denial has the text of the tool-loop design", () => {
    expect(decide(tool(), rules({ shell: "deny" }), { tainted: false })).toEqual({
      do: "deny",
      text: "Error: Permission denied for tool 'bash' (requires: shell).",
      advice: "This agent does not have shell access. Explain to the user.",
    });
  });

  test("with a stranger's text in the conversation, allowed calls ask, except reads", () => {
    const allowed = rules({ bash: "allow", cpu: "allow" });
    expect(decide(tool(), allowed, { tainted: true })).toEqual({
      do: "ask",
      reason: expect.stringContaining("a stranger's text"),
    });
    expect(decide(look, allowed, { tainted: true }).do).toBe("allow");
    expect(decide(tool(), rules({ bash: "deny" }), { tainted: true }).do).toBe("deny");
  });

  describe("D4 the owner's rule after a stranger's text", () => {
    const when = (table: Record<string, Rule>, all?: Rule, named: Record<string, Rule> = {}): PolicyRules =>
      Object.assign(rules(table), { tainted: { all, named: new Map(Object.entries(named)) } });
    const tainted = { tainted: true };
    test.each<[string, PolicyRules, string]>([
      ["nothing said: it asks", rules({ bash: "allow" }), "ask"],
      ["allowed for all", when({ bash: "allow" }, "allow"), "allow"],
      ["refused for all", when({ bash: "allow" }, "deny"), "deny"],
      ["allowed for the tool", when({ bash: "allow" }, undefined, { bash: "allow" }), "allow"],
      ["allowed for its permission", when({ shell: "allow" }, undefined, { shell: "allow" }), "allow"],
      [
        "the tool's own wins over its permission's",
        when({ bash: "allow" }, "allow", { bash: "ask", shell: "deny" }),
        "ask",
      ],
      [
        "a permission's wins over the one for all",
        when({ bash: "allow" }, "allow", { shell: "deny" }),
        "deny",
      ],
      ["it allows nothing that asks anyway", when({}, "allow", { bash: "allow" }), "ask"],
      ["it allows nothing that is denied", when({ bash: "deny" }, "allow"), "deny"],
      ["another tool's does not count", when({ bash: "allow" }, undefined, { write: "allow" }), "ask"],
    ])("%s", (_, table, wanted) => {
      expect(decide(tool(), table, tainted).do).toBe(wanted);
      expect(decide(look, table, tainted).do).toBe("allow");
    });

    test("a refusal says why, a danger still asks, and without a stranger's text nothing changes", () => {
      expect(decide(tool(), when({ bash: "allow" }, "deny"), tainted)).toMatchObject({
        do: "deny",
        text: expect.stringMatching(
          /^Error: Permission denied for tool 'bash': .*stranger's text.*Nothing was run\./,
        ),
      });
      const allowed = when({ bash: "allow" }, "allow");
      expect(decide(tool(), allowed, { ...tainted, danger: "it deletes" }).do).toBe("ask");
      expect(decide(tool(), when({ bash: "allow" }, "deny"), {}).do).toBe("allow");
    });

    test("of several permissions the strictest counts, and names without a tool are found", () => {
      const fetching = tool({ name: "fetch", permissions: ["shell", "network"] });
      const table = when({ fetch: "allow" }, undefined, { shell: "allow", network: "ask" });
      expect(decide(fetching, table, tainted).do).toBe("ask");
      expect(unknownNames(when({}, undefined, { toaster: "allow", shell: "ask" }), ["bash"])).toEqual([
        "toaster",
      ]);
    });

    test("tools that may run without a question are listed by name", () => {
      expect(allowedWhenTainted(rules({ bash: "allow" }))).toEqual([]);
      expect(
        allowedWhenTainted(when({ bash: "allow", write: "allow", git: "ask" }, "allow", { write: "ask" })),
      ).toEqual(["bash"]);
    });
  });

  test("with any rules: taint never allows more, and only a read or a rule is ever allowed", () => {
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

test("rules for missing tools are found", () => {
  expect(unknownNames(rules({ bash: "deny", shell: "ask", bahs: "deny" }), ["bash"])).toEqual(["bahs"]);
});

describe("verdict", () => {
  const person = (text: string, hash: string | undefined = "h") => ({
    by: "person" as const,
    text,
    hash,
    principal: "anna",
  });

  test("only the one word, for exactly the requested call, approves", () => {
    expect(verdictOf("bash", person("approve"), "h", "anna")).toEqual({ approved: true });
    for (const word of ["yes", "Approve", "approve ", "deny", ""]) {
      expect(verdictOf("bash", person(word), "h", "anna")).toEqual({
        approved: false,
        text: "Error: Permission denied for tool 'bash': the user did not approve it. Nothing was run.",
        advice: "Explain to the user; do not try again unless they ask for it.",
      });
    }
  });

  test("another person's no names them", () => {
    expect(verdictOf("bash", person("deny"), "h", "telegram:42")).toMatchObject({
      text: "Error: Permission denied for tool 'bash': anna said no. Nothing was run.",
    });
    expect(verdictOf("bash", person("deny"), "h", "home:next door")).toMatchObject({
      text: expect.stringContaining("the user did not approve it"),
    });
  });

  test.each([
    [person("approve", "other"), "the approval was for something else"],
    [{ ...person("approve"), hash: undefined }, "the approval did not say what it was for"],
    [{ by: "nobody" as const, afterMs: 600_000 }, "nobody approved it within 10 min"],
    [{ by: "end" as const }, "the call ended while it waited for the approval"],
  ])("no: %o", (answered, why) => {
    const verdict = verdictOf("bash", answered, "h", "anna");
    expect(verdict).toMatchObject({ approved: false });
    expect(verdict).toHaveProperty("text", expect.stringContaining(`'bash': ${why}. Nothing was run.`));
  });
});

test("of several permissions the strictest rule counts, and a tool's own rule has priority over all", () => {
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

test("a dangerous call asks even if the tool is allowed, and a rule that denies stays", () => {
  const danger = "it deletes folders with all that is in them";
  expect(decide(tool(), rules({ bash: "allow" }), { danger })).toEqual({ do: "ask", reason: danger });
  expect(decide(tool(), rules({ bash: "deny" }), { danger }).do).toBe("deny");
});
