import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MEDIA_MAX_BYTES } from "@edgecall/core/protocol/media.ts";
import { type ToolResult, textOf } from "@edgecall/core/tools/contract.ts";
import { inlinePicture } from "@edgecall/core/tools/inline.ts";
import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { runTool } from "@edgecall/core/tools/runner.ts";
import { beforeEach, expect, test } from "vitest";
import { localFiles } from "../../env/local-files.ts";
import { callTool } from "../../testing/call.ts";
import { house } from "../../testing/house.ts";
import { canvas, HTML_MAX_BYTES } from "./canvas.ts";

const JPEG = [0xff, 0xd8, 0xff, 0xe0];
let folder: string;
let kept: Array<{ bytes: Uint8Array; mediaType: string }>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgecall-canvas-"));
  mkdirSync(join(folder, "work"));
  kept = [];
  return () => rmSync(folder, { recursive: true, force: true });
});

const tool = () => canvas({ files: localFiles({ cwd: join(folder, "work") }) });
const put = (name: string, bytes: Uint8Array) => writeFileSync(join(folder, "work", name), bytes);

/** With a gateway: what fits is in the report, and anything else is stored there. */
async function call(args: Record<string, unknown>): Promise<ToolResult> {
  const { result } = await runTool(new ToolRegistry([tool()]), {
    callId: "c",
    name: "canvas",
    args,
    caller: { principal: "anna", role: "owner", channel: "test" },
    artifact: async (bytes, mediaType) => {
      const picture = inlinePicture(bytes, mediaType);
      if (picture) return picture;
      kept.push({ bytes, mediaType });
      return { type: "artifact", id: `id-${kept.length}`, mediaType, bytes: bytes.length, sha256: "0" };
    },
  });
  return result;
}

test("an HTML fragment becomes a page, and the person gets its address", async () => {
  const result = await call({ html: "<p>21 °C", title: "Tom & <Jerry>" });
  expect(result.forUser).toBe("Tom & <Jerry>: /v1/media/id-1");
  expect(textOf(result)).toContain("at /v1/media/id-1. Give the user that address.");
  expect(kept[0]?.mediaType).toBe("text/html");
  const page = new TextDecoder().decode(kept[0]?.bytes);
  expect(page).toMatch(/^<!doctype html><meta charset="utf-8">.*<title>Tom &amp; &lt;Jerry><\/title>/);
  expect(page).toMatch(/<p>21 °C$/);
});

test("a whole page is unchanged", async () => {
  const html = "\n<!DOCTYPE html><title>Mine</title><p>x";
  await call({ html, title: "t" });
  expect(new TextDecoder().decode(kept[0]?.bytes)).toBe(html);
});

test("the model is told that scripts do not run", async () => {
  for (const html of ["<script>draw()</script>", "<img src=x onerror = draw()>"])
    expect(textOf(await call({ html, title: "t" }))).toContain("[Scripts in it do not run.");
  expect(textOf(await call({ html: "<p>on = off", title: "t" }))).not.toContain("Scripts");
});

test("a picture is shown: a small one is in the report, a large one is stored", async () => {
  put("small.jpg", Uint8Array.from([...JPEG, 1, 2, 3]));
  put("large.png", Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(100_000)]));
  const small = await call({ path: "small.jpg", title: "The door" });
  expect(small).toMatchObject({
    forUser: "The door",
    content: [{}, { type: "image", mediaType: "image/jpeg" }],
  });
  const large = await call({ path: "large.png", title: "The roof" });
  expect(large).toMatchObject({
    forUser: "The roof: /v1/media/id-1",
    content: [{}, { mediaType: "image/png" }],
  });
});

test("a file that is too large, no picture, outside or missing is refused in words", async () => {
  put("notes.txt", Buffer.from("hello"));
  put("huge.jpg", Buffer.concat([Buffer.from(JPEG), Buffer.alloc(MEDIA_MAX_BYTES)]));
  writeFileSync(join(folder, "secret.jpg"), Uint8Array.from(JPEG));
  symlinkSync(join(folder, "secret.jpg"), join(folder, "work", "link.jpg"));
  const codes: Array<[Record<string, unknown>, string]> = [
    [{ path: "notes.txt" }, "invalid_params"],
    [{ path: "huge.jpg" }, "too_large"],
    [{ path: "none.jpg" }, "not_found"],
    [{ path: "../secret.jpg" }, "access_denied"],
    [{ path: "link.jpg" }, "access_denied"],
    [{ html: "ü".repeat(HTML_MAX_BYTES / 2 + 1) }, "too_large"],
    [{ html: "a".repeat(HTML_MAX_BYTES + 1) }, "invalid_params"],
    [{ html: "<p><IFRAME src=//x.example>" }, "invalid_params"],
    [{ html: "<svg><foreignObject><object/data=//x.example>" }, "invalid_params"],
    [{ html: "<p>", path: "notes.txt" }, "invalid_params"],
    [{}, "invalid_params"],
  ];
  for (const [args, code] of codes) {
    const { fault } = await call({ title: "t", ...args });
    expect(fault?.code, JSON.stringify(args).slice(0, 60)).toBe(code);
  }
  expect(kept).toEqual([]);
});

test("without a gateway no page is stored, and the model is told", async () => {
  const { code, text } = await callTool(tool(), { html: "<p>x", title: "t" });
  expect(code).toBe("unavailable");
  expect(text).toContain("there is no gateway here to bring it to");
});

test("a picture counts as a stranger's, and the report says so; a page that the model wrote does not", async () => {
  put("cat.jpg", new Uint8Array(JPEG));
  const home = await house();
  try {
    await home.start({ tools: [tool()] });
    const told = async (args: Record<string, unknown>) =>
      (await home.result(await home.tool("canvas", { title: "t", ...args }))).tainted;
    expect(await told({ path: "cat.jpg" })).toBe(true);
    // Refused, because no gateway could store it; that does not change whose words they are.
    expect(await told({ html: "<iframe>" })).toBe(false);
  } finally {
    await home.stop();
  }
});
