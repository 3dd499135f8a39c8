import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileTemplate, jsonVariable, renderTemplate } from "./template.ts";

function render(source: string, variables: Record<string, unknown> = {}): string {
  const made = compileTemplate(source);
  const result = made.ok ? renderTemplate(made.template, variables) : made;
  return result.ok ? result.text : `problem: ${result.problem}`;
}

function problemOf(source: string): string | undefined {
  const made = compileTemplate(source);
  return made.ok ? undefined : made.problem;
}

describe("variables", () => {
  test("a whole number is an int, unless its JSON has a point", () => {
    const variables = { whole: 20, half: 20.5, big: 2n ** 64n, json: jsonVariable("20.0"), far: 1e300 };
    expect(render("{{ whole }} {{ half }} {{ big }} {{ json }} {{ far }}", variables)).toBe(
      "20 20.5 18446744073709551616 20.0 1e+300",
    );
  });

  test("lists and objects keep their order and print as Python's", () => {
    expect(render("{{ a }}", { a: { z: [true, null, "it's"], a: {} } })).toBe(
      `{'z': [True, None, "it's"], 'a': {}}`,
    );
    expect(render("{{ a.isoformat() }}", { a: new Date(0) })).toBe("1970-01-01T00:00:00+00:00");
  });

  test("one that is undefined is left out", () => {
    expect(render("{{ value_json is defined }}", { value_json: jsonVariable("not JSON") })).toBe("False");
  });

  test("a payload with too many levels is no JSON, and an object with too many is a problem", () => {
    expect(jsonVariable(`${"[".repeat(101)}${"]".repeat(101)}`)).toBeUndefined();
    let deep: unknown = 1;
    for (let level = 0; level < 200; level += 1) deep = [deep];
    expect(render("{{ deep }}", { deep })).toBe("problem: The template has more than 100 levels.");
    expect(render("{{ f }}", { f: () => 1 })).toBe(
      "problem: The template gets a variable of the type function.",
    );
  });

  test("names of JavaScript's objects are keys like any other", () => {
    const value_json = jsonVariable('{"__proto__":{"a":1},"constructor":2}');
    const source =
      "{{ value_json.__proto__.a }}{{ value_json.constructor }}{{ value_json.toString is defined }}";
    expect(render(source, { value_json })).toBe("12False");
    const nothing = "{{ a.constructor is defined or a.__proto__ is defined or a['__proto__'] is defined }}";
    for (const a of ["text", 5, [1], { b: 1 }, true, null, new Date()])
      expect(render(nothing, { a })).toBe("False");
    expect(({} as Record<string, unknown>).a).toBeUndefined();
  });

  test("the time zone is that of the options", () => {
    const made = compileTemplate("{{ 0 | timestamp_local }} {{ now() }}");
    if (!made.ok) throw new Error(made.problem);
    const now = new Date("2026-07-01T12:00:00Z");
    expect(renderTemplate(made.template, {}, { now, zone: "America/St_Johns" })).toEqual({
      ok: true,
      text: "1969-12-31T20:30:00-03:30 2026-07-01 09:30:00-02:30",
    });
  });
});

