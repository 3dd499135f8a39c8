/** Text of any role can be read on any ground, in both themes, and no style has a colour that is not a role. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const FOLDER = new URL("./", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, FOLDER), "utf8");
const THEMES = ["light", "dark"] as const;

/** The roles that are one colour in each theme. */
const roles = new Map(
  [...read("tokens.css").matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }],
  ),
);

const GROUNDS = ["ground", "surface", "sunken", "fill", "raised", "tint", "wait-tint", "bad-tint"];
const TEXTS = ["ink", "quiet", "accent", "on-tint", "wait", "bad"];
/** Each stands on its own ground alone. */
const ON_FULL = { "on-accent": "accent", "on-bad": "bad" };
/** WCAG 2.2 asks for 4.5 (1.4.3); a person with little light in the room needs more. */
const TEXT_MIN = 5.5;
/** WCAG 2.2, 1.4.11: the edge by which a control is known. */
const EDGE_MIN = 3;

type Pair = { front: string; back: string; min: number };
const PAIRS: Pair[] = [
  ...TEXTS.flatMap((front) => GROUNDS.map((back) => ({ front, back, min: TEXT_MIN }))),
  ...Object.entries(ON_FULL).map(([front, back]) => ({ front, back, min: TEXT_MIN })),
  ...GROUNDS.map((back) => ({ front: "edge", back, min: EDGE_MIN })),
];

/** Relative luminance of a colour as #rrggbb, 0 to 1 (WCAG 2.2). */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe("the colours of the console", () => {
  test("the contrast of known pairs", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
  });

  test.each(THEMES)("every text on every ground, and every edge: %s", (theme) => {
    const low = PAIRS.map(({ front, back, min }) => {
      const [one, other] = [roles.get(front)?.[theme], roles.get(back)?.[theme]];
      const found = one && other ? contrast(one, other) : 0;
      return { pair: `${front} on ${back}`, found, min };
    }).filter(({ found, min }) => found < min);
    expect(low).toEqual([]);
  });

  test("each role is in a pair, or is no text and no edge", () => {
    const inPairs = new Set(PAIRS.flatMap(({ front, back }) => [front, back]));
    // A hair only divides, and what it divides is known without it.
    expect([...roles.keys()].filter((name) => !inPairs.has(name))).toEqual(["hair"]);
  });

  test("styles colour text and grounds by these roles", () => {
    const texts = [...TEXTS, ...Object.keys(ON_FULL)];
    // The last ones are marks without text: a knob, a placeholder, a dot, and what lies behind a dialog.
    const grounds = [...GROUNDS, ...Object.values(ON_FULL), "edge", "hair", "on-accent", "wait", "scrim"];
    const plain = ["inherit", "none", "transparent", "currentColor", "Highlight"];
    const others = readdirSync(FOLDER)
      .filter((name) => name.endsWith(".css") && name !== "tokens.css")
      .flatMap((name) =>
        [...read(name).matchAll(/(?<![\w-])(color|background(?:-color)?): ([^;]+);/g)]
          .filter(([, property, value = ""]) => {
            const role = /var\(--([\w-]+)/.exec(value)?.[1];
            return role === undefined
              ? !plain.includes(value)
              : !(property === "color" ? texts : grounds).includes(role);
          })
          .map(([rule]) => `${name}: ${rule}`),
      );
    expect(others).toEqual([]);
  });
});
