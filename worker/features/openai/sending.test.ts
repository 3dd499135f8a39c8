import { createExecutionContext } from "cloudflare:test";
import { expect, test } from "vitest";
import { newRoutes } from "../../kernel/http/app.ts";
import { eventStream, type Pace, patientJson } from "./sending.ts";

const QUICK: Pace = { keepAliveMs: 5, patienceMs: 5 };

/** A route that answers when the test lets it. */
function route(pace: Pace) {
  const gate = Promise.withResolvers<void>();
  const left: string[] = [];
  const app = newRoutes();
  app.get("/events", (c) =>
    eventStream(
      c,
      async function* () {
        yield "data: 1\n\n";
        await gate.promise;
        yield "data: 2\n\n";
      },
      () => left.push("events"),
      pace,
    ),
  );
  app.get("/json", (c) =>
    patientJson(
      c,
      () => gate.promise.then(() => ({ a: 1 })),
      () => left.push("json"),
      pace,
    ),
  );
  const get = (path: string) =>
    Promise.resolve(app.request(path, {}, undefined as never, createExecutionContext()));
  return { get, left, release: gate.resolve };
}

/** Reads until a text has arrived, and then lets the route continue. */
async function readPast(response: Response, awaited: string, release: () => void): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
    text += decoder.decode(part.value);
    if (text.includes(awaited)) release();
  }
  return text;
}

test("a silent stream sends comments", async () => {
  const { get, release, left } = route(QUICK);
  const text = await readPast(await get("/events"), ": keep-alive\n\n: keep-alive\n\n", release);
  expect(text).toMatch(/^data: 1\n\n(: keep-alive\n\n){2,}data: 2\n\n$/);
  expect(left).toEqual([]);
});

test("slow JSON begins with white space, and is valid", async () => {
  const { get, release } = route(QUICK);
  const text = await readPast(await get("/json"), "  ", release);
  expect(text).toMatch(/^ {2,}\{"a":1\}$/);
  expect(JSON.parse(text)).toEqual({ a: 1 });
  const quick = route({ keepAliveMs: 5, patienceMs: 60_000 });
  quick.release();
  expect(await (await quick.get("/json")).text()).toBe('{"a":1}');
});

test.each(["/events", "/json"])("a client that leaves %s before the end is noticed, once", async (path) => {
  const { get, left } = route(QUICK);
  const response = await get(path);
  await response.body?.cancel();
  expect(left).toEqual([path.slice(1)]);
});