describe("problems are told in words", () => {
  test.each([
    ["{{ a | teapot('x') }}", 'The template has the filter "teapot", which is not known here.'],
    ["{{ a is teapot }}", 'The template has the test "teapot", which is not known here.'],
    [
      "{{ states('sensor.x') }}",
      'The template has the function "states", which is not offered: it needs the state of Home Assistant.',
    ],
    ["{{ a.teapot(1) }}", 'The template has the method "teapot", which is not known here.'],
    ["{% teapot %}", 'The template has the tag "teapot", which is not known here.'],
    ["{% break %}", 'The template has the tag "break", which is not known here.'],
    ["{% raw %}{{ a }}", "The template has {% raw %} without {% endraw %}."],
    ["{% macro a() %}", "The template ends where {% endmacro %} would be right."],
    ["{{ a", "The template has the end in a tag, where }} or an expression would be right."],
    [
      "{{ a ? 1 : 2 }}",
      'The template has the character "?" in a tag, where }} or an expression would be right.',
    ],
    ["{{ 'a }}", `The template has the character "'" in a tag, where }} or an expression would be right.`],
    ["{% if a %}b", "The template ends where {% elif %} or {% else %} or {% endif %} would be right."],
    ["{% for 1 in a %}{% endfor %}", 'The template has "1" where a name would be right.'],
    ["{{ (1 }}", "The template has a } that closes nothing."],
    ["{{ 1] }}", "The template has a ] that closes nothing."],
    ["{{ [1 2] }}", 'The template has "2" where "," would be right.'],
    ["{{ 1 + }}", 'The template has "}}" where a value would be right.'],
    ["{% set true = 1 %}", 'The template assigns to "true".'],
    ["{# a", "The template has a comment without #}."],
  ])("%s", (source, problem) => expect(problemOf(source)).toBe(problem));

  test.each([
    ["{{ a.b.c }}", 'The template needs the member "b", which is not there.'],
    ["{{ b.c }}", 'The template needs the variable "b", which is not there.'],
    ["{{ b | float(0) }}", 'The template needs the variable "b", which is not there.'],
    ["{{ 'x' | float }}", 'The template has "x" where a number would be right.'],
    ["{{ [] | int }}", "The template has a list where a number would be right."],
    ["{{ 'x' + 1 }}", "The template has a text + an int."],
    ["{{ 'x' < 1 }}", "The template compares a text with an int."],
    ["{{ 1 // 0 }}", "The template divides by zero."],
    ["{{ {[]: 1} }}", "The template has a list as a key."],
    ["{{ 'x' | abs }}", "The template has a text after a sign."],
    ["{{ 1 | round(400) }}", "The template has an int where a number would be right."],
    ["{{ now() | to_json }}", "The template writes a time as JSON."],
    [
      "{{ 'a' | regex_match('(?=a)') }}",
      "The template has a regular expression that has a lookahead or lookbehind, which is not known here.",
    ],
    [
      "{{ 'a' | regex_match('(') }}",
      "The template has a regular expression that is none: missing closing ): `(`.",
    ],
    [
      "{{ 'a' | regex_match('((a{1,100}){1,100}){1,100}') }}",
      "The template has a regular expression that repeats too much: it would take too long.",
    ],
    ["{{ 1 | round(2, sign=1) }}", 'The template gives the parameter "sign", which is not known here.'],
    ["{{ 1 | replace }}", 'The template leaves out the parameter "old".'],
    ["{{ 1 | lower(2) }}", "The template gives 2 values where 1 would be right."],
    ["{{ a.split() }}", 'The template calls the method "split" of a dict.'],
    ["{% for x in 5 %}{% endfor %}", "The template goes through an int as if it were a list."],
    ["{% set x, y = [1] %}", "The template assigns 1 values to 2 names."],
    ["{{ '%q' | format(1) }}", "The template has a % format that is not known here: %q."],
    ["{{ now().strftime('%Q') }}", "The template has a date format that is not known here: %Q."],
    [
      "{{ now() + timedelta(days=9999999) }}",
      "The template has a time out of range: the years are 1 to 9999.",
    ],
  ])("%s", (source, problem) => expect(render(source, { a: {} })).toBe(`problem: ${problem}`));
});

