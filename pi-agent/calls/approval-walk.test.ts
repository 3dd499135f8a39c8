/**
 * Attempts to get one call approved and another one run. Each is sent to an agent that asks before everything, and
 * every question is approved. The check: what a tool ran with, and what the audit log has, is what was shown.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { approvalHash } from "@edgecall/core/protocol/approval.ts";
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { websearch } from "@edgecall/core/web/websearch.ts";
import { mcpTool } from "@edgecall/tool-mcp/tool.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../test/wait.ts";
import { local } from "../env/local.ts";
import { Nodes } from "../env/nodes/nodes.ts";
import { skillTool } from "../skills/skill-tool.ts";
import { type House, house, rules } from "../testing/house.ts";
import { append } from "../tools/files/append.ts";
import { applyPatch } from "../tools/files/apply-patch.ts";
import { edit } from "../tools/files/edit.ts";
import { grep } from "../tools/files/grep.ts";
import { read } from "../tools/files/read.ts";
import { write } from "../tools/files/write.ts";
import { gpioWrite } from "../tools/machine/gpio-write.ts";
import { services } from "../tools/machine/services.ts";
import { snapshot } from "../tools/machine/snapshot.ts";
import { atNodes } from "../tools/programs/at-nodes.ts";
import { bash } from "../tools/programs/bash.ts";

type Args = Record<string, unknown>;

const FILES: Record<string, string> = {
  "harmless.txt": "safe here\n",
  "secret.txt": "safe key\n",
  secret2: "safe two\n",
  constructor: "safe too\n",
};

let home: House;
let ws: string;
/** The arguments that each tool ran with, by call. */
const ran = new Map<string, unknown>();

function watched(tool: Tool, run = true): Tool {
  return {
    ...tool,
    async execute(input, context) {
      ran.set(context.callId, structuredClone(input));
      return run ? await tool.execute(input, context) : textResult("ran");
    },
  };
}

beforeAll(async () => {
  ws = realpathSync(mkdtempSync(join(tmpdir(), "edgecall-walk-")));
  reset();
  const here = local({ cwd: ws });
  const nodes = await Nodes.open(join(mkdtempSync(join(tmpdir(), "edgecall-nodes-")), "nodes.json"), {});
  const { exec } = here;
  const program = { program: "/bin/echo", folder: ws, environment: here, held: undefined };
  const definition = {
    skill: "demo",
    name: "demo",
    description: "",
    permissions: ["device" as const],
    devices: [],
    events: [],
    timeoutMs: 5_000,
    idempotent: false,
    program: undefined,
    parameters: [
      { name: "target", type: "string" as const, description: "", required: true },
      { name: "level", type: "integer" as const, description: "", required: false, default: 3 },
    ],
  };
  const dead = { exec, root: ws };
  const tools = [
    ...atNodes(here, nodes, (at) => [read(at), write(at), edit(at), bash(at)]),
    watched(append(here)),
    watched(applyPatch(here)),
    watched(grep(here), false),
    watched(services(dead), false),
    watched(snapshot(dead), false),
    watched(gpioWrite({ exec, held: {} as never }), false),
    watched(websearch({ search: async () => [] })),
    // biome-ignore lint/suspicious/noExplicitAny: the definition has more fields than this test is about.
    watched(skillTool({ definition: definition as any, ...program }), false),
    watched(
      mcpTool(
        {
          name: "act",
          description: "",
          inputSchema: { type: "object", properties: { n: { type: "integer" } } },
        },
        // biome-ignore lint/suspicious/noExplicitAny: the server's address is not used here.
        { name: "srv", reach: { by: "url" }, effect: "exec", reads: [], permission: "network" } as any,
        async () => ({ content: [] }),
        5_000,
      ),
      false,
    ),
    watched(
      defineTool({
        name: "plain",
        description: "Keeps what it was run with.",
        input: z.strictObject({
          a: z.optional(z.string()),
          n: z.optional(z.number()),
          on: z.optional(z.boolean()),
        }),
        effect: "write",
        idempotent: false,
        timeoutMs: 5_000,
        maxTimeoutMs: 5_000,
        execute: async () => textResult("ran"),
      }),
    ),
  ].map((tool) => (["read", "write", "edit", "bash"].includes(tool.name) ? watched(tool) : tool));
  const policy = rules(Object.fromEntries(tools.map(({ name }) => [name, "ask" as const])));
  home = await house();
  await home.start({ tools, policy });
});
afterAll(async () => await home.stop());

