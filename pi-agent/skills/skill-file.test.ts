import { jsonSchema } from "@edgecall/core/protocol/parse.ts";
import { describe, expect, test } from "vitest";
import { readSkillFile } from "./skill-file.ts";
import { inputOf } from "./tool-schema.ts";

const FULL = `
[[tools]]
name = "bash"
binary = "bin/dt-bash"
description = "Execute shell commands"
sandboxing = "bubblewrap"
timeout_ms = 45000
permissions = ["shell", "network"]
devices = ["/dev/i2c-1"]
platforms = ["linux"]
idempotent = true
events = ["opened", "lid-closed"]

[tools.parameters]
required = ["command"]

[tools.parameters.properties.command]
type = "string"
description = "Shell command to execute"

[tools.parameters.properties.tries]
type = "integer"
default = 3

[tools.parameters.properties.factor]
type = "number"
default = 0.5

[tools.parameters.properties.loud]
type = "boolean"
default = false

[tools.parameters.properties.shell]
type = "string"
enum = ["sh", "bash"]

[tools.metadata]
version = "2.0.0"
skill = "desktop-tools"
`;

test("every field is read", () => {
  expect(readSkillFile(FULL, "folder")).toEqual({
    skipped: [],
    tools: [
      {
        name: "bash",
        binary: "bin/dt-bash",
        description: "Execute shell commands",
        parameters: [
          { name: "command", type: "string", description: "Shell command to execute", required: true },
          { name: "tries", type: "integer", description: "", default: 3, required: false },
          { name: "factor", type: "number", description: "", default: 0.5, required: false },
          { name: "loud", type: "boolean", description: "", default: false, required: false },
          { name: "shell", type: "string", description: "", enum: ["sh", "bash"], required: false },
        ],
        sandboxing: "bubblewrap",
        timeoutMs: 45_000,
        jobOptional: false,
        permissions: ["shell", "network"],
        devices: ["/dev/i2c-1"],
        platforms: ["linux"],
        idempotent: true,
        events: ["opened", "lid-closed"],
        version: "2.0.0",
        skill: "desktop-tools",
      },
    ],
  });
});

test("the schema for the model", () => {
  const [tool] = readSkillFile(FULL, "folder").tools;
  expect(jsonSchema(inputOf(tool?.parameters ?? []))).toEqual({
    type: "object",
    properties: {
      command: { type: "string", description: "Shell command to execute" },
      tries: { type: "integer", default: 3 },
      factor: { type: "number", default: 0.5 },
      loud: { type: "boolean", default: false },
      shell: { type: "string", enum: ["sh", "bash"] },
    },
    required: ["command"],
    additionalProperties: false,
  });
});

test("missing fields have the seed's defaults", () => {
  const file = ["read", "bash", "git_log", "hello"].map(
    (name) => `[[tools]]\nname = "${name}"\ndescription = "d"`,
  );
  const { tools } = readSkillFile(file.join("\n"), "folder");
  expect(tools.map(({ timeoutMs }) => timeoutMs)).toEqual([5_000, 30_000, 60_000, 10_000]);
  expect(tools[3]).toEqual({
    name: "hello",
    binary: undefined,
    description: "d",
    parameters: [],
    sandboxing: undefined,
    timeoutMs: 10_000,
    jobOptional: false,
    permissions: undefined,
    devices: [],
    platforms: [],
    idempotent: false,
    events: [],
    version: "",
    skill: "folder",
  });
});

test("a read-only tool may be repeated; one that does not say so may not", () => {
  const idempotent = (permissions: string) =>
    readSkillFile(`[[tools]]\nname = "a"\ndescription = "d"\npermissions = ${permissions}`, "f").tools[0]
      ?.idempotent;
  expect(idempotent("[]")).toBe(true);
  expect(idempotent('["file_read"]')).toBe(true);
  expect(idempotent('["file_read", "network"]')).toBe(false);
});

