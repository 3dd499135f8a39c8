/**
 * All names of Jinja's and Home Assistant's references, in `test/cases/home_assistant_names.json`: each works as there, or is
 * refused by name. The last part asks Home Assistant itself.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import table from "../../../test/cases/home_assistant_names.json";
import { HOME_ASSISTANT } from "../../../test/needs.ts";
import { costOf } from "../../testkit/processor-time.ts";
import { compileTemplate, jsonVariable, renderTemplate } from "./template.ts";

const { now, zone, payload, works } = table;
const REFUSED = Object.entries(table.refused).flatMap(([kind, names]) =>
  names.map((name) => [kind, name] as const),
);

function rendered(template: string, value = payload): { text: string } | { problem: string } {
  const made = compileTemplate(template);
  if (!made.ok) return { problem: made.problem };
  const variables = { value, value_json: jsonVariable(value) };
  const result = renderTemplate(made.template, variables, { now: new Date(now), zone });
  return result.ok ? { text: result.text } : { problem: result.problem };
}

/** A template that uses a name. */
function using(kind: string, name: string): string {
  if (kind === "filter") return `{{ value | ${name} }}`;
  if (kind === "test") return `{{ value is ${name} }}`;
  if (kind === "function") return `{{ ${name}() }}`;
  return kind === "method" ? `{{ value.${name}() }}` : `{% ${name} %}`;
}

test.each(works.map((one) => [`${one.kind} ${one.name}`, one] as const))(
  "V8: %s works",
  (_, { template, text }) => {
    expect(rendered(template)).toEqual({ text });
  },
);

test.each(REFUSED)("V8: the %s %s is refused by its name, with the reason", (kind, name) => {
  const words = `The template has the ${kind} "${name}", which is not offered: `;
  expect(rendered(using(kind, name))).toEqual({ problem: expect.stringContaining(words) });
});

describe("with Home Assistant", { tags: ["needs/home-assistant"] }, () => {
  const ask = (program: string, input = "") => {
    const path = fileURLToPath(new URL(`../../../test/clients/${program}`, import.meta.url));
    const { status, stdout, stderr } = spawnSync(HOME_ASSISTANT, [path], {
      input,
      encoding: "utf8",
      maxBuffer: 1e9,
    });
    expect(status, stderr).toBe(0);
    return JSON.parse(stdout);
  };

  test("V8: the table has its names, and no others", () => {
    const names: Record<string, string[]> = ask("home_assistant_names.py");
    for (const [kind, theirs] of Object.entries(names)) {
      const working = new Set(works.filter((one) => one.kind === kind).map(({ name }) => name));
      const refused = REFUSED.filter(([one]) => one === kind).map(([, name]) => name);
      expect(refused.filter((name) => working.has(name))).toEqual([]);
      expect([...working, ...refused].sort(), kind).toEqual([...theirs].sort());
    }
  }, 120_000);

  test("V8: it renders what the table says", () => {
    const cases = works.map(({ template }) => ({ template, payload }));
    expect(ask("home_assistant_templates.py", JSON.stringify({ now, zone, cases }))).toEqual(
      works.map(({ text }) => ({ text })),
    );
  }, 120_000);
});

/** What a publisher can give a name to work on, at its worst. */
const VALUES = [
  "value",
  "value.split('a')",
  "range(3000) | list",
  "[value] * 15",
  "('[' ~ '1,' * 16000 ~ '1]') | from_json",
  "{'a': value}",
];
const CALLS: Record<string, readonly string[]> = {
  filter: ["NAME", "NAME(value)", "NAME(9999)", "NAME('[^q]*q|.', 'x')"],
  test: ["NAME", "NAME(value)", "NAME('[^q]*q|.')"],
  method: ["NAME()", "NAME(value)", "NAME('a', value)", "NAME(60000)"],
  function: ["NAME(X)", "NAME(X, value)"],
};

const NAMES = new Map(
  works.filter(({ kind }) => kind in CALLS).map(({ kind, name }) => [`${kind} ${name}`, { kind, name }]),
);

test.each([...NAMES])(
  "S22: whatever is given to the %s, and as often as may be, the template ends soon",
  (_, { kind, name }) => {
    const value = "ab 1.5 ".repeat(2_300);
    const slow: string[] = [];
    for (const given of VALUES)
      for (const call of CALLS[kind] ?? []) {
        const made = call.replace("NAME", name).replaceAll("X", "x");
        const used = { filter: `x | ${made}`, test: `x is ${made}`, method: `x.${made}` }[kind] ?? made;
        const template = `{% set x = ${given} %}{% for i in range(4000) %}{% set y = ${used} %}{% endfor %}`;
        let ms = costOf(() => rendered(template, value));
        // The machine, or a first compilation, may have taken it.
        for (let tries = 0; tries < 3 && ms > LIMIT_MS; tries += 1)
          ms = Math.min(
            ms,
            costOf(() => rendered(template, value)),
          );
        if (ms > LIMIT_MS) slow.push(`${used} of ${given}: ${ms.toFixed(0)} ms`);
      }
    expect(slow).toEqual([]);
  },
  60_000,
);

/** 10,000 steps take some 10 ms, and 100,000 of a message ten times as much. */
const LIMIT_MS = 80;
