/**
 * The same templates here and in Home Assistant. `test/cases/home_assistant_templates.json` has what Home Assistant renders, so
 * that this runs without it; the last part asks Home Assistant itself.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import table from "../../../test/cases/home_assistant_templates.json";
import { HOME_ASSISTANT } from "../../../test/needs.ts";
import { compileTemplate, jsonVariable, renderTemplate } from "./template.ts";

/** With a payload it is the template of a state, else the template of a command. */
type Input = { template: string } & ({ payload: string } | { variables: Record<string, unknown> });
type Case = Input & { from: string } & ({ text: string } | { problem: true });

const CASES = table.cases as Case[];

/** Publishers whose templates were taken from their messages or their source; the other names say what a template is for. */
const PUBLISHERS = [
  "zigbee2mqtt",
  "sandcastle-sim",
  "rtl_433",
  "lnxlink",
  "zwave-js-ui",
  "OpenMQTTGateway",
  "Theengs gateway",
];

/** @returns undefined: a problem */
function rendered(input: Input): string | undefined {
  const made = compileTemplate(input.template);
  if (!made.ok) return undefined;
  const variables =
    "payload" in input ? { value: input.payload, value_json: jsonVariable(input.payload) } : input.variables;
  const result = renderTemplate(made.template, variables, { now: new Date(table.now), zone: table.zone });
  return result.ok ? result.text : undefined;
}

function isEqualHere(one: Case): boolean {
  return rendered(one) === ("text" in one ? one.text : undefined);
}

test("V8: each template renders what Home Assistant renders", () => {
  const unlike = CASES.filter((one) => !isEqualHere(one));
  expect(unlike.map((one) => ({ ...one, here: rendered(one) }))).toEqual([]);
});

test("78 are templates that publishers really send, and there are thirty more", () => {
  const sent = new Set(CASES.filter(({ from }) => PUBLISHERS.includes(from)).map(({ template }) => template));
  expect(sent.size).toBeGreaterThanOrEqual(78);
  const all = new Set(CASES.map(({ template }) => template));
  expect(all.size - sent.size).toBeGreaterThanOrEqual(30);
});

const PAYLOAD =
  '{"a":20.0,"b":"on","c":[1,2.5,"x"],"d":{"x":null,"y":{"z":1}},"l":[{"a":1},{"a":2}],"t":true,"n":null}';
/** @param lines parts of templates with a bar between them */
function partsOf(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(" ¦ "));
}

const VALUES = partsOf(
  "0 ¦ 1 ¦ -3 ¦ 2.5 ¦ 0.1 ¦ 100 ¦ 1e3 ¦ 1.0 ¦ true ¦ false ¦ none ¦ missing ¦ value ¦ '' ¦ 'a'",
  `'12' ¦ '7.5' ¦ 'on' ¦ 'ab cd' ¦ "it's" ¦ 'é😀x' ¦ '  pad ' ¦ [] ¦ [1, 2, 3] ¦ ['b', 'A'] ¦ {}`,
  "{'k': 1, none: 'v'} ¦ (1, 'x') ¦ value_json ¦ value_json.a ¦ value_json['c'] ¦ value_json.l",
  "value_json.n",
);
const FILTERS = partsOf(
  "float ¦ float(0) ¦ int ¦ int(default=5) ¦ int(0, 16) ¦ round ¦ round(1) ¦ round(0, 'ceil')",
  "round(1, default=0) ¦ lower ¦ upper ¦ title ¦ trim ¦ capitalize ¦ default('z')",
  "default(0, true) ¦ string ¦ to_json ¦ from_json(1) ¦ replace('a', 'b') ¦ replace('1', '')",
  "abs ¦ is_defined ¦ iif('y', 'n') ¦ length ¦ join(',') ¦ first ¦ last ¦ min ¦ max ¦ bool",
  "bool(none) ¦ list ¦ reverse | list ¦ sum ¦ map('string') | list ¦ map(attribute='a') | list",
  "is_number ¦ timestamp_custom('%Y-%m-%d %H:%M') ¦ timestamp_utc ¦ timestamp_local",
  "string | truncate(4, true, '')",
  "multiply(2) ¦ add(1) ¦ sort ¦ unique | list ¦ slugify ¦ typeof ¦ average ¦ median ¦ string | wordcount",
  "string | regex_replace('[a-z]', 'X') ¦ string | regex_findall('[0-9]+') ¦ regex_search('a|1')",
  "batch(2) | list ¦ slice(2) | list ¦ flatten ¦ clamp(0, 5) ¦ sqrt(-1) ¦ urlencode ¦ dictsort ¦ items | list",
  "select('string') | list ¦ reject('number') | list ¦ base64_encode ¦ as_timestamp('z') ¦ string | center(9)",
);
const TESTS = partsOf(
  "defined ¦ undefined ¦ not none ¦ number ¦ string ¦ boolean ¦ true ¦ integer ¦ float",
  "mapping ¦ list ¦ is_number ¦ in [1, 'a'] ¦ eq 1 ¦ ne 'a' ¦ gt 1 ¦ equalto '12'",
);
const ENDS = partsOf(
  ".get('a') ¦ .get('zz', 3) ¦ .split() ¦ .split(',') ¦ .replace('a', 'x') ¦ .lower()",
  ".strip() ¦ .title() ¦ .startswith('a') ¦ .items() | list ¦ .keys() | list ¦ .values() | list",
  ".find('b') ¦ .isdigit() ¦ .a ¦ .x ¦ ['a'] ¦ [0] ¦ [-1] ¦ [none] ¦ [2]",
);
const OPERATORS = partsOf(
  "+ ¦ - ¦ * ¦ / ¦ // ¦ % ¦ ** ¦ ~ ¦ == ¦ != ¦ < ¦ <= ¦ > ¦ >= ¦ in ¦ not in ¦ and ¦ or",
);

