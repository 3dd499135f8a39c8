import { describe, expect, test } from "vitest";
import { agentSource, type CallTo, isTainted, joinSources, type Source, STRANGER, taints } from "./taint.ts";

const pi: CallTo = { agent: "pi" };

describe("S5 a text taints a call", () => {
  test.each<[string, Source, CallTo, boolean]>([
    ["a stranger's, to any agent", STRANGER, pi, true],
    ["a stranger's, to the gateway's own tools", STRANGER, "gateway", true],
    ["an agent's own, to itself", agentSource("pi"), pi, false],
    ["an agent's own, to another agent", agentSource("nas"), pi, true],
    ["an agent's own, to the gateway's own tools", agentSource("pi"), "gateway", true],
    ["one of an agent whose name begins alike", agentSource("pi2"), pi, true],
    ["one of an agent whose name differs in case", agentSource("PI"), pi, true],
    ["one that a newer version knows", "person:anna" as Source, pi, true],
    ["one that a newer version knows, to the gateway", "person:anna" as Source, "gateway", true],
    ["the name without its kind", "pi" as Source, pi, true],
    ["an agent that is called as a stranger is written", agentSource("*"), pi, true],
  ])("%s", (_, source, to, tainted) => {
    expect(taints(source, to)).toBe(tainted);
    expect(isTainted([agentSource("pi"), source], pi)).toBe(taints(source, pi));
  });

  test("without sources nothing taints", () => {
    expect(isTainted([], pi)).toBe(false);
    expect(isTainted([], "gateway")).toBe(false);
  });

  test("an agent with the name `gateway` is not the gateway", () => {
    expect(taints(agentSource("gateway"), "gateway")).toBe(true);
    expect(taints(agentSource("gateway"), { agent: "gateway" })).toBe(false);
  });

  test("more sources never taint less", () => {
    const all: Source[] = [STRANGER, agentSource("pi"), agentSource("nas")];
    const targets: CallTo[] = [pi, { agent: "nas" }, "gateway"];
    for (const to of targets)
      for (const one of all)
        for (const other of all)
          expect(isTainted([one, other], to)).toBe(isTainted([one], to) || isTainted([other], to));
  });

  test("sources are joined, each once", () => {
    expect(joinSources([STRANGER], [agentSource("pi"), STRANGER], [])).toEqual([STRANGER, "agent:pi"]);
  });
});