describe("a wrong tool is left out with the reason; the others stay", () => {
  const cases: Array<[string, string]> = [
    ['name = "a.b"', "name: right would be 1 to 64 letters, digits, _ or -"],
    ["sandboxing = true", 'sandboxing: right would be one of: "none", "bubblewrap", "firejail", "podman"'],
    ["timeout_ms = 0", "timeout_ms: right would be whole milliseconds from 1 to 300000"],
    ["timeout_ms = 300001", "timeout_ms: right would be whole milliseconds from 1 to 300000"],
    ['permissions = ["root"]', 'permissions: right would be a list of: "file_read", "file_write", "shell"'],
    ['devices = ["/dev/mem"]', "devices: right would be a list of sensors, buses, cameras or sound in /dev"],
    [
      'devices = ["/dev/snd/../sda"]',
      "devices: right would be a list of sensors, buses, cameras or sound in /dev",
    ],
    [
      '[tools.parameters.properties.x]\ntype = "array"',
      'parameters.properties.x.type: not supported; right would be one of: "string", "integer", "number", "boolean"',
    ],
    [
      '[tools.parameters.properties.x]\ndescription = "d"',
      "parameters.properties.x.type: missing; right would be one of",
    ],
    [
      '[tools.parameters.properties."--x"]\ntype = "string"',
      "parameters.properties.--x: right would be a letter, then letters, digits, _ or -",
    ],
    [
      '[tools.parameters.properties.x]\ntype = "integer"\ndefault = 1.5',
      "parameters.properties.x.default: not of type integer",
    ],
    [
      '[tools.parameters.properties.x]\ntype = "string"\nenum = ["a"]\ndefault = "b"',
      "parameters.properties.x.default: not one of: a",
    ],
    ['[tools.parameters]\nrequired = ["y"]', "parameters.required: 'y' is not one of the properties: none"],
    ['[tools.metadata]\nversion = "a b"', 'metadata.version: right would be text like "1.2.0"'],
  ];
  test.each(cases)("%s", (line, reason) => {
    const wrong = line.startsWith("name")
      ? `[[tools]]\n${line}\ndescription = "d"`
      : `[[tools]]\nname = "wrong"\ndescription = "d"\n${line}`;
    const { tools, skipped } = readSkillFile(
      `[[tools]]\nname = "good"\ndescription = "d"\n${wrong}`,
      "folder",
    );
    expect(tools.map(({ name }) => name)).toEqual(["good"]);
    expect(skipped).toEqual([
      { skill: "folder", tool: expect.any(String), reason: expect.stringContaining(reason) },
    ]);
  });

  test("without a description", () => {
    const { skipped } = readSkillFile('[[tools]]\nname = "a"', "folder");
    expect(skipped).toEqual([
      { skill: "folder", tool: "a", reason: expect.stringMatching(/^description: /) },
    ]);
  });
});

test.each([
  ["[[tools]\nname", "skill.toml: not TOML: "],
  ["tools = 3", "skill.toml: tools: right would be a list, [[tools]]"],
  ["", "skill.toml: no [[tools]] in it"],
])("a file that is not a skill: %j", (source, reason) => {
  expect(readSkillFile(source, "folder")).toEqual({
    tools: [],
    skipped: [{ skill: "folder", reason: expect.stringContaining(reason) }],
  });
});

test("D12 job_timeout_s makes a tool's calls jobs; an invalid time is reported", () => {
  const file = (value: string) =>
    readSkillFile(`[[tools]]\nname = "a"\ndescription = "d"\njob_timeout_s = ${value}`, "a");
  expect(file("3600").tools[0]?.jobMs).toBe(3_600_000);
  for (const wrong of ["0", "604801", '"long"'])
    expect(file(wrong).skipped).toMatchObject([
      {
        tool: "a",
        reason: expect.stringContaining("job_timeout_s: right would be whole seconds from 1 to 604800"),
      },
    ]);
});

test("job_optional adds an argument, and needs a job's time and that name", () => {
  const file = (more: string) => readSkillFile(`[[tools]]\nname = "a"\ndescription = "d"\n${more}`, "a");
  const [tool] = file("job_timeout_s = 60\njob_optional = true").tools;
  expect(tool).toMatchObject({ jobMs: 60_000, jobOptional: true });
  expect(jsonSchema(inputOf(tool?.parameters ?? [], tool?.jobOptional))).toMatchObject({
    properties: { background: { type: "boolean" } },
  });
  expect(file("job_optional = true").skipped).toMatchObject([
    { tool: "a", reason: expect.stringContaining("right would be job_timeout_s beside it") },
  ]);
  expect(
    file(
      'job_timeout_s = 60\njob_optional = true\n[tools.parameters.properties.background]\ntype = "boolean"',
    ).skipped,
  ).toMatchObject([{ tool: "a", reason: expect.stringContaining("parameters.properties.background") }]);
});
