import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { madeHome } from "../../../test/made-home.ts";
import { call, post, rpc, tools } from "../../../test/mcp-requests.ts";
import { script } from "../../../test/scripted-model.ts";
import { TOKENS } from "../../../test/tokens.ts";
import { until } from "../../../test/wait.ts";
import { agent, ask, CPU, SIREN, say, TestBridge } from "../../../test/workerd.ts";
import { mediaId, newMedia } from "../../kernel/api/media.ts";
import { conversationOf } from "../../kernel/api/stubs.ts";
import { FileList } from "../../kernel/home/files/file-list.ts";

// The first request loads the Worker module by module, which takes longer without a bundle than a test may.
beforeAll(async () => void (await tools()), 30_000);

// The tests share the home.
beforeEach(async () => {
  await runInDurableObject(await madeHome("a"), (_, { storage }) => {
    storage.sql.exec("DELETE FROM file");
  });
});

/** A picture of one white pixel. */
const GIF = "R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==";
const PICTURE = { media_type: "image/gif", bytes: 42, data: GIF };
const FEATURES = ["tool", "prompt", "cancel", "ack", "question", "watch"];

type Resource = { uri: string; name: string; mimeType: string; size: number; description: string };
type Page = { resources: Resource[]; nextCursor?: string };
type Contents = { contents: Array<{ uri: string; mimeType: string; blob?: string; text?: string }> };

async function withCamera() {
  const bridge = await TestBridge.connect([agent("pi", { features: FEATURES, tools: [CPU, SIREN] })]);
  bridge.onCall = () => ({ status: "success", tool: "cpu", result: "seen", media: [PICTURE] });
  return bridge;
}

async function page(token: string = TOKENS.owner, params: object = {}): Promise<Page> {
  const { result, text } = await rpc("resources/list", params, { token });
  if (!result) throw new Error(text);
  return result as unknown as Page;
}

