import { LANGUAGES } from "@edgecall/core/text/languages.ts";
import { describe, expect, it } from "vitest";
import { demoHome } from "../homes.ts";
import type { Expected } from "../meaning.ts";
import { OWN } from "./all.ts";

const namesOf = (means: Expected): string[] =>
  [means].flat().flatMap((one) => {
    if (typeof one === "string") return [];
    return [
      ...("acts" in one ? one.acts.flatMap(({ to }) => to) : []),
      ...("of" in one ? (one.of ?? []) : []),
    ];
  });

describe.each(LANGUAGES)("our own sentences in %s", (language) => {
  const rows = OWN[language];

  it("are fifty different ones, and a third of them must not act", () => {
    expect(new Set(rows.map(({ text }) => text)).size).toBe(50);
    expect(rows.filter(({ means }) => typeof means === "string").length).toBeGreaterThanOrEqual(16);
  });

  it("mean devices that the demo home has, each with a name of its own", () => {
    const { devices } = demoHome(language);
    const ids = devices.map(({ id }) => id);
    expect(new Set(devices.map(({ name }) => name)).size).toBe(ids.length);
    const named = rows.flatMap(({ means, it: earlier = [] }) => [...namesOf(means), ...earlier]);
    expect(named.filter((name) => !ids.includes(name))).toEqual([]);
  });
});
