import fc from "fast-check";
import { expect, test } from "vitest";
import {
  COOL_DOWN_MS,
  isModelFailure,
  type ModelHealth,
  type NamedModel,
  noteFailure,
  pickModel,
} from "./models.ts";
import { ModelError } from "./retry.ts";

const model = (name: string): NamedModel => ({
  name,
  baseUrl: "https://x.example/v1",
  model: name,
  maxTokens: 1,
  temperature: 0,
});
const MODELS = ["a", "b", "c"].map(model);
const NOW = 1_000_000;

const failing = (health: ModelHealth, name: string, times: number, at = NOW) =>
  Array.from({ length: times }).reduce<ModelHealth>((before) => noteFailure(before, name, at), health);
/** The gateway does this in rows: a success deletes the failures. */
const noteSuccess = (health: ModelHealth, name: string): ModelHealth =>
  Object.fromEntries(Object.entries(health).filter(([other]) => other !== name));
const picked = (health: ModelHealth, wanted?: string, now = NOW) => {
  const result = pickModel(MODELS, health, wanted, now);
  return result.ok ? result.model.name : expect.fail(result.error);
};

test("the first, or the requested one", () => {
  expect(pickModel(MODELS, {}, undefined, NOW)).toEqual({ ok: true, model: MODELS[0], instead: false });
  expect(picked({}, "b")).toBe("b");
});

test("an unknown name lists the known ones", () => {
  expect(pickModel(MODELS, {}, "gpt", NOW)).toEqual({
    ok: false,
    error: "There is no model 'gpt'. Models: a, b, c.",
  });
  expect(pickModel([], {}, undefined, NOW)).toEqual({ ok: false, error: "No model is configured." });
});

test("three failures in a row cool a model down for five minutes, and the next one answers", () => {
  expect(picked(failing({}, "a", 2))).toBe("a");
  const cooling = failing({}, "a", 3);
  expect(pickModel(MODELS, cooling, undefined, NOW)).toEqual({ ok: true, model: MODELS[1], instead: true });
  expect(picked(cooling, undefined, NOW + COOL_DOWN_MS - 1)).toBe("b");
  expect(picked(cooling, undefined, NOW + COOL_DOWN_MS)).toBe("a");
});

test("while the requested model cools down, the first of the others replaces it", () => {
  expect(picked(failing({}, "b", 3), "b")).toBe("a");
  expect(picked(failing(failing({}, "b", 3), "a", 3), "b")).toBe("c");
});

test("a success resets the count; the first failure after cooling starts the cooling again", () => {
  expect(picked(failing(noteSuccess(failing({}, "a", 2), "a"), "a", 2))).toBe("a");
  const later = NOW + COOL_DOWN_MS;
  const again = noteFailure(failing({}, "a", 3), "a", later);
  expect(picked(again, undefined, later)).toBe("b");
  expect(picked(noteSuccess(again, "a"), undefined, later)).toBe("a");
});

test("when all cool down, the one that recovers first", () => {
  const health = failing(failing(failing({}, "a", 3, NOW + 2), "b", 3, NOW + 1), "c", 3, NOW + 3);
  expect(picked(health, "c", NOW + 5)).toBe("b");
});

test("names that every object inherits are normal names", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    const models = [model(name), model("b")];
    expect(pickModel(models, {}, undefined, NOW)).toMatchObject({ model: { name } });
    const health = failing({}, name, 3);
    expect(pickModel(models, health, undefined, NOW)).toMatchObject({ model: { name: "b" } });
  }
});

test("which errors are the model's", () => {
  expect(isModelFailure(new ModelError("now", "broke off"))).toBe(true);
  expect(isModelFailure(new ModelError("never", "no key", { status: 401 }))).toBe(true);
  expect(isModelFailure(new ModelError("never", "too long", { status: 400 }))).toBe(false);
  expect(isModelFailure(new ModelError("cancelled", "stop"))).toBe(false);
});

test("property: a cooling model is called only when all are cooling; the record survives JSON", () => {
  const event = fc.record({
    name: fc.constantFrom("a", "b", "c"),
    ok: fc.boolean(),
    after: fc.nat(COOL_DOWN_MS),
  });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 40 }),
      fc.constantFrom(undefined, "a", "c"),
      (events, wanted) => {
        let now = NOW;
        let health: ModelHealth = {};
        const row = new Map<string, number>();
        const coolUntil = new Map<string, number>();
        for (const { name, ok, after } of events) {
          now += after;
          health = JSON.parse(
            JSON.stringify(ok ? noteSuccess(health, name) : noteFailure(health, name, now)),
          );
          row.set(name, ok ? 0 : (row.get(name) ?? 0) + 1);
          coolUntil.set(name, (row.get(name) ?? 0) >= 3 ? now + COOL_DOWN_MS : 0);
          const chosen = picked(health, wanted, now);
          const usable = MODELS.filter((it) => (coolUntil.get(it.name) ?? 0) <= now).map((it) => it.name);
          if (usable.length > 0) expect(usable).toContain(chosen);
          if (usable.includes(wanted ?? "a")) expect(chosen).toBe(wanted ?? "a");
        }
      },
    ),
  );
});

test("G5 a requested model is replaced only where that is allowed", () => {
  const cooling = failing({}, "b", 3);
  expect(pickModel(MODELS, cooling, "b", NOW, false)).toEqual({ ok: true, model: MODELS[1], instead: false });
  expect(pickModel(MODELS, cooling, "b", NOW, true)).toMatchObject({ model: { name: "a" }, instead: true });
  const first = failing({}, "a", 3);
  expect(pickModel(MODELS, first, undefined, NOW, false)).toMatchObject({
    model: { name: "b" },
    instead: true,
  });
});