const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const any = tie("expression");
  const between = fc.constantFrom(...OPERATORS);
  return {
    expression: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      { weight: 4, arbitrary: fc.constantFrom(...VALUES) },
      { weight: 4, arbitrary: fc.tuple(any, fc.constantFrom(...FILTERS)).map(([a, b]) => `(${a}) | ${b}`) },
      { weight: 2, arbitrary: fc.tuple(any, fc.constantFrom(...TESTS)).map(([a, b]) => `(${a}) is ${b}`) },
      { weight: 3, arbitrary: fc.tuple(any, fc.constantFrom(...ENDS)).map(([a, b]) => `(${a})${b}`) },
      { weight: 3, arbitrary: fc.tuple(any, between, any).map(([a, b, c]) => `(${a}) ${b} (${c})`) },
      { weight: 2, arbitrary: fc.tuple(any, between, any, between, any).map((parts) => parts.join(" ")) },
      { weight: 1, arbitrary: fc.tuple(any, any, any).map(([a, b, c]) => `${a} if ${b} else ${c}`) },
      { weight: 1, arbitrary: fc.tuple(any, any).map(([a, b]) => `[${a}, ${b}]`) },
      { weight: 1, arbitrary: fc.tuple(any, any).map(([a, b]) => `max(${a}, ${b})`) },
      { weight: 1, arbitrary: fc.tuple(fc.constantFrom("not ", "-", "+"), any).map(([a, b]) => a + b) },
    ),
  };
});
const statement = fc.oneof(
  { weight: 6, arbitrary: expression.map((a) => `{{ ${a} }}`) },
  fc.tuple(expression, expression).map(([a, b]) => `{% set x = ${a} %}{{ x }} {{ ${b} }}`),
  fc.tuple(expression, expression).map(([a, b]) => `{% if ${a} -%} {{ ${b} }} {%- else %} no{% endif %}`),
  fc
    .tuple(expression, expression)
    .map(([a, b]) => `{% for x in ${a} %}{{ loop.index }}{{ x }}{{ ${b} }}{% else %}none{% endfor %}`),
);

describe("with Home Assistant", { tags: ["needs/home-assistant"] }, () => {
  const GENERATED = fc
    .sample(statement, { seed: 16, numRuns: 1_000 })
    .map((template) => ({ template, payload: PAYLOAD }));
  /** For each case, then for each generated template. */
  let theirs: Array<{ text: string } | { problem: string }>;

  beforeAll(() => {
    const program = fileURLToPath(
      new URL("../../../test/clients/home_assistant_templates.py", import.meta.url),
    );
    const { now, zone } = table;
    const input = JSON.stringify({ now, zone, cases: [...CASES, ...GENERATED] });
    const { status, stdout, stderr } = spawnSync(HOME_ASSISTANT, [program], {
      input,
      encoding: "utf8",
      maxBuffer: 1e9,
    });
    expect(status, stderr).toBe(0);
    theirs = JSON.parse(stdout);
  }, 120_000);

  test("it renders what the table says", () => {
    const told = CASES.map((one) => ("text" in one ? one.text : undefined));
    const texts = theirs.slice(0, CASES.length).map((one) => ("text" in one ? one.text : undefined));
    expect(texts).toEqual(told);
  });

  test("of generated templates none has another text here, and few a problem only here or only there", () => {
    const pairs = GENERATED.map((one, at) => {
      const other = theirs[CASES.length + at];
      return { ...one, here: rendered(one), there: other && "text" in other ? other.text : undefined };
    });
    const both = pairs.filter(({ here, there }) => here !== undefined && there !== undefined);
    expect(both.length).toBeGreaterThan(GENERATED.length / 4);
    expect(both.filter(({ here, there }) => here !== there)).toEqual([]);
    const oneSided = pairs.filter(({ here, there }) => (here === undefined) !== (there === undefined));
    expect(oneSided.length).toBeLessThan(GENERATED.length / 50);
  });
});
