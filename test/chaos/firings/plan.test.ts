/** The plan of a run of firings: reproducible, and below the bounds of a home. */
import { expect, test } from "vitest";
import { FIRING_FAULT_NAMES } from "./fault-names.ts";
import { planSeasons } from "./plan.ts";

const seasons = planSeasons(61, 1_000, FIRING_FAULT_NAMES);
const volleys = seasons.flatMap((season) => season.volleys);
const firings = volleys.flatMap((volley) => volley.firings);

test("the same seed gives the same plan, with each rule and volley named once", () => {
  expect(planSeasons(61, 1_000, FIRING_FAULT_NAMES)).toEqual(seasons);
  expect(planSeasons(62, 1_000, FIRING_FAULT_NAMES)).not.toEqual(seasons);
  expect(firings).toHaveLength(1_000);
  expect(new Set(firings.map(({ name }) => name)).size).toBe(1_000);
  expect(volleys.map(({ k }) => k)).toEqual(volleys.map((_, k) => k));
});

test("every fault comes, and about as often as its firings allow", () => {
  const times = FIRING_FAULT_NAMES.map((name) => volleys.filter(({ fault }) => fault.name === name).length);
  expect(Math.min(...times)).toBeGreaterThan(10);
});

test("a season stays below what a home and its agent may say within an hour", () => {
  for (const season of seasons) {
    const all = season.volleys.flatMap((volley) => volley.firings);
    const ends = all.filter(({ recovers }) => recovers).length;
    expect(all.length + ends).toBeLessThan(60);
    const plain = all.filter(({ told, kind }) => told !== "api" || kind === "reminder").length;
    expect(plain).toBeLessThan(20);
    expect(all.filter(({ kind }) => kind === "agent").length).toBeLessThan(30);
  }
});

test("a fault waits for a step that its first firing has", () => {
  for (const { firings, fault } of volleys) {
    const [lead] = firings;
    if (fault.moment === "sent" || fault.moment === "answered") expect(lead?.told).not.toBe("api");
    if (fault.moment === "on disk") expect(["hosted", "agent"]).toContain(lead?.kind);
    expect(fault.moment === "due").toBe(lead?.kind === "reminder");
  }
});