describe("a hostile template ends within its budget", () => {
  const value = "a".repeat(64_000);
  const variables = {
    value,
    list: `[${"1,".repeat(30_000)}1]`,
    digits: "9".repeat(60_000),
    days: "%A".repeat(32_000),
  };
  const pairs = (start: string, pair: string) =>
    `{% set l = ${start} %}${`{% set l = ${pair} %}`.repeat(60)}`;
  const steps = "The template takes more than 10000 steps.";
  const levels = "The template has more than 100 levels.";
  const length = "The template makes a text of more than 65536 characters.";
  const large = "The template has a number that is too large.";

  test.each([
    ["a large range", "{{ range(10**9) | list | length }}", steps],
    ["nested loops", "{% for a in range(100) %}".repeat(3) + "{% endfor %}".repeat(3), steps],
    ["a text that doubles", `{% set s = 'ab' %}${"{% set s = s ~ s %}".repeat(60)}`, length],
    ["a text that is added to itself", `{% set s = 'ab' %}${"{% set s = s + s %}".repeat(60)}`, length],
    ["much output", "{% for i in range(3) %}{{ value }}{% endfor %}", length],
    ["a power", "{{ 9**(9**9) }}", large],
    ["a power of a power", "{{ ((2**1000)**1000) }}", large],
    ["a float's power", "{{ 9.0**999 }}", large],
    ["a long number", `{{ ${"9".repeat(400)} }}`, large],
    ["a number as long as a text", "{{ digits | int }}", undefined],
    ["brackets", `{{ ${"(".repeat(5_000)}1${")".repeat(5_000)} }}`, levels],
    ["lists", `{{ ${"[".repeat(5_000)}${"]".repeat(5_000)} }}`, levels],
    ["signs", `{{ ${"-".repeat(20_000)}1 }}`, levels],
    ["nots", `{{ ${"not ".repeat(7_000)}1 }}`, levels],
    ["a sum of thousands", `{{ 1${"+1".repeat(16_000)} }}`, levels],
    ["a chain of members", `{{ a${".a".repeat(16_000)} }}`, levels],
    ["nested ifs", "{% if 1 %}".repeat(3_000), levels],
    ["a list of lists of the same list", `${pairs("[1, 1]", "[l, l]")}{{ l }}`, steps],
    ["its comparison", `${pairs("[1, 1]", "[l, l]")}{{ l == l }}`, steps],
    ["its JSON", `${pairs("[1, 1]", "[l, l]")}{{ l | tojson }}`, steps],
    [
      "a tuple of tuples as a key",
      `${pairs("(1, 1)", "(l, l)")}{{ {l: 1} }}`,
      "The template has a tuple as a key.",
    ],
    ["a replacement that explodes", "{{ value.replace('a', value) }}", length],
    ["a replacement of nothing", "{{ value.replace('', value) }}", length],
    ["a search that nearly matches everywhere", "{{ ('b' ~ value[:30000]) in value }}", steps],
    [
      "a list of the same long text",
      `{% set l = [value] %}${"{% set l = l + l %}".repeat(9)}{{ l | map('list') | list }}`,
      steps,
    ],
    ["a join that explodes", "{{ [value, value, value] | join(value) }}", length],
    ["a width", "{{ '%999999999d' | format(1) }}", length],
    ["decimals", "{{ '%.99999f' | format(1) }}", "The template has a % format with over 60 decimals."],
    ["a number of a long text, often", "{% for i in range(3000) %}{{ value | float(0) }}{% endfor %}", steps],
    ["JSON, often", "{% for i in range(900) %}{{ list | from_json | length }}{% endfor %}", steps],
    ["times, often", "{% for i in range(3000) %}{{ now() }}{% endfor %}", steps],
    ["a long date format", "{{ now().strftime(days) }}", length],
    ["parts of a long text, often", "{% for i in range(900) %}{{ value[::-1] | length }}{% endfor %}", steps],
    ["a megabyte", "x".repeat(1_000_000), "The template is longer than 32768 characters."],
    ["a megabyte of tags", "{{ 1 }}".repeat(150_000), "The template is longer than 32768 characters."],
    ["a text without an end", `{{ '${"\\a".repeat(16_000)}`, undefined],
    ["comments without an end", "{#".repeat(16_000), "The template has a comment without #}."],
    ["brackets without an end", "{".repeat(32_000), undefined],
    ["a regular expression with what RE2 lacks", "{{ value | regex_match('(?=a)a') }}", undefined],
    [
      "a regular expression, often",
      "{% for i in range(900) %}{{ value | regex_search('(a+)+b') }}{% endfor %}",
      steps,
    ],
    [
      "a regular expression that reads all the rest for each match",
      "{{ value | regex_findall('[^b]*b|.') }}",
      steps,
    ],
    ["a macro that calls itself", "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", levels],
    [
      "a macro that calls itself twice",
      "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(14) }}",
      steps,
    ],
    ["a text many times", "{{ value * 999999999 }}", length],
    ["a list many times", "{{ [1] * 999999999 }}", steps],
    ["JavaScript", "{{ ''.constructor.constructor('return process')() }}", undefined],
    ["Python", "{{ ''.__class__.__mro__[1].__subclasses__() }}", undefined],
  ])("%s", (_, source, problem) => {
    const text = render(source, variables);
    expect(text.startsWith("problem: The template ")).toBe(true);
    if (problem !== undefined) expect(text).toBe(`problem: ${problem}`);
  });

  test("what is large but within the budget is rendered", () => {
    expect(render("{% for i in range(1000) %}{{ i }},{% endfor %}")).toHaveLength(3_890);
    expect(render("{{ value }}", { value })).toHaveLength(64_000);
    expect(render(`{{ 'a'${" ~ 'a'".repeat(4_000)} }}`)).toHaveLength(4_001);
  });
});

