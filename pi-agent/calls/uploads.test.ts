import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { UploadRequest } from "@edgecall/core/protocol/media.ts";
import { afterEach, expect, test } from "vitest";
import { pack } from "./media.ts";
import { Uploads } from "./uploads.ts";

const ID = `${crypto.randomUUID()}.YXBpL3g`;
const open: Array<() => void> = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** The gateway's side of an upload; each request is answered with the next status. */
async function gateway(statuses: number[]) {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    bodies.push(Buffer.concat(parts));
    const authorised = request.headers.authorization === "Bearer token" && request.method === "PUT";
    response.writeHead(authorised ? (statuses.shift() ?? 204) : 401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/media/${ID}`;
  return { url, bodies };
}

/** @param tell the gateway's answer to each request; undefined = none this time */
function uploads(tell: (request: UploadRequest, asked: number) => Record<string, unknown> | undefined) {
  let asked = 0;
  const made: Uploads = new Uploads(
    (request) => {
      asked += 1;
      const said = tell(request, asked);
      if (said) setImmediate(() => made.onCommand({ upload_id: request.upload_id, ...said }));
    },
    () => {},
  );
  return made;
}

const never = new AbortController().signal;

test("a picture that fits is sent in the report; anything else is uploaded to the gateway first", async () => {
  const { url, bodies } = await gateway([]);
  const made = uploads(() => ({ url, token: "token", id: ID }));
  expect(await made.keep("call", Buffer.from("abc"), "image/png", never)).toEqual({
    type: "image",
    mediaType: "image/png",
    data: "YWJj",
  });
  const large = Buffer.alloc(100_000, 7);
  const kept = await made.keep("call", large, "image/png", never);
  expect(kept).toMatchObject({ type: "artifact", id: ID, mediaType: "image/png", bytes: 100_000 });
  expect(await made.keep("call", Buffer.from("abc"), "text/csv", never)).toMatchObject({ type: "artifact" });
  expect(bodies).toEqual([large, Buffer.from("abc")]);
});

test("is retried when the connection breaks, and given up with a text", async () => {
  const { url, bodies } = await gateway([500, 204]);
  const made = uploads(() => ({ url, token: "token", id: ID }));
  await made.upload("call", Buffer.from("abc"), "text/csv", never);
  expect(bodies).toHaveLength(2);
  const refused = await gateway([409, 409, 409]);
  const other = uploads(() => ({ url: refused.url, token: "token", id: ID }));
  await expect(other.upload("call", Buffer.from("abc"), "text/csv", never)).rejects.toThrow(
    /^Error: The result \(text\/csv, 3 bytes\) could not be brought to the gateway: http:\/\/127\.0\.0\.1:\d+: 409/,
  );
});

test("asks again without an answer, and gives the reason of a refusal", async () => {
  const { url } = await gateway([]);
  const made = uploads((_, asked) => (asked < 2 ? undefined : { url, token: "token", id: ID }));
  expect(await made.upload("call", Buffer.from("a"), "text/csv", never)).toMatchObject({ id: ID });
  const refusing = uploads(() => ({ refused: "9 bytes, and one file may have 8" }));
  await expect(refusing.upload("call", Buffer.from("a"), "text/csv", never)).rejects.toThrow(
    "the gateway refused it: 9 bytes, and one file may have 8",
  );
  await expect(refusing.upload("call", Buffer.alloc(0), "text/csv", never)).rejects.toThrow("it is empty");
});

test("ends with its call", async () => {
  const silent = uploads(() => undefined);
  const control = new AbortController();
  const uploading = silent.upload("call", Buffer.from("a"), "text/csv", control.signal);
  control.abort(new Error("cancelled"));
  await expect(uploading).rejects.toThrow("cancelled");
});

test("more pictures than a broker passes are uploaded too, and each dropped one is reported", async () => {
  const { url } = await gateway([]);
  const made = uploads(() => ({ url, token: "token", id: ID }));
  const item = { media_type: "image/png", bytes: 30_000, data: Buffer.alloc(30_000).toString("base64") };
  const packed = await pack([item, item, item], "call", made, never);
  expect(packed.media.map((one) => ("data" in one ? "inline" : one.id))).toEqual(["inline", ID, ID]);
  const refusing = uploads(() => ({ refused: "no room" }));
  expect(await pack([item, item], "call", refusing, never)).toMatchObject({
    media: [item],
    // The advice for the model is kept.
    lost: expect.stringMatching(/no room\.\nAsk for something smaller or explain to the user\.$/),
  });
  const many = await pack(
    Array.from({ length: 18 }, () => ({ ...item, data: "AAAA" })),
    "call",
    made,
    never,
  );
  expect([many.media.length, many.lost.match(/left out/g)?.length]).toEqual([16, 2]);
});
