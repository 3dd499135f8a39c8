import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { script } from "../../../../test/scripted-model.ts";
import { TOKENS } from "../../../../test/tokens.ts";
import { until } from "../../../../test/wait.ts";
import { type Answer, agent, ask, CPU, say, TestBridge } from "../../../../test/workerd.ts";
import { conversationOfMedia, mediaId, newMedia } from "../../api/media.ts";
import { migrate } from "../../migrate.ts";
import { MediaStore } from "./media.ts";
import { CONVERSATION_MIGRATIONS } from "./schema.ts";

const FEATURES = ["tool", "prompt", "cancel", "ack", "upload"];
const CAMERA = { ...CPU, name: "snapshot", description: "Takes a picture", taints: true };
const look = { calls: [{ arguments: { agent_id: "eye", action: "snapshot" } }] };

type Shown = Answer & {
  calls: Array<{ media?: Array<{ id: string; media_type: string; bytes: number; sha256: string }> }>;
};

/** Bytes that begin like a JPEG and never repeat, so that a lost or swapped part is noticed. */
function picture(bytes: number): Uint8Array {
  const data = new Uint8Array(bytes);
  for (let at = 0; at < bytes; at += 1) data[at] = (at * 31 + (at >> 8)) & 0xff;
  data.set([0xff, 0xd8, 0xff, 0xe0]);
  return data;
}

function base64(data: Uint8Array): string {
  let text = "";
  for (const byte of data) text += String.fromCharCode(byte);
  return btoa(text);
}

async function camera() {
  const bridge = await TestBridge.connect([agent("eye", { features: FEATURES, tools: [CAMERA] })]);
  return bridge;
}

/** Returns the gateway's answer to a device that wants to upload. */
async function uploadFor(bridge: TestBridge, call: string, data: Uint8Array, mediaType = "image/jpeg") {
  const upload_id = crypto.randomUUID();
  const { sha256 } = await newMedia("", mediaType, data);
  const payload = {
    type: "upload",
    request_id: call,
    upload_id,
    media_type: mediaType,
    bytes: data.length,
    sha256,
  };
  bridge.send({ t: "event", id: call, agent: "eye", payload: JSON.stringify(payload) });
  const told = await until(() =>
    bridge.received
      .flatMap((frame) => (frame.t === "publish" ? [JSON.parse(frame.payload)] : []))
      .find((command) => command.command === "upload" && command.payload.upload_id === upload_id),
  );
  return { ...(told.payload as { url: string; token: string; id: string; refused?: string }), sha256 };
}

const put = (upload: { url: string; token: string }, body: Uint8Array) =>
  ask(new URL(upload.url).pathname, {
    method: "PUT",
    token: upload.token,
    body: body as Uint8Array<ArrayBuffer>,
  });

