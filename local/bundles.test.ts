import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { decodeHTML, encodeHTML } from "entities";
import { expect, onTestFinished, test, vi } from "vitest";
import { bundleAgent, bundleBridge, bundleCommand, bundleWorker } from "./bundles.ts";
import { builtConsole } from "./console-files.ts";

test("the released agent has its tools, and none of those for tests", async () => {
  const code = await bundleAgent();
  expect(code).toContain("Run a shell command");
  // Each of them has these words in its description.
  expect(code).not.toContain("For tests only");
  expect(code).not.toContain("EDGECALL_TEST_TOOLS is");
  expect(code).not.toMatch(/vitest|startScriptedModel|PI_ZERO/);
});

test.each([bundleAgent, bundleBridge, bundleCommand])("%o makes a program of ASCII alone", async (bundle) => {
  // With one other character V8 keeps all of it in two bytes a character.
  expect((await bundle()).match(/[^\0-\x7f]/g)).toBeNull();
});

test("only a bundle for tests has the short times, whatever the environment says", async () => {
  vi.stubEnv("EDGECALL_TEST_CLOCK", "short");
  onTestFinished(() => void vi.unstubAllEnvs());
  const timesOf = async (options: object) => {
    const code = await bundleWorker({ entry: "core/test-clock.ts", ...options });
    const { windowMs } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
    return windowMs(30_000, 1_000);
  };
  expect(await timesOf({})).toBe(30_000);
  expect(await timesOf({ minify: true })).toBe(30_000);
  expect(await timesOf({ testClock: true })).toBe(1_000);
});

test("the MCP server in the Worker is our own", async () => {
  // The SDK's would be 60 KiB of gzip.
  expect(await bundleWorker()).not.toContain("@modelcontextprotocol/server");
});

test("the Worker knows HTML's names of characters once it is given their file, and numbers before", async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-names-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = (name: string) => JSON.stringify(fileURLToPath(new URL(`../${name}`, import.meta.url)));
  const entry = join(folder, "entry.ts");
  writeFileSync(
    entry,
    `export { giveCharacterNames } from ${path("core/web/character-names.ts")};
     export { htmlToMarkdown } from ${path("core/web/html-markdown.ts")};
     export { markdownContent } from ${path("worker/features/chat/platforms/format/parse.ts")};`,
  );
  const code = await bundleWorker({ entry });
  const { giveCharacterNames, htmlToMarkdown, markdownContent } = await import(
    `data:text/javascript,${encodeURIComponent(code)}`
  );
  const pageOf = (html: string) => htmlToMarkdown(`<pre>${html}</pre>`, undefined, 1_000_000).text;
  const answerOf = (markdown: string) => markdownContent(markdown).blocks[0].runs[0].text;
  const written = "&#233;&#x1F600;&eacute;&amp;&nGt;&notit";
  expect(pageOf(written)).toContain("é😀&eacute;&amp;&nGt;&notit");
  expect(answerOf(written)).toBe("é😀&eacute;&amp;&nGt;&notit");
  const { files } = await builtConsole();
  giveCharacterNames(JSON.parse(files["character-names.json"] ?? ""));
  expect(pageOf(written)).toContain("é😀é&≫⃒¬it");
  expect(answerOf(written)).toBe("é😀é&≫⃒&notit");
  const named = Array.from({ length: 0x1_fa00 }, (_, code) => encodeHTML(String.fromCodePoint(code)));
  const names = named.filter((name) => /^&[A-Za-z]/.test(name)).join(" ");
  expect(names.split(" ").length).toBeGreaterThan(1_000);
  expect(pageOf(names)).toContain(decodeHTML(names).trim());
});

test.each(["worker/kernel/home/schema.ts", "worker/kernel/conversation/store/schema.ts"])(
  "the tables of %s are the same without the comments that the upload leaves out",
  async (entry) => {
    const [commented, plain] = await Promise.all(
      [false, true].map(async (minify) => await tablesOf(await bundleWorker({ entry, minify }))),
    );
    expect(plain?.sql).not.toContain("--");
    expect(plain?.sql.length).toBeLessThan((commented?.sql.length ?? 0) * 0.8);
    expect(plain?.columns.length).toBeGreaterThan(10);
    expect(plain?.columns).toEqual(commented?.columns);
  },
);

/** Runs the migrations of a bundled schema. @returns their SQL, and what each table and index then has */
async function tablesOf(code: string): Promise<{ sql: string; columns: unknown[] }> {
  const schema: Record<string, unknown> = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const [migrations = []] = Object.values(schema).filter((value) => Array.isArray(value));
  const sql = migrations.map((migration: { sql: string }) => migration.sql).join(";\n");
  const database = new DatabaseSync(":memory:");
  database.exec(sql);
  const columns = database
    .prepare(
      `SELECT schema.type, schema.name, info.name AS "column", info.type AS of, info."notnull", info.dflt_value, info.pk
       FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS info ORDER BY schema.name, info.cid`,
    )
    .all();
  database.close();
  return { sql, columns };
}
