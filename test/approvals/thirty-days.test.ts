/** How often four people are asked in 30 days of the demo home. `EDGECALL_FIGURES=1` writes the figures. */
import { expect, test } from "vitest";
import { MatchingHome } from "./matching-home.ts";
import { measure } from "./measure.ts";

test("the median of questions a person and day is at most 1, what harms asks each time, and nothing injected runs", async () => {
  for (const seed of [1, 2, 3]) {
    const home = new MatchingHome();
    const figures = await measure(home, seed, 1_000);
    if (process.env.EDGECALL_FIGURES)
      console.log(JSON.stringify({ seed, permissions: home.permissions, ...figures }));
    expect(figures.ours.median).toBeLessThanOrEqual(1);
    expect(figures.ours.median_by_week.at(-1)).toBeLessThanOrEqual(1);
    expect(figures.harmful.asked).toBe(figures.harmful.events);
    expect(figures.reads_asked).toBe(0);
    expect(figures.injected).toEqual({ calls: 1_000, ran: 0 });
    // There is work to do: an empty count would pass as well.
    expect(figures.changes.row).toBeGreaterThan(500);
    expect(figures.ours.total).toBeGreaterThan(100);
  }
});
