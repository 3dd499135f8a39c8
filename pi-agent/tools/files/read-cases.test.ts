import { chmodSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { asNobody, casesOf, expectCase, placeOf } from "../../testing/cases.ts";
import { read } from "./read.ts";

const toolIn = (folder: string) => read({ files: localFiles({ cwd: folder }) });

for (const one of casesOf("read", "read")) {
  // Only root can run as another user.
  const tags = one.input.as === undefined ? [] : ["needs/root"];
  test(`${one.id}: ${one.title}`, { tags }, async () => {
    const folder = placeOf(one);
    const { as, ...args } = one.input;
    if (as !== undefined) {
      chmodSync(folder, 0o755);
      expectCase(one.expect, { ...readAsNobody(folder, args), folder });
      return;
    }
    const { text, code, result } = await callTool(toolIn(folder), args);
    expectCase(one.expect, { text, code, folder });
    const { blocks, imageMime, truncated, truncation } = one.expect;
    if (blocks) expect(result.content.map(({ type }) => type)).toEqual(blocks);
    if (imageMime) expect(result.content).toContainEqual(expect.objectContaining({ mediaType: imageMime }));
    if (truncated === false) expect(text).not.toContain("[Showing");
    if (truncation) {
      const { totalLines, outputLines } = truncation as { totalLines: number; outputLines: number };
      expect(result.details).toMatchObject({ first: 1, last: outputLines, lines: totalLines });
    }
  });
}

function readAsNobody(folder: string, args: Record<string, unknown>): { text: string; code: string } {
  const at = (path: string) => JSON.stringify(join(dirname(dirname(import.meta.dirname)), path));
  return asNobody(`
    import { callTool } from ${at("testing/call.ts")};
    import { localFiles } from ${at("env/local-files.ts")};
    import { read } from ${at("tools/files/read.ts")};
    const tool = read({ files: localFiles({ cwd: ${JSON.stringify(folder)} }) });
    const { text, code } = await callTool(tool, ${JSON.stringify(args)});
    console.log(JSON.stringify({ text, code }));`) as { text: string; code: string };
}

/**
 * Our choice: one window, by lines. Line numbers before each line cost a tenth of the tokens, and edit and apply_patch
 * find their place by text; bytes of a file are for bash (`xxd`, `tail -c`).
 */
describe("modes that are not offered are refused, and the offered ones named", () => {
  for (const one of casesOf("read", "read_numbered", "read_bytes")) {
    test(one.id, async () => {
      const { path: _, maxBytes: __, ...args } = one.input;
      const { code, text } = await callTool(toolIn(placeOf(one)), { ...one.input, ...args });
      expect(code).toBe("invalid_params");
      expect(text).toContain("Required: [path]. Optional: [offset, limit].");
    });
  }
});
