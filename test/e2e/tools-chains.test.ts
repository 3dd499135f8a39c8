/** Chains of tools, in which one uses the result of another: in the device's own loop and as actions. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Step, script } from "../scripted-model.ts";
import { action, ownLoop, RESULTS, tool } from "./edge-calls.ts";
import type { Turn } from "./gateway-client.ts";
import { noGit } from "./peers.ts";
import { makeRepository } from "./repository.ts";
import { startSearchService } from "./search-service.ts";
import { useStack } from "./stack.ts";

const web = await startSearchService();
afterAll(() => web.close());

const ALLOWED = { file_write: "allow", shell: "allow", git: "allow", network: "allow" };

const vars = { GATEWAY_TOOLS: "websearch", BRAVE_API_KEY: web.key, BRAVE_BASE_URL: `${web.url}/res/v1` };

const stack = useStack({ vars }, async (stack) => {
  await stack.startAgent({ id: "pi", model: true, top: { policy: ALLOWED, tools: web.settings } });
  await stack.gateway.online("pi");
  if (noGit === undefined) makeRepository(stack.workspaceOf("pi"));
});

type Calls = ReadonlyArray<readonly [name: string, args: Record<string, unknown>]>;

const byItself = (calls: Calls): Step[] => [
  ownLoop("pi", ...calls.map(([name, args]) => tool(name, args)), RESULTS),
];
const asActions = (calls: Calls): Step[] => calls.map(([name, args]) => action("pi", name, args));

for (const [way, name, steps] of [
  ["the device's own loop", "by-itself", byItself],
  ["edge_call actions", "as-actions", asActions],
] as const) {
  /** Returns the tools' results, in order. */
  const play = async (calls: Calls): Promise<string[]> =>
    (await stack.gateway.ask(script(...steps(calls), RESULTS))).answer?.split(" | ") ?? [];

  describe(way, () => {
    test("file + git: a file is written, committed, and in the log", {
      tags: ["needs/git", "needs/bubblewrap"],
    }, async () => {
      const path = `notes/${name}.md`;
      const results = await play([
        ["write", { path, content: "water the tomatoes\n" }],
        ["git_commit", { message: `Note, ${name}`, paths: [path] }],
        ["git_log", { max_count: 1 }],
        ["git_diff", { commit: "HEAD" }],
        ["read", { path }],
      ]);
      expect(results).toEqual([
        `Created ${path} (19B).`,
        expect.stringMatching(`^\\[main \\w+\\] Note, ${name}\n 1 file changed, 1 insertion`),
        expect.stringMatching(
          `^commit \\w{40} \\(HEAD -> main\\)\nAuthor: edgecall agent .*\n.*\n\n +Note, ${name}\n$`,
        ),
        expect.stringMatching(`\\+\\+\\+ b/${path}\n@@ -0,0 \\+1 @@\n\\+water the tomatoes\n$`),
        "water the tomatoes\n",
      ]);
    });

    test("web search + write: what was found is written after a person approved", async () => {
      const path = `tides-${name}.txt`;
      const calls = [
        ["websearch", { query: `tides ${name}`, count: 1 }],
        ["write", { path, content: "High water at 14:32." }],
      ] as const;
      const turn = await approved(path, script(...steps(calls), RESULTS));
      expect(turn.answer?.split(" | ")).toEqual([
        expect.stringContaining(
          `\n1. About tides ${name}\nhttps://tides.example/today\nHigh water at 14:32.\n`,
        ),
        `Created ${path} (20B).`,
      ]);
      expect(web.requests).toContainEqual(
        expect.stringContaining(`/res/v1/web/search?q=tides+${name}&count=1&`),
      );
    });

    test("bash + read: the file that a command made is read", { tags: ["needs/bubblewrap"] }, async () => {
      const path = `made-${name}.txt`;
      const results = await play([
        ["bash", { command: `seq 3 > ${path} && wc -l < ${path}` }],
        ["read", { path, offset: 2 }],
      ]);
      expect(results).toEqual(["3\n", "2\n3\n"]);
    });
  });
}

test("the gateway's web search + the device's write", async () => {
  const search = tool("websearch", { query: "tides of the gateway" });
  const path = "tides-gateway.txt";
  const turn = await approved(
    path,
    script(search, action("pi", "write", { path, content: "High water at 14:32." }), RESULTS),
  );
  expect(turn.calls).toMatchObject([
    { name: "websearch", status: "success" },
    { agent: "pi", action: "write", status: "success" },
  ]);
  expect(turn.answer).toContain("1. About tides of the gateway\n");
});

/**
 * Asks, checks that the file is missing until a person approves the write, and approves. The device's policy allows
 * writing, but by then the conversation contains a stranger's text.
 */
async function approved(path: string, question: string): Promise<Turn> {
  const file = join(stack.workspaceOf("pi"), path);
  const conversation = crypto.randomUUID();
  const asked = stack.gateway.ask(question, conversation);
  const { id, approval } = await stack.gateway.question(conversation);
  expect(approval).toMatchObject({
    tool: "write",
    parameters: { path },
    reason: expect.stringContaining("the conversation holds a stranger's text"),
  });
  expect(existsSync(file)).toBe(false);
  expect(await stack.gateway.answer(id, "approve")).toBe(200);
  const turn = await asked;
  expect(readFileSync(file, "utf8")).toBe("High water at 14:32.");
  return turn;
}

test("every history that the models received is valid", () => {
  expect(stack.model.breaches).toEqual([]);
});