/** All pages, as a client walks them. */
async function all(token: string = TOKENS.owner): Promise<Resource[]> {
  const found: Resource[] = [];
  let cursor: string | undefined;
  do {
    const { resources, nextCursor } = await page(token, cursor === undefined ? {} : { cursor });
    found.push(...resources);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return found;
}

async function listed(count: number, token: string = TOKENS.owner): Promise<Resource[]> {
  return await until(async () => {
    const found = await all(token);
    return found.length === count ? found : undefined;
  });
}

async function read(uri: string, token: string = TOKENS.owner) {
  const { result, error } = await rpc("resources/read", { uri }, { token });
  return { contents: (result as unknown as Contents | undefined)?.contents, error };
}

const load = { calls: [{ arguments: { agent_id: "pi", action: "cpu" } }] };

describe("D1: resources", () => {
  test("a picture of a conversation is listed and read by those who may see it, and by no one else", async () => {
    await withCamera();
    await say("seen-1", script(load, { text: "there" }), { token: TOKENS.member });
    const [mine] = await listed(1, TOKENS.member);
    expect(mine).toMatchObject({ mimeType: "image/gif", size: 43, name: expect.stringMatching(/^pi cpu 2/) });
    const uri = mine?.uri ?? "";
    expect(uri).toMatch(/^https:\/\/gateway\/v1\/media\//);
    expect(await all(TOKENS.owner)).toEqual([mine]);
    expect(await all(TOKENS.admin)).toEqual([mine]);
    for (const token of [TOKENS.guest, TOKENS.approver, TOKENS.otherHome]) {
      expect(await page(token)).toEqual({ resources: [] });
      expect((await read(uri, token)).error).toMatchObject({ code: -32_602, data: { uri } });
      expect((await ask(new URL(uri).pathname, { token })).status).toBe(404);
    }
    for (const token of [TOKENS.owner, TOKENS.member])
      expect((await read(uri, token)).contents).toEqual([{ uri, mimeType: "image/gif", blob: GIF }]);

    const shares = (names: string[]) =>
      ask("/v1/conversations/seen-1/share", {
        method: "POST",
        body: JSON.stringify({ with: names }),
        token: TOKENS.member,
      });
    await shares(["gus"]);
    expect(await all(TOKENS.guest)).toEqual([mine]);
    expect((await read(uri, TOKENS.guest)).contents).toHaveLength(1);
    await shares([]);
    expect(await all(TOKENS.guest)).toEqual([]);

    await ask("/v1/conversations/seen-1", { method: "DELETE", token: TOKENS.member });
    expect(await all(TOKENS.owner)).toEqual([]);
    expect((await read(uri)).error?.code).toBe(-32_602);
  });

  test("a picture of an MCP call, and one of a command, which takes the scope `command`", async () => {
    await withCamera();
    const answer = await call("pi__cpu", {}, { token: TOKENS.member });
    expect(answer.content[1]).toEqual({ type: "image", data: GIF, mimeType: "image/gif" });
    const [mine] = await listed(1, TOKENS.member);
    expect((await read(mine?.uri ?? "", TOKENS.member)).contents).toMatchObject([{ blob: GIF }]);
    expect(await all(TOKENS.guest)).toEqual([]);
    const body = JSON.stringify({ command: "tool", payload: { tool: "cpu", parameters: {} } });
    const sent = await ask("/v1/agents/pi/commands?wait=5", { method: "POST", body, token: TOKENS.member });
    expect(sent.status, await sent.text()).toBeLessThan(300);
    const found = await listed(2, TOKENS.member);
    expect(found.map(({ mimeType }) => mimeType)).toEqual(["image/gif", "image/gif"]);
    for (const { uri } of found) expect((await read(uri)).contents).toMatchObject([{ blob: GIF }]);
  });

  test("a text file is read as text, by the URI that a result links to; bytes that are no UTF-8 as a blob", async () => {
    const bridge = await withCamera();
    const uploaded = async (id: string, data: Uint8Array) => {
      const place = `a/mcp/${id}`;
      const file = await newMedia(mediaId(crypto.randomUUID(), place), "text/csv", data);
      await conversationOf(env, place).keep(file, "mia");
      const { media_type, bytes, sha256 } = file;
      return { media_type, bytes, sha256, id: file.id };
    };
    const texts = [new TextEncoder().encode("a;b\nä;1\n"), new Uint8Array([0xff, 0xfe, 0x00])];
    bridge.onCall = ({ id }) => {
      void Promise.all(texts.map((data) => uploaded(id, data))).then((media) =>
        bridge.report(id, "pi", { status: "success", tool: "cpu", result: "seen", media }),
      );
      return undefined;
    };
    const answer = await call("pi__cpu", {}, { token: TOKENS.member });
    const links = answer.content.flatMap(({ type, uri }) => (type === "resource_link" ? [uri ?? ""] : []));
    const found = await listed(2, TOKENS.member);
    expect(found.map(({ uri }) => uri).toSorted()).toEqual(links.toSorted());
    expect((await read(links[0] ?? "", TOKENS.member)).contents).toEqual([
      { uri: links[0], mimeType: "text/csv", text: "a;b\nä;1\n" },
    ]);
    expect((await read(links[1] ?? "", TOKENS.member)).contents).toMatchObject([{ blob: "//4A" }]);
  });

  test("a device that names another's file gets no one to see it", async () => {
    const bridge = await withCamera();
    await say("secret", script(load, { text: "there" }));
    const [secret] = await listed(1);
    const stolen = {
      media_type: "image/gif",
      bytes: 42,
      sha256: "0".repeat(64),
      id: secret?.uri.split("/").at(-1),
    };
    bridge.onCall = () => ({ status: "success", tool: "cpu", result: "seen", media: [stolen] });
    await call("pi__cpu", {}, { token: TOKENS.member });
    expect(await all(TOKENS.member)).toEqual([]);
    expect(await all()).toHaveLength(1);
    expect((await read(secret?.uri ?? "", TOKENS.member)).error).toBeDefined();
  });

  test("pages: each file once, the newest first, and no row that the caller may not see is in a cursor", async () => {
    await runInDurableObject(await madeHome("a"), (_, { storage }) => {
      const list = new FileList(storage);
      for (let at = 0; at < 230; at += 1) {
        const id = mediaId(crypto.randomUUID(), `a/api/${at}`);
        const file = { id, media_type: "image/png", bytes: 1, at, endsAt: Date.now() + 60_000 };
        list.add({
          files: [{ ...file, agent: `pi${at}`, action: "cpu" }],
          by: at % 2 === 0 ? "mia" : "anna",
        });
      }
    });
    const mine = await all(TOKENS.member);
    expect(mine.map(({ name }) => Number(/^pi(\d+)/.exec(name)?.[1]))).toEqual(
      Array.from({ length: 115 }, (_, n) => 228 - 2 * n),
    );
    expect(new Set((await all()).map(({ uri }) => uri)).size).toBe(230);
    const { nextCursor = "" } = await page(TOKENS.member);
    const last = mine[49]?.uri.split("/").at(-1);
    expect(atob(nextCursor.replaceAll("-", "+").replaceAll("_", "/"))).toBe(`130 ${last}`);
    // An empty cursor and null are the first page.
    for (const cursor of ["", null])
      expect((await page(TOKENS.member, { cursor })).resources[0]).toEqual(mine[0]);
    for (const cursor of ["x", "!", btoa("1"), "9".repeat(500)])
      expect((await rpc("resources/list", { cursor })).error).toMatchObject({
        code: -32_602,
        message: expect.stringContaining("cursor"),
      });
  });

  test("what has ended is not listed, and 2,000 are the most that a home keeps", async () => {
    await runInDurableObject(await madeHome("a"), (_, { storage }) => {
      const list = new FileList(storage);
      const now = Date.now();
      const file = (at: number, endsAt: number) => ({
        ...{ id: mediaId(crypto.randomUUID(), "a/api/x"), media_type: "image/png", bytes: 1, at, endsAt },
        ...{ agent: "pi", action: null },
      });
      const viewer = { name: "anna", role: "owner", scopes: ["ask"] } as const;
      const count = () => list.page(viewer, new Set(), "a", { limit: 10_000 }, now).length;
      list.add({ files: [file(1, now - 1), file(2, now + 1)], by: "anna" });
      expect(count()).toBe(1);
      list.add({ files: Array.from({ length: 2_100 }, (_, at) => file(at + 3, now + 1)), by: "anna" });
      list.prune(now);
      expect(storage.sql.exec("SELECT COUNT(*) AS n, MIN(at) AS first FROM file").one()).toEqual({
        n: 2_000,
        first: 103,
      });
      expect(count()).toBe(2_000);
    });
  });

  test("a file that its conversation dropped is told as gone, and leaves the list", async () => {
    const id = mediaId(crypto.randomUUID(), "a/api/dropped");
    await runInDurableObject(await madeHome("a"), (_, { storage }) =>
      new FileList(storage).add({
        files: [
          {
            id,
            media_type: "image/png",
            bytes: 1,
            at: 1,
            endsAt: Date.now() + 60_000,
            agent: "pi",
            action: null,
          },
        ],
        by: "anna",
      }),
    );
    const [gone] = await listed(1);
    expect((await read(gone?.uri ?? "")).error?.message).toContain("resources/list");
    await listed(0);
  });

  test.each([
    "",
    "x",
    "file:///etc/passwd",
    "https://gateway/v1/media/",
    "https://gateway/v1/media/../tokens",
  ])("'%s' is no resource, and the error has it", async (uri) => {
    expect((await read(uri)).error).toMatchObject({ code: -32_602, data: { uri } });
  });

  test("in every revision, resources are announced, and lists without an entry answer", async () => {
    const revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"];
    for (const revision of revisions) {
      const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "t", version: "1" } };
      const { messages } = await post({ jsonrpc: "2.0", id: 1, method: "initialize", params });
      expect(messages[0]?.result).toMatchObject({ capabilities: { tools: {}, resources: {} } });
      const headers = { "mcp-protocol-version": revision };
      for (const [method, list] of [
        ["resources/list", "resources"],
        ["resources/templates/list", "resourceTemplates"],
        ["prompts/list", "prompts"],
      ] as const)
        expect((await rpc(method, {}, { headers })).result).toEqual({ [list]: [] });
    }
  });
});
