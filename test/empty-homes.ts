/** Test files of `worker` share a workerd: each of them begins without any home, and leaves the clock as it found it. */
import { reset } from "cloudflare:test";
import { afterAll, beforeAll, expect, vi } from "vitest";

beforeAll(reset);
afterAll(() => expect(vi.isFakeTimers(), "a test left a clock that it had set").toBe(false));