function reset(): void {
  mkdirSync(ws, { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(ws, name), text);
}

const contents = () =>
  Object.fromEntries(
    readdirSync(ws)
      .sort()
      .map((name) => [name, readFileSync(join(ws, name), "utf8")]),
  );

/** Sends a call, and approves its question. @returns what was shown, what ran, and the files that changed */
async function attempt(tool: string, args: Args | string, meanwhile?: (id: string) => Promise<void> | void) {
  reset();
  const before = contents();
  const id = crypto.randomUUID();
  // A text can hold what an object cannot: the same key twice.
  const parameters = typeof args === "string" ? args : JSON.stringify(args);
  await home.peer.send(
    "eye",
    `{"command":"tool","request_id":"${id}","n":1,"payload":{"tool":"${tool}","parameters":${parameters}}}`,
  );
  const asked = await until(() => home.peer.events(id, "question")[0] ?? home.peer.reports(id)[0]);
  let shown: Args | undefined;
  if (home.peer.events(id, "question")[0]) {
    const { question_id, approval } = await home.question(id);
    shown = approval?.parameters as Args;
    expect(approval?.hash).toBe(await approvalHash("eye", tool, shown, approval?.cwd as string | undefined));
    await meanwhile?.(id);
    await home.answer(question_id, "approve", { hash: approval?.hash as string });
  }
  expect(asked).toBeDefined();
  const result = await home.result(id);
  const after = contents();
  const changed = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => before[name] !== after[name],
  );
  return { shown, ran: ran.get(id), changed, result, after };
}

const P = "harmless.txt";
const S = "secret.txt";
const swap = { old_string: "safe", new_string: "good" };

