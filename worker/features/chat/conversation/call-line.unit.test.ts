import type { Outcome } from "@edgecall/core/loop/history.ts";
import { de } from "@edgecall/core/phrases/languages/de.ts";
import { PhraseBook } from "@edgecall/core/phrases/phrase-book.ts";
import { expect, test } from "vitest";
import { phrasesOf } from "../../../kernel/phrases.ts";
import { callLine } from "./call-line.ts";

const english = phrasesOf("en");
const german = await new PhraseBook().load("de", async () => de);
const outcome = (more: Partial<Outcome> = {}): Outcome => ({
  status: "success",
  text: "",
  elapsedMs: 17,
  ...more,
});
const edge = (agent_id: string, more: object) => ({ name: "edge_call", args: { agent_id, ...more } });
const FREEZER = { id: "nexus-t-1-74", name: "Freezer", hosted: true } as const;
const LAMP = { id: "desk-lamp", hosted: true } as const;

test("a device is called by its name, and a tool by what it does", () => {
  const watch = { name: "watch", args: { agent_id: FREEZER.id, reading: "Temperature" } };
  expect(callLine({ ...watch, outcome: outcome() }, FREEZER, english)).toBe("✓ Freezer · watch (17 ms)");
  const on = edge(LAMP.id, { action: "set", params: { on: true } });
  expect(callLine(on, LAMP, english)).toBe("⏳ Desk lamp · on");
  expect(callLine(on, LAMP, german)).toBe("⏳ Desk lamp · an");
  const lock = edge(LAMP.id, { action: "lock" });
  expect(callLine({ ...lock, outcome: outcome({ status: "error" }) }, LAMP, english)).toBe(
    "✗ Desk lamp · lock (17 ms)",
  );
});

test("what the device reported is said, with its unit", () => {
  const set = edge(FREEZER.id, { action: "set", params: { temperature: -18 } });
  const reported = [{ value: -18.5, unit: "°C" }] as NonNullable<Outcome["reported"]>;
  expect(callLine({ ...set, outcome: outcome({ reported }) }, FREEZER, english)).toBe(
    "✓ Freezer · −18.5 °C (17 ms)",
  );
});

test("a machine keeps its id; one that is not known is called by it; markup has no effect", () => {
  const read = edge("garden-pi", { action: "disk_report" });
  expect(callLine({ ...read, outcome: outcome() }, { id: "garden-pi" }, english)).toBe(
    "✓ garden-pi · disk report (17 ms)",
  );
  expect(callLine({ ...read, outcome: outcome() }, undefined, english)).toBe(
    "✓ garden-pi · disk report (17 ms)",
  );
  expect(callLine(edge("garden-pi", { query: "how warm?" }), undefined, english)).toBe("⏳ garden-pi");
  const marked = { id: "x", name: "**[a](b)** <@1>", hosted: true } as const;
  expect(callLine(edge("x", { action: "lock" }), marked, english)).toBe("⏳ ab 1 · lock");
});
