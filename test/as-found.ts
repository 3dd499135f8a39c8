/** Test files of a project share a process: each of them leaves environment, working folder, clock and `fetch` as it found them. */
import { afterAll, expect, vi } from "vitest";

const found = () => ({ env: { ...process.env }, folder: process.cwd(), fetch });
const before = found();
afterAll(() => {
  expect(vi.isFakeTimers(), "a test left the clock that it had set").toBe(false);
  expect(found(), "a test left something changed that the next file uses").toEqual(before);
});
