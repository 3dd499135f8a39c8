import { describe, expect, test } from "vitest";
import { readSkillFile } from "./skill-file.ts";

const PARAMETERS = `
[tools.parameters]
required = ["path"]
[tools.parameters.properties.path]
type = "string"
[tools.parameters.properties.level]
type = "integer"
default = 3
[tools.parameters.properties.note]
type = "string"
`;

const skill = (steps: string, more = "") =>
  readSkillFile(`[[tools]]\nname = "two"\ndescription = "d"\n${more}\n${PARAMETERS}\n${steps}`, "demo");
const step = (id: string, fields = "") => `[[tools.steps]]\nid = "${id}"\ntool = "write"\n${fields}\n`;
const ref = (pointer: string) => `{ "$ref" = "${pointer}" }`;

test("the steps of a tool, with their conditions and references", () => {
  const { tools, skipped } = skill(
    step("a", `params = { path = ${ref("/params/path")}, level = ${ref("/params/level")} }`) +
      step("b", `when = "failure"\nparams = { content = ${ref("/a/data/0/x")}, list = [${ref("/a")}] }`) +
      step("c", 'when = "always"'),
  );
  expect(skipped).toEqual([]);
  expect(tools[0]?.steps).toEqual([
    {
      id: "a",
      tool: "write",
      when: "success",
      params: { path: { $ref: "/params/path" }, level: { $ref: "/params/level" } },
    },
    {
      id: "b",
      tool: "write",
      when: "failure",
      params: { content: { $ref: "/a/data/0/x" }, list: [{ $ref: "/a" }] },
    },
    { id: "c", tool: "write", when: "always", params: {} },
  ]);
});

describe("a tool whose steps are wrong is left out, with the reason", () => {
  test.each<[string, string, RegExp]>([
    ["no steps", "steps = []", /^steps\./],
    ["no list", "steps = 3", /^steps\./],
    ["eleven", Array.from({ length: 11 }, (_, at) => step(`s${at}`)).join(""), /^steps\./],
    ["no id", '[[tools.steps]]\ntool = "write"', /^steps\.0\.id/],
    ["an id with a blank", step("a b"), /steps\.0\.id: right would be 1 to 32 letters/],
    ["no tool", '[[tools.steps]]\nid = "a"', /^steps\.0\.tool/],
    ["a version of a tool", '[[tools.steps]]\nid = "a"\ntool = "x@1"', /steps\.0\.tool: right would be/],
    ["an unknown condition", step("a", 'when = "sometimes"'), /^steps\.0\.when/],
    ["a misspelt field", step("a", 'wen = "failure"'), /wen/],
    ["two with one id", step("a") + step("a"), /steps\.a: .*two steps/],
    ["the id of the parameters", step("params"), /steps\.params: right would be another id/],
    [
      "a later step",
      step("a", `params = { x = ${ref("/b/result")} }`) + step("b"),
      /no step 'b' before this one/,
    ],
    ["itself", step("a", `params = { x = ${ref("/a/result")} }`), /no step 'a' before this one/],
    ["an unknown parameter", step("a", `params = { x = ${ref("/params/none")} }`), /no parameter 'none'/],
    [
      "a parameter that may be missing",
      step("a", `params = { x = ${ref("/params/note")} }`),
      /may be missing/,
    ],
    ["an unknown field", step("a") + step("b", `params = { x = ${ref("/a/text")} }`), /one of: \/a\/status/],
    ["a pointer without a slash", step("a", `params = { x = ${ref("params/path")} }`), /"\$ref" = "\/NAME/],
    [
      "a key beside it",
      step("a", 'params = { x = { "$ref" = "/params/path", y = 1 } }'),
      /nothing beside it/,
    ],
    ["a number", step("a", 'params = { x = { "$ref" = 1 } }'), /"\$ref" = "\/NAME/],
  ])("%s", (_, steps, reason) => {
    const { tools, skipped } = steps.startsWith("steps =")
      ? readSkillFile(`[[tools]]\nname = "two"\ndescription = "d"\n${steps}`, "demo")
      : skill(steps);
    expect(tools).toEqual([]);
    expect(skipped).toEqual([{ skill: "demo", tool: "two", reason: expect.stringMatching(reason) }]);
  });

  test.each([
    'binary = "bin/x"',
    'sandboxing = "none"',
    "timeout_ms = 1",
    "job_timeout_s = 1",
    'permissions = ["shell"]',
    'devices = ["/dev/i2c-1"]',
    "idempotent = true",
  ])("a field of programs: %s", (field) => {
    const [name] = field.split(" ");
    expect(skill(step("a"), field).skipped).toMatchObject([
      { reason: `${name}: a tool with steps has none; it follows from its steps` },
    ]);
  });

  test("a parameter named as the person sees the steps", () => {
    const file = `[[tools]]\nname = "two"\ndescription = "d"\n[tools.parameters.properties.steps]\ntype = "string"\n${step("a")}`;
    expect(readSkillFile(file, "demo").skipped).toMatchObject([
      { reason: expect.stringContaining("another one") },
    ]);
  });
});
