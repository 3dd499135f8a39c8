import { chmodSync, mkdirSync, mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { describe, expect, test } from "vitest";
import { oneTool, put, skillFolder } from "../testing/skill-folder.ts";
import { loadSkills, MAX_SKILL_TOOLS, type SkillSet, type SkillsOptions, withSteps } from "./load-skills.ts";
import { skillRows } from "./skill-report.ts";

const PROGRAM = "#!/bin/sh\n";

async function load(options: SkillsOptions): Promise<SkillSet> {
  return (await loadSkills(options)).set;
}

const names = (set: SkillSet) => set.tools.map(({ tool }) => tool.name);
const reasons = (set: SkillSet) =>
  set.skipped.map(({ skill, tool, reason }) => `${skill}/${tool ?? ""}: ${reason}`);
const only = (set: SkillSet): Tool | undefined => set.tools[0]?.tool;

test("tools, instructions and EvoClaw's block", async () => {
  const options = skillFolder({
    "greet/skill.toml": oneTool(
      "greet",
      'binary = "bin/greet"\npermissions = ["network"]\ntimeout_ms = 20000',
    ),
    "greet/bin/greet": PROGRAM,
    "greet/SKILL.md": "---\ndescription: When to greet.\n---\nSay hello.",
    ".hidden/skill.toml": "wrong",
  });
  const set = await load(options);
  expect(set.skipped).toEqual([]);
  expect(set.guides.map(({ name }) => name)).toEqual(["greet"]);
  expect(set.tools[0]?.metadata).toEqual({
    binary: "bin/greet",
    timeout_ms: 20_000,
    sandbox: false,
    permissions: ["network"],
    version: "1.0.0",
    skill: "greet",
  });
  expect(only(set)).toMatchObject({
    effect: "network",
    permission: "network",
    taints: true,
    timeoutMs: 20_000,
    maxTimeoutMs: 60_000,
  });
});

test("an invalid skill does not affect the others", async () => {
  const set = await load(
    skillFolder({
      "broken/skill.toml": "[[tools]\n",
      "empty/README": "",
      "good/skill.toml": `${oneTool("good")}\n${oneTool("bad", "timeout_ms = -1")}`,
      "good/bin/dt-good": PROGRAM,
      "guide/SKILL.md": "no head",
      "notes.txt": "a file beside the skills",
    }),
  );
  expect(names(set)).toEqual(["good"]);
  expect(reasons(set)).toEqual([
    expect.stringMatching(/^broken\/: skill.toml: not TOML: /),
    "empty/: neither skill.toml nor SKILL.md in it",
    expect.stringMatching(/^good\/bad: timeout_ms: right would be/),
    expect.stringMatching(/^guide\/: SKILL.md: it has to begin/),
  ]);
});

test("without a folder there are no skills, and no error", async () => {
  const options = skillFolder();
  expect(await load({ ...options, path: join(options.path, "absent") })).toMatchObject({
    tools: [],
    skipped: [],
  });
});

test.each([
  // The permissions of a tool, those that the agent has, and if it is offered.
  ['["shell", "network"]', ["network"], true],
  ['["shell", "network"]', ["file_read"], false],
  ['["shell"]', [], false],
  ["[]", [], true],
  ['["shell"]', undefined, true],
] as const)("permissions %s for an agent that holds %j", async (permissions, held, isOffered) => {
  const options = skillFolder({
    "a/skill.toml": oneTool("a", `permissions = ${permissions}`),
    "a/bin/dt-a": PROGRAM,
  });
  const set = await load({ ...options, held: held && [...held] });
  expect(names(set)).toEqual(isOffered ? ["a"] : []);
  if (!isOffered) expect(set.skipped[0]?.reason).toMatch(/^needs shell.*; this agent holds /);
});

test("the list of enabled tools limits skills' tools too, in every version", async () => {
  const options = skillFolder({
    "a/skill.toml": `${oneTool("a")}\n${oneTool("b")}`,
    "a/bin/dt-a": PROGRAM,
    "a/bin/dt-b": PROGRAM,
  });
  const set = await load({ ...options, enabled: ["b", "cpu"] });
  expect(names(set)).toEqual(["b"]);
  expect([...set.versions.keys()]).toEqual(["b@1.0.0"]);
  expect(reasons(set)).toEqual(["a/a: enabled in [tools] of agent.toml does not name it"]);
  expect(names(await load({ ...options, enabled: [] }))).toEqual([]);
});

test("[tools] timeout_ms applies to tools without a time of their own", async () => {
  const options = skillFolder({
    "a/skill.toml": `${oneTool("read")}\n${oneTool("own", "timeout_ms = 1234")}`,
    "a/bin/dt-read": PROGRAM,
    "a/bin/dt-own": PROGRAM,
  });
  const times = (set: SkillSet) => set.tools.map(({ tool }) => [tool.name, tool.timeoutMs]);
  expect(times(await load(options))).toEqual([
    ["own", 1_234],
    ["read", 5_000],
  ]);
  expect(times(await load({ ...options, timeoutMs: 77_000 }))).toEqual([
    ["own", 1_234],
    ["read", 77_000],
  ]);
});

test.each([
  ["", "exec", undefined, true],
  ["permissions = []", "read", undefined, false],
  ['permissions = ["file_read"]', "read", "file_read", true],
  ['permissions = ["file_read", "file_write"]', "write", "file_write", true],
  ['permissions = ["file_write", "network"]', "network", "network", true],
  ['permissions = ["network", "device"]', "device", "device", true],
  ['permissions = ["device"]', "device", "device", false],
  ['permissions = ["device", "shell"]', "exec", "shell", true],
  ['permissions = ["git"]', "exec", "git", true],
  ['permissions = ["session"]', "write", "session", false],
])("a tool's effect follows from its permissions: %s", async (line, effect, permission, taints) => {
  const options = skillFolder({ "a/skill.toml": oneTool("a", line), "a/bin/dt-a": PROGRAM });
  const tool = only(await load(options));
  expect([tool?.effect, tool?.permission, tool?.taints]).toEqual([effect, permission, taints]);
});

test("the newer version is offered, and each can be called by name and version", async () => {
  const set = await load(
    skillFolder({
      "old/skill.toml": oneTool("greet", "timeout_ms = 1", "1.9.0"),
      "old/bin/dt-greet": PROGRAM,
      "new/skill.toml": oneTool("greet", "timeout_ms = 2", "1.10.0"),
      "new/bin/dt-greet": PROGRAM,
      "same/skill.toml": oneTool("greet", "timeout_ms = 3", "1.9.0"),
      "same/bin/dt-greet": PROGRAM,
      "none/skill.toml": '[[tools]]\nname = "greet"\ndescription = "d"',
      "none/bin/dt-greet": PROGRAM,
    }),
  );
  expect(set.tools.map(({ tool, metadata }) => [tool.name, metadata.version, tool.timeoutMs])).toEqual([
    ["greet", "1.10.0", 2],
  ]);
  expect([...set.versions].map(([name, tool]) => [name, tool.name, tool.timeoutMs])).toEqual([
    ["greet@1.10.0", "greet", 2],
    ["greet@1.9.0", "greet", 1],
  ]);
  expect(reasons(set)).toEqual([
    "none/greet: without a version that fits behind its name; the one of 'new' is offered",
    "same/greet: of the same version; the one of 'new' is offered",
  ]);
});

test("the program: the named one, else dt-NAME in [tools.paths] bin, else the one in the skill", async () => {
  const options = skillFolder({
    "a/skill.toml": `${oneTool("named", 'binary = "bin/x"')}${oneTool("shared")}${oneTool("own")}${oneTool("system", 'binary = "/bin/true"')}`,
    "a/bin/x": PROGRAM,
    "a/bin/dt-shared": PROGRAM,
    "a/bin/dt-own": PROGRAM,
  });
  const bin = mkdtempSync(join(tmpdir(), "edgecall-bin-"));
  put(join(bin, "bin"), {});
  put(bin, { "bin/dt-shared": PROGRAM });
  const set = await load({ ...options, bin: join(bin, "bin") });
  expect(set.tools.map(({ tool, metadata }) => [tool.name, metadata.binary])).toEqual([
    ["named", "bin/x"],
    ["own", `${options.path}/a/bin/dt-own`],
    ["shared", `${bin}/bin/dt-shared`],
    ["system", "/bin/true"],
  ]);
});

test("untrustworthy programs and files are refused", async () => {
  const options = skillFolder({
    "a/skill.toml": [
      oneTool("absent"),
      oneTool("outside", 'binary = "../b/bin/dt-b"'),
      oneTool("plain", 'binary = "plain"'),
      oneTool("linked", 'binary = "bin/linked"'),
      oneTool("open"),
    ].join("\n"),
    "a/plain": PROGRAM,
    "a/bin/dt-open": PROGRAM,
    "b/skill.toml": oneTool("b"),
    "b/bin/dt-b": PROGRAM,
    "c/skill.toml": oneTool("c"),
    "c/bin/dt-c": PROGRAM,
    "d/SKILL.md": "---\ndescription: d\n---\nx",
  });
  symlinkSync("/bin/true", join(options.path, "a/bin/linked"));
  chmodSync(join(options.path, "a/bin/dt-open"), 0o777);
  chmodSync(join(options.path, "b/skill.toml"), 0o666);
  chmodSync(join(options.path, "c"), 0o777);
  chmodSync(join(options.path, "d/SKILL.md"), 0o666);
  const set = await load(options);
  expect(set).toMatchObject({ tools: [], guides: [] });
  const said = reasons(set).join("\n");
  for (const reason of [
    `a/absent: no program: looked for ${options.path}/a/bin/dt-absent`,
    "a/outside: binary: '../b/bin/dt-b' leads out of the skill's folder",
    "a/plain: /",
    "may not be run: chmod +x",
    "bin/linked is a link that leads out of the skills",
    "bin/dt-open is writable by everyone: chmod o-w",
    "skill.toml: writable by everyone: chmod o-w",
    "/c is writable by everyone: chmod o-w",
    "SKILL.md: writable by everyone",
  ]) {
    expect(said).toContain(reason);
  }
});

test("skills in the workspace are ignored, because the model may write there", async () => {
  const options = skillFolder();
  const path = join(options.workspace, "skills");
  mkdirSync(path);
  put(path, { "a/skill.toml": oneTool("a"), "a/bin/dt-a": PROGRAM });
  const set = await load({ ...options, path });
  expect(set.tools).toEqual([]);
  expect(reasons(set)).toEqual([expect.stringContaining("lies in the workspace")]);
});

test("a missing engine is refused by name, and so is none unless it is allowed", async () => {
  const options = skillFolder({
    "a/skill.toml": `${oneTool("a", 'sandboxing = "firejail"')}${oneTool("b", 'sandboxing = "none"')}`,
    "a/bin/dt-a": PROGRAM,
    "a/bin/dt-b": PROGRAM,
  });
  expect(reasons(await load(options))).toEqual([
    "a/a: sandboxing: firejail is not available on this agent; it has: none",
  ]);
  expect(reasons(await load({ ...options, environments: {}, engine: "bubblewrap" }))).toContain(
    "a/b: sandboxing: none: this agent runs nothing outside of a sandbox unless its owner says so: unsandboxed in [tools] of agent.toml names the tools that may",
  );
});

test("another platform", async () => {
  const options = skillFolder({
    "a/skill.toml": oneTool("a", 'platforms = ["darwin"]'),
    "a/bin/dt-a": PROGRAM,
  });
  expect(reasons(await load({ ...options, platform: "linux" }))).toEqual([
    "a/a: only for darwin; this is linux",
  ]);
  expect(names(await load({ ...options, platform: "darwin" }))).toEqual(["a"]);
});

test("more tools than fit an advert", async () => {
  const count = MAX_SKILL_TOOLS + 1;
  const tools = Array.from({ length: count }, (_, index) => oneTool(`t${index}`, 'binary = "/bin/true"'));
  const set = await load(skillFolder({ "a/skill.toml": tools.join("\n") }));
  expect(set.tools).toHaveLength(MAX_SKILL_TOOLS);
  expect(reasons(set)).toEqual([`a/t99: more than ${MAX_SKILL_TOOLS} tools of skills`]);
});

test("the rows of the command `skill`", async () => {
  const set = await load(
    skillFolder({
      "a/skill.toml": `${oneTool("one")}${oneTool("two")}`,
      "a/bin/dt-one": PROGRAM,
      "a/SKILL.md": "---\ndescription: d\n---\nx",
      "b/skill.toml": "wrong",
    }),
  );
  expect(skillRows(set)).toEqual([
    {
      name: "a",
      enabled: true,
      version: "1.0.0",
      tools: ["one"],
      instructions: true,
      description: "d",
      problems: [expect.stringMatching(/^two: no program/)],
    },
    expect.objectContaining({ name: "b", enabled: false, problems: [expect.stringContaining("not TOML")] }),
  ]);
});

test.each<[string, readonly string[] | undefined, boolean]>([
  ["whom the owner names", ["a"], true],
  ["whom the owner does not name", ["b"], false],
  ["where the owner names none", undefined, false],
])("D13 a tool without a sandbox next to one with it: %s", async (_, unsandboxed, isOffered) => {
  const options = skillFolder({
    "a/skill.toml": `${oneTool("a", 'sandboxing = "none"')}\n${oneTool("c", 'sandboxing = "bubblewrap"')}`,
    "a/bin/dt-a": PROGRAM,
    "a/bin/dt-c": PROGRAM,
  });
  const [environment] = Object.values(options.environments);
  const environments = { none: environment, bubblewrap: environment } as typeof options.environments;
  const set = await load({ ...options, engine: "bubblewrap", environments, unsandboxed });
  expect(names(set)).toEqual(isOffered ? ["a", "c"] : ["c"]);
  if (isOffered) expect(set.tools.find(({ tool }) => tool.name === "a")?.metadata.sandbox).toBe(false);
  else expect(reasons(set)[0]).toContain("unsandboxed in [tools] of agent.toml names the tools that may");
});

describe("a tool with steps", () => {
  const steps = (name: string, tool: string, version = "1.0.0") =>
    `[[tools]]\nname = "${name}"\ndescription = "d"\n[[tools.steps]]\nid = "a"\ntool = "${tool}"\n[tools.metadata]\nversion = "${version}"\n`;
  const greet = {
    "greet/skill.toml": oneTool("greet", 'permissions = ["network"]\ntimeout_ms = 20000'),
    "greet/bin/dt-greet": PROGRAM,
  };
  const own = (name: string, effect: Tool["effect"]): Tool =>
    defineTool({
      name,
      description: "",
      input: z.strictObject({}),
      effect,
      idempotent: true,
      timeoutMs: 1_000,
      maxTimeoutMs: 1_000,
      execute: async () => textResult("own"),
    });

  test("is made of the tools that the device has, another skill's too", async () => {
    const set = await load(
      skillFolder({
        ...greet,
        "two/skill.toml": steps("first", "greet"),
        "three/skill.toml": steps("then", "mine"),
      }),
    );
    const bound = withSteps([own("mine", "device")], set);
    expect(bound.skipped).toEqual([]);
    expect(bound.tools.map(({ tool, metadata }) => [tool.name, tool.effect, metadata.permissions])).toEqual([
      ["first", "network", ["network"]],
      ["greet", "network", ["network"]],
      ["then", "device", []],
    ]);
    expect(bound.tools[0]?.metadata).toEqual({
      binary: "steps",
      timeout_ms: 20_000,
      sandbox: false,
      permissions: ["network"],
      version: "1.0.0",
      skill: "two",
    });
    expect(bound.versions.get("first@1.0.0")).toBe(bound.tools[0]?.tool);
  });

  test("is left out with the reason while a tool of it is missing, or is one with steps", async () => {
    const set = await load(
      skillFolder({
        ...greet,
        "two/skill.toml": steps("first", "mine"),
        "three/skill.toml": steps("again", "first"),
      }),
    );
    const bound = withSteps([], set);
    expect(names(bound)).toEqual(["greet"]);
    expect([...bound.versions.keys()]).toEqual(["greet@1.0.0"]);
    expect(reasons(bound)).toEqual([
      "three/again: step 'a': there is no tool 'first' here that a step may call",
      "two/first: step 'a': there is no tool 'mine' here that a step may call",
    ]);
    expect(names(withSteps([own("mine", "read")], set))).toEqual(["first", "greet"]);
  });

  test("the agent's own tool comes before a skill's of the same name", async () => {
    const set = await load(skillFolder({ ...greet, "two/skill.toml": steps("first", "greet") }));
    expect(withSteps([own("greet", "read")], set).tools[0]?.tool.effect).toBe("read");
  });

  test("without one, the set stays as it is", async () => {
    const set = await load(skillFolder(greet));
    expect(withSteps([], set)).toBe(set);
  });
});