describe("any template and any variables", () => {
  const anything = { value: "a1", value_json: jsonVariable('{"a":[1,2.0,{"b":null}],"c":"d"}'), x: [1, "2"] };
  const PARTS = [
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "#}",
    "-",
    " ",
    "\n",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    ".",
    "|",
    "~",
  ];
  PARTS.push(
    "=",
    "==",
    "<",
    "*",
    "**",
    "/",
    "//",
    "%",
    "'",
    '"',
    "\\",
    "1",
    "2.5",
    "99",
    "'a'",
    "value",
    "value_json",
    "x",
  );
  PARTS.push(
    "a",
    "c",
    "if",
    "elif",
    "else",
    "endif",
    "for",
    "in",
    "endfor",
    "set",
    "not",
    "and",
    "or",
    "is",
    "none",
    "true",
  );
  PARTS.push(
    "float",
    "round",
    "default",
    "get",
    "items",
    "split",
    "join",
    "map",
    "range",
    "replace",
    "namespace",
    "loop",
  );

  function attempt(source: string, variables: Record<string, unknown>): void {
    const made = compileTemplate(source);
    const result = made.ok ? renderTemplate(made.template, variables) : made;
    if (result.ok) expect(result.text.length).toBeLessThanOrEqual(65_536);
    // A fault of our own would be told by another sentence.
    else expect(result.problem).toMatch(/^The template (?!fails).*\.$/s);
  }

  test("a text of any kind never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (source) => attempt(source, anything)),
    );
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (source) => attempt(`{{ ${source} }}`, anything)));
  });

  test("parts of templates in any order never throw", () => {
    const source = fc.array(fc.constantFrom(...PARTS), { maxLength: 40 });
    fc.assert(
      fc.property(source, (parts) => attempt(parts.join(" "), anything)),
      { numRuns: 1_000 },
    );
    fc.assert(
      fc.property(source, (parts) => attempt(`{{ ${parts.join(" ")} }}`, anything)),
      { numRuns: 3_000 },
    );
  });

  test("any value prints, and never throws", () => {
    const source =
      "{{ a }} {{ a == b }} {{ a in [b] }} {{ [a, b] | join }} {{ a.x is defined }} {{ a | string | float(0) }}";
    fc.assert(fc.property(fc.anything(), fc.anything(), (a, b) => attempt(source, { a, b })));
  });

  test("JSON comes out as it went in", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const out = render("{{ a | to_json }} ", { a: jsonVariable(text) });
        expect(JSON.parse(out)).toEqual(JSON.parse(text, (_, value) => (Object.is(value, -0) ? 0 : value)));
      }),
    );
  });
});