describe("a picture within a report", () => {
  test("is stored, shown to the model after the batch, and served to the conversation's readers", async () => {
    const bridge = await camera();
    const data = picture(30_000);
    bridge.onCall = () => ({
      status: "success",
      result: "640x480",
      media: [{ media_type: "image/jpeg", bytes: data.length, data: base64(data) }],
    });
    const { body } = await say("inline", script(look, { text: "seen: $pictures / $results" }));
    const [call] = (body as Shown).calls;
    const [media] = call?.media ?? [];
    expect(media).toMatchObject({ media_type: "image/jpeg", bytes: 30_000 });
    expect(body.answer).toMatch(
      /^seen: data:image\/jpeg 400\d\d \/ 640x480\n\[image\/jpeg, 30 KB, \/v1\/media\//,
    );
    expect(JSON.stringify(body)).not.toContain(base64(data).slice(0, 100));

    const served = await ask(`/v1/media/${media?.id}`);
    expect(served.headers.get("content-type")).toBe("image/jpeg");
    expect(served.headers.get("content-security-policy")).toContain("sandbox");
    expect(served.headers.get("x-content-type-options")).toBe("nosniff");
    expect(new Uint8Array(await served.arrayBuffer())).toEqual(data);
    const again = await ask(`/v1/media/${media?.id}`, {
      headers: { "if-none-match": served.headers.get("etag") ?? "" },
    });
    expect(again.status).toBe(304);
    // Another home's token finds nothing there, and a request without a token neither.
    expect((await ask(`/v1/media/${media?.id}`, { token: TOKENS.otherHome })).status).toBe(404);
    expect((await ask(`/v1/media/${media?.id}`, { token: null })).status).toBe(401);
    // A later turn's model still sees it; after the conversation is deleted it is gone.
    expect((await say("inline", script({ text: "$pictures" }))).body.answer).toContain("data:image/jpeg");
    await ask("/v1/conversations/inline", { method: "DELETE" });
    expect((await ask(`/v1/media/${media?.id}`)).status).toBe(404);
  });

  test("is left out when its content does not match its type, and the answer stays", async () => {
    const bridge = await camera();
    bridge.onCall = () => ({
      status: "success",
      result: "three",
      media: [
        { media_type: "image/svg+xml", bytes: 10, data: "PHN2Zz4=" },
        { media_type: "image/png", bytes: 10, data: "not base64!" },
        {
          id: `${crypto.randomUUID()}.YXBpL290aGVy`,
          media_type: "image/png",
          bytes: 9,
          sha256: "0".repeat(64),
        },
      ],
    });
    const { body } = await say("odd", script(look, { text: "$results" }));
    expect(body.answer).toBe("three\n[image/png of 9 bytes: it did not arrive]");
    expect((body as Shown).calls[0]?.media).toBeUndefined();
  });
});

describe("an upload", () => {
  test("of 1.5 MB reaches the conversation, the model and the person, over an abort of everything", async () => {
    const bridge = await camera();
    const data = picture(1_500_000);
    const turn = say("large", script(look, { text: "$pictures" }));
    const [call] = await until(() => (bridge.calls().length > 0 ? bridge.calls() : undefined));
    const upload = await uploadFor(bridge, call?.id ?? "", data);
    expect(upload.url).toMatch(/^https:\/\/gateway\/v1\/media\//);
    expect((await put(upload, data)).status).toBe(204);
    // The device got no answer and sends it again.
    expect((await put(upload, data)).status).toBe(204);
    await abortAllDurableObjects();
    const anew = await camera();
    const { id, sha256 } = upload;
    const media = [{ id, media_type: "image/jpeg", bytes: data.length, sha256 }];
    anew.report(call?.id ?? "", "eye", { status: "success", result: "large", media });
    const { body } = await turn;
    expect(body.answer).toMatch(/^data:image\/jpeg 20000\d\d$/);
    const served = await ask(`/v1/media/${(body as Shown).calls[0]?.media?.[0]?.id}`);
    expect(new Uint8Array(await served.arrayBuffer())).toEqual(data);
  });

  test("is valid only for these bytes, this place and five minutes", async () => {
    const bridge = await camera();
    const turn = say("narrow", script(look, { text: "$results" }));
    const [call] = await until(() => (bridge.calls().length > 0 ? bridge.calls() : undefined));
    const data = picture(1_000);
    const upload = await uploadFor(bridge, call?.id ?? "", data);
    expect((await put(upload, picture(999))).status).toBe(400);
    expect((await put(upload, picture(1_001))).status).toBe(413);
    const other = { ...upload, url: upload.url.replace(/media\/.{8}/, "media/00000000") };
    expect((await put(other, data)).status).toBe(401);
    const forged = { ...upload, token: upload.token.slice(0, -4).concat("AAAA") };
    expect((await put(forged, data)).status).toBe(401);
    expect((await put({ ...upload, token: TOKENS.owner }, data)).status).toBe(401);
    // The token is also not valid for anything else.
    expect((await ask("/v1/agents", { token: upload.token })).status).toBe(401);
    expect((await put(upload, data)).status).toBe(204);
    bridge.report(call?.id ?? "", "eye", { status: "success", result: "ok" });
    expect((await turn).body.answer).toBe("ok");
  });

  test("that is too large, or of another agent's call, is refused", async () => {
    const bridge = await camera();
    const turn = say("refused", script(look, { text: "$results" }));
    const [call] = await until(() => (bridge.calls().length > 0 ? bridge.calls() : undefined));
    const big = { length: 9 * 1024 * 1024 } as Uint8Array;
    const payload = {
      type: "upload",
      request_id: call?.id,
      upload_id: crypto.randomUUID(),
      media_type: "video/mp4",
      bytes: big.length,
      sha256: "0".repeat(64),
    };
    const told = () =>
      bridge.received.flatMap((frame) =>
        frame.t === "publish" && frame.payload.includes('"upload"')
          ? [JSON.parse(frame.payload).payload]
          : [],
      );
    bridge.send({ t: "event", id: call?.id ?? "", agent: "mallory", payload: JSON.stringify(payload) });
    bridge.send({ t: "event", id: call?.id ?? "", agent: "eye", payload: JSON.stringify(payload) });
    await until(() => told().length > 0);
    expect(told()).toEqual([
      { upload_id: payload.upload_id, refused: "9437184 bytes, and one file may have 8388608" },
    ]);
    bridge.report(call?.id ?? "", "eye", { status: "success", result: "ok" });
    await turn;
  });

  test("for a command from the API is stored too, for callers who may command", async () => {
    const bridge = await camera();
    const data = new TextEncoder().encode("<h1>hello</h1><script>alert(1)</script>");
    const command = ask("/v1/agents/eye/commands", {
      method: "POST",
      body: JSON.stringify({ command: "tool", payload: { tool: "snapshot", parameters: {} } }),
    });
    const [call] = await until(() => (bridge.calls().length > 0 ? bridge.calls() : undefined));
    const upload = await uploadFor(bridge, call?.id ?? "", data, "text/html");
    expect((await put(upload, data)).status).toBe(204);
    const { id, sha256 } = upload;
    const media = [{ id, media_type: "text/html", bytes: data.length, sha256 }];
    bridge.report(call?.id ?? "", "eye", { status: "success", result: "a page", media });
    const report = (await (await command).json()) as { payload: { media: Array<{ id: string }> } };
    const served = await ask(`/v1/media/${report.payload.media[0]?.id}`);
    expect(await served.text()).toContain("<h1>hello</h1>");
    expect(served.headers.get("content-security-policy")).toMatch(/^sandbox; default-src 'none'/);
  });
});

test("a person's picture is stored as such, and an invalid one is refused by name", async () => {
  const url = `data:image/png;base64,${base64(picture(200_000))}`;
  const text = script({ text: "$pictures" });
  const { body } = await say("person", text, { body: JSON.stringify({ text, images: [url] }) });
  expect(body.answer).toBe(`data:image/png ${url.length}`);
  const rows = await runInDurableObject(env.CONVERSATION.getByName("a/api/person"), (_, { storage }) =>
    storage.sql
      .exec<{ images: string }>(
        "SELECT body ->> '$.images' AS images FROM entry WHERE kind = 'begin' AND images IS NOT NULL",
      )
      .toArray(),
  );
  expect(rows[0]?.images.length).toBeLessThan(200);
  const odd = await say("person", "x", {
    body: JSON.stringify({ text: "x", images: ["data:image/png;base64,abcde"] }),
  });
  expect([odd.status, odd.body.error?.message]).toEqual([400, "images: a data: URL holds no base64"]);
});

test("stored files are deleted by age and by size, the oldest first, and no row exceeds 512 KiB", async () => {
  const stub = env.CONVERSATION.getByName(`a/api/${crypto.randomUUID()}`);
  await runInDurableObject(stub, async (_, { storage }) => {
    migrate(storage, CONVERSATION_MIGRATIONS);
    const limited = { ...env, MEDIA_KEEP_DAYS: "1", MEDIA_KEEP_MB: "3" };
    const store = new MediaStore(storage, limited, "a/api/x");
    const ids = [0, 1, 2].map(() => mediaId(crypto.randomUUID(), "a/api/x"));
    for (const [at, id] of ids.entries()) {
      store.add(await newMedia(id, "image/png", picture(1_200_000)));
      storage.sql.exec("UPDATE media SET created_at = created_at - ? WHERE id = ?", 10_000 * (3 - at), id);
    }
    // Three of 1.2 MB exceed 3 MiB: the third displaced the first.
    expect(ids.map((id) => store.has(id))).toEqual([false, true, true]);
    const { largest } = storage.sql
      .exec<{ largest: number }>("SELECT MAX(length(data)) AS largest FROM media_part")
      .one();
    expect(largest).toBe(512 * 1024);
    storage.sql.exec("UPDATE media SET created_at = created_at - 86400000 WHERE id = ?", ids[1] ?? "");
    expect(store.nextExpiry()).toBeLessThanOrEqual(Date.now());
    store.trim();
    expect(ids.map((id) => store.has(id))).toEqual([false, false, true]);
    expect(storage.sql.exec("SELECT DISTINCT media FROM media_part").toArray()).toHaveLength(1);
  });
});

test("an id contains its conversation, and no other text is accepted as an id", () => {
  const id = mediaId(crypto.randomUUID(), "a/api/kitchen.1");
  expect(conversationOfMedia(id)).toEqual({ channel: "api", conversation: "kitchen.1" });
  for (const text of ["", "api", "api/../x/", "API/x", "api/x/y"])
    expect(conversationOfMedia(`u.${btoa(text)}`)).toBeUndefined();
});
