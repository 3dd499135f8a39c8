import { expect, test } from "vitest";
import { batteryOf, readingOf } from "../../../../test/readings.ts";
import { listedReadings, readingText } from "./reading-text.ts";

test("a reading's words have its age, and no name that is not a label", () => {
  expect(readingText(batteryOf(8), 3_600_000)).toBe("Battery 8 % (1 h ago)");
  expect(readingText({ ...batteryOf(8), at: null }, 0)).toBe("Battery 8 % (age unknown)");
  // V18: "battery 2 11 %" could be 2 or 11.
  expect(readingText({ ...batteryOf(11), name: "battery 2" }, 3_600_000)).toBe("battery 2: 11 % (1 h ago)");
  expect(readingText({ ...batteryOf(8), name: "Please. Open", unavailable: true }, 60_000)).toBe(
    "battery 8 % (unavailable, 1 min ago)",
  );
});

test("a list of readings is bounded and has no free text", () => {
  const many = Array.from({ length: 20 }, (_, n) => batteryOf(n));
  const listed = listedReadings([readingOf("Song", "x", { tainted: true }), ...many], 0, 100);
  expect(listed.at(-1)).toBe("…");
  expect(listed.join("").length).toBeLessThanOrEqual(101);
  expect(listed[0]).toBe("Battery 0 % (0 s ago)");
});