/** Name, tool, arguments; and for those that may run, the one file that they may change. */
const ATTEMPTS: Array<[string, string, Args | string, string?]> = [
  ["path and file_path", "edit", { path: P, file_path: S, ...swap }],
  ["file_path and path", "edit", { file_path: S, path: P, ...swap }],
  ["path and file_path, the same", "edit", { path: P, file_path: P, ...swap }],
  ["new_string and newText", "edit", { path: P, old_string: "safe", new_string: "good", newText: "EVIL" }],
  ["newText and new_string", "edit", { path: P, old_string: "safe", newText: "EVIL", new_string: "good" }],
  ["new_string and new_text", "edit", { path: P, old_string: "safe", new_string: "good", new_text: "EVIL" }],
  ["newText and new_text", "edit", { path: P, old_string: "safe", newText: "good", new_text: "EVIL" }],
  ["old_string and oldText", "edit", { path: P, ...swap, oldText: "here" }],
  ["old_text and old_string", "edit", { path: P, old_text: "here", ...swap }],
  ["replace_all and replaceAll", "edit", { path: P, ...swap, replace_all: false, replaceAll: true }],
  ["within edits", "edit", { path: P, edits: [{ old_string: "safe", new_string: "good", newText: "EVIL" }] }],
  [
    "within the second of edits",
    "edit",
    { path: P, edits: [swap, { old_string: "here", oldText: "safe", new_string: "x" }] },
  ],
  [
    "within edits as a text",
    "edit",
    { path: P, edits: '[{"old_string":"safe","new_string":"good","newText":"EVIL"}]' },
  ],
  ["edits as a text of a text", "edit", { path: P, edits: JSON.stringify(JSON.stringify([swap])) }],
  ["edits as an object", "edit", { path: P, edits: { 0: swap, newText: "EVIL" } }],
  ["edits and a replacement beside", "edit", { path: P, edits: [swap], new_string: "x", old_string: "here" }],
  ["path null and file_path", "edit", { path: null, file_path: P, ...swap }, P],
  ["file_path null and path", "edit", { path: P, file_path: null, ...swap }, P],
  ["an alias alone", "edit", { file_path: P, oldText: "safe", newText: "good" }, P],
  ["an alias in edits alone", "edit", { path: P, edits: [{ oldText: "safe", newText: "good" }] }, P],
  ["Path", "edit", { path: P, Path: S, ...swap }],
  ["FILE_PATH", "edit", { path: P, FILE_PATH: S, ...swap }],
  ["a blank in the name", "edit", { path: P, "path ": S, ...swap }],
  ["an invisible letter in the name", "edit", { path: P, "pa\u200bth": S, ...swap }],
  ["a Cyrillic letter in the name", "edit", { path: P, раth: S, ...swap }],
  ["filePath", "edit", { path: P, filePath: S, ...swap }],
  ["paths", "edit", { path: P, paths: [S], ...swap }],
  [
    "__proto__",
    "edit",
    `{"path":"${P}","__proto__":{"path":"${S}"},"old_string":"safe","new_string":"good"}`,
  ],
  ["constructor", "edit", { path: P, constructor: S, ...swap }],
  ["toString as a name", "edit", { path: P, toString: S, ...swap }],
  [
    "a key that is there twice",
    "edit",
    `{"path":"${P}","path":"${S}","old_string":"safe","new_string":"good"}`,
    S,
  ],
  [
    "a key that is there twice, spelt with an escape",
    "edit",
    `{"path":"${P}","p\\u0061th":"${S}","old_string":"safe","new_string":"good"}`,
    S,
  ],
  ["a file that only looks like it", "edit", { path: "secret²", ...swap }],
  ["a file that looks like it by a no-break space", "edit", { path: "harmless\u00a0.txt", ...swap }],
  ["a list for a path", "edit", { path: [P, S], ...swap }],
  ["an object for a path", "edit", { path: { toString: S }, ...swap }],
  ["half of a character in a path", "write", { path: "a\ud800", content: "x" }],
  ["half of a character in content", "write", { path: P, content: "\udfff" }],
  ["a NUL in a path", "write", { path: `${P}\u0000.txt`, content: "x" }],
  ["a way round", "write", { path: `x/../${S}`, content: "x" }, S],
  ["file_path of write", "write", { path: P, file_path: S, content: "x" }],
  ["text of append", "append", { path: P, content: "x\n", text: "EVIL" }],
  ["file_path of append", "append", { path: P, file_path: S, content: "x\n" }],
  ["input of apply_patch", "apply_patch", { patch: "*** Begin Patch\n*** End Patch", input: "EVIL" }],
  [
    "another file within a patch",
    "apply_patch",
    { patch: `*** Begin Patch\n*** Update File: ${P}\n-safe here\n+good here\n*** End Patch`, path: S },
  ],
  ["overwrite as a text", "write", { path: P, content: "x", overwrite: "true" }, P],
  ["a node that is none", "write", { path: P, content: "x", node: "elsewhere" }],
  ["node twice", "write", `{"path":"${P}","content":"x","node":"elsewhere","node":null}`, P],
  ["cmd of bash", "bash", { command: "true", cmd: "touch evil" }],
  ["script of bash", "bash", { command: "true", script: "touch evil" }],
  ["a list for a command", "bash", { command: ["true", "; touch evil"] }],
  ["keys as a text", "bash", { command: "true", keys: '["touch evil"]' }],
  ["timeout and timeout_ms of bash", "bash", { command: "true", timeout_ms: 1_000, timeout: 9 }],
  ["timeout_ms as a text", "bash", { command: "true", timeout_ms: "1000" }],
  ["working folder of bash", "bash", { command: "true", cwd: "/" }],
  ["environment of bash", "bash", { command: "true", env: { LD_PRELOAD: "x" } }],
  ["include and glob", "grep", { pattern: "x", include: "*.md", glob: "*" }],
  ["ignore_case and ignoreCase", "grep", { pattern: "x", ignore_case: false, ignoreCase: true }],
  ["glob alone", "grep", { pattern: "x", glob: "*" }],
  ["units as a text", "services", { units: "ssh cron" }],
  ["a number for a camera", "snapshot", { camera: 1 }],
  ["defaults are shown", "snapshot", {}],
  ["words for a level", "gpio_write", { pin: 17, value: "off" }],
  ["a text for a pin", "gpio_write", { pin: "17", value: true }],
  ["range in capitals", "websearch", { query: "x", range: " D " }],
  ["an empty range", "websearch", { query: "x", range: "" }],
  ["a skill's default", "demo", { target: "a" }],
  ["a skill's other name", "demo", { target: "a", Target: "b" }],
  ["a skill's number as a text", "demo", { target: "a", level: "9" }],
  ["an MCP tool's two names", "srv_act", { path: P, file_path: S }],
  ["an MCP tool's number as a text", "srv_act", { n: "5" }],
  ["an MCP tool's __proto__", "srv_act", `{"n":1,"__proto__":{"n":2}}`],
  ["an MCP tool's nested values", "srv_act", { deep: { path: P, list: [{ file_path: S }] } }],
  ["minus zero", "plain", `{"n":-0}`],
  ["more than a number holds", "plain", `{"n":9007199254740993}`],
  ["an infinite number", "plain", `{"n":1e999}`],
  ["truth as a text", "plain", { on: "true" }],
  ["no arguments but null", "plain", { a: null }],
];

