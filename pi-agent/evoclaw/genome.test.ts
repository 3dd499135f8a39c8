import { describe, expect, test } from "vitest";
import { genome } from "../testing/genome.ts";
import { blocks, characterText, leavesEnabled, readGenome } from "./genome.ts";

describe("reading", () => {
  test("EvoClaw's whole genome is accepted, and unknown fields are kept", () => {
    const whole = {
      identity: { name: "unnamed-agent", persona: "helpful, reliable", voice: "balanced" },
      skills: {
        trading: {
          enabled: true,
          weight: 1,
          strategies: ["FundingArbitrage"],
          params: { threshold: -0.1 },
          fitness: 0.75,
          version: 2,
          dependencies: [],
          eval_count: 0,
          verified: false,
          vfm_score: 0,
        },
      },
      behavior: {
        risk_tolerance: 0.3,
        verbosity: 0.5,
        autonomy: 0.5,
        prompt_style: "balanced",
        tool_preferences: {},
        response_patterns: [],
      },
      constraints: {
        max_loss_usd: 1_000,
        allowed_assets: [],
        blocked_actions: [],
        max_divergence: 0,
        min_vfm_score: 0,
      },
    };
    expect(readGenome(whole)).toEqual({ ok: true, value: whole });
  });

  const { skills: _skills, ...noSkills } = genome();
  test.each([
    [7, /expected object/],
    [noSkills, /^skills: .*Right would be: skills: \{NAME: \{enabled/],
    [
      genome({ identity: { name: "", persona: "", voice: "" } }),
      /^identity\.name: .*Right would be: identity/,
    ],
    [
      genome({ behavior: { risk_tolerance: 0, verbosity: 0, autonomy: 7 } }),
      /^behavior\.autonomy: Too big.*Right would be: behavior: .* from 0 to 1$/,
    ],
    [genome({ constraints: { max_loss_usd: -1 } }), /^constraints\.max_loss_usd: Too small/],
    [
      { ...genome(), constraints: { blocked_actions: "bash" } },
      /^constraints\.blocked_actions: .*e\.g\. \["bash", "device"\]$/,
    ],
    [{ ...genome(), skills: { see: { enabled: "no" } } }, /^skills\.see\.enabled: /],
  ])("%j is refused with the field and what would be right", (value, error) => {
    expect(readGenome(value)).toEqual({ ok: false, error: expect.stringMatching(error) });
  });
});

test("a skill is disabled only by its name", () => {
  const some = genome({ skills: { see: { enabled: false }, hear: { enabled: true } } });
  expect(["see", "hear", "smell", "constructor"].filter((skill) => !leavesEnabled(some, skill))).toEqual([
    "see",
  ]);
  expect(leavesEnabled(undefined, "see")).toBe(true);
});

test("an action is blocked by a tool's name, its call name, or any of its permissions", () => {
  const blocking = (...names: string[]) => genome({ constraints: { blocked_actions: names } });
  const tool = { name: "say", permission: "device", permissions: ["device", "network"] } as const;
  for (const name of ["say", "say@1.0", "device", "network"]) {
    expect(blocks(blocking("cpu", name), tool, "say@1.0"), name).toBe(true);
  }
  expect(blocks(blocking("sa", "shell", "undefined"), tool, "say")).toBe(false);
  expect(blocks(genome(), tool, "say")).toBe(false);
  expect(blocks(undefined, tool, "say")).toBe(false);
  expect(blocks(blocking("cpu"), { name: "disk" }, "disk")).toBe(false);
});

test("behaviour figures become words", () => {
  const text = characterText(
    genome({ behavior: { risk_tolerance: 0.1, verbosity: 0.9, autonomy: 0.5, prompt_style: "socratic." } }),
  );
  expect(text).toBe(
    "Your name is Alex. Your character: calm. Your voice: concise. Your style: socratic. " +
      "Answer in full: the figures and their units, what they mean, and how you found out. (verbosity 0.9) " +
      "Take no risks: where something cannot be undone, say what would happen and ask first. (risk_tolerance 0.1) " +
      "Ask back only when a choice matters. (autonomy 0.5)",
  );
});