describe("S1 approval walk: what runs is what was shown", () => {
  test("has at least fifty attempts", () => {
    expect(ATTEMPTS.length).toBeGreaterThanOrEqual(50);
  });

  test.each(ATTEMPTS)("S1 %s (%s)", async (_, tool, args, mayChange) => {
    const got = await attempt(tool, args);
    if (got.shown === undefined) expect(got.result).toMatchObject({ status: "error" });
    // Compared as JSON, because it was shown in that form, in which -0 and 0 are one number.
    else expect(JSON.parse(JSON.stringify(got.ran))).toEqual(got.shown);
    expect(got.changed).toEqual(mayChange === undefined ? [] : [mayChange]);
    if (mayChange !== undefined)
      expect(realpathSync(join(ws, String(got.shown?.path)))).toBe(join(ws, mayChange));
    expect(JSON.stringify(got.after)).not.toContain("EVIL");
  });

  test("S1 the same id with other arguments, while it waits, does not change what runs", async () => {
    const other = { tool: "write", parameters: { path: S, content: "EVIL" } };
    const got = await attempt("write", { path: P, content: "good" }, async (request_id) => {
      await home.peer.command("eye", { command: "tool", payload: other, request_id, n: 2 });
    });
    expect(got.ran).toEqual({ path: P, content: "good" });
    expect(got.changed).toEqual([P]);
  });

  test("S1 the audit log has the arguments in the form in which they ran", async () => {
    const id = await home.tool("edit", { file_path: P, oldText: "safe", newText: "good" });
    const { question_id, approval } = await home.question(id);
    await home.answer(question_id, "approve", { hash: approval?.hash as string });
    await home.result(id);
    const found = await home.result(
      await home.send("get_metrics", { recent: 1 }, { principal: "anna", role: "owner" }),
    );
    expect(JSON.stringify(found)).toContain('"parameters":{"path":"harmless.txt","old_string":"safe"');
  });
});
