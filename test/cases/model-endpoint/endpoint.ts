/**
 * An OpenAI-compatible endpoint that plays cases. A question names its case in a tag, `[[NAME:RUN]]`, and in a device's loop
 * `[[d/NAME:RUN]]`. `q-NAME` has the gateway's model ask the device in words, whose own loop then meets the case.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import type { Asked, Body, Play, Reply } from "./replies.ts";
import { final, finish, piece, pieces, refuse, say, stream, USAGE } from "./replies.ts";

const TAG = /\[\[(d\/)?([a-z0-9-]+):([a-z0-9]+)\]\]/g;
/** Between the pieces of a body that comes in pieces. */
const PIECE_MS = 1;

export type PlayedEndpoint = {
  /** The value for LLM_BASE_URL. */
  url: string;
  /** The requests of a question, by its tag's inside. */
  requests(key: string): Body[];
  close(): Promise<void>;
};

type Plays = Readonly<Record<string, { play: Play }>>;

/** @param agentOf the device that a run's calls go to */
export async function playEndpoint(cases: Plays, agentOf: (run: string) => string): Promise<PlayedEndpoint> {
  const seen = new Map<string, Body[]>();
  const server = createServer(async (request, response) => {
    request.socket.setNoDelay(true);
    if (request.method === "GET") {
      await send(response, refuse(404, { error: { message: "not here" } }));
      return;
    }
    let sent = "";
    for await (const chunk of request) sent += chunk;
    const body = JSON.parse(sent) as Body;
    const tag = tagOf(body);
    if (!tag) {
      await send(response, say("(no tag)"));
      return;
    }
    const { key, name, run, isDevice } = tag;
    const before = seen.get(key) ?? [];
    seen.set(key, [...before, body]);
    const asked: Asked = {
      at: before.length,
      body,
      isDevice,
      agent: agentOf(run),
      tag: `${isDevice ? "d" : "g"}.${name}.${run}`,
    };
    await send(response, await replyTo(asked, name, run, cases));
  });
  // Longer than a client keeps an idle connection: else one that is ending may get a request, which counts as a try.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: (key) => seen.get(key) ?? [],
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function tagOf({ messages }: Body) {
  const tags = messages
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => [...JSON.stringify(content).matchAll(TAG)]);
  const [whole, device, name, run] = tags.at(-1) ?? [];
  if (whole === undefined || name === undefined || run === undefined) return undefined;
  return { key: whole.slice(2, -2), name, run, isDevice: device !== undefined };
}

function replyTo(asked: Asked, name: string, run: string, cases: Plays): Reply | Promise<Reply> {
  if (name.startsWith("q-")) {
    const query = `Please bump it [[d/${name.slice(2)}:${run}]]`;
    const call = { name: "edge_call", args: { agent_id: asked.agent, query } };
    return asked.at === 0 ? stream(pieces(piece(call)), finish("tool_calls"), USAGE) : final(asked);
  }
  const played = cases[name];
  return played ? played.play(asked) : refuse(400, { error: { message: `there is no case ${name}` } });
}

async function send(
  response: ServerResponse,
  { status = 200, headers = {}, body, pieces, breaks }: Reply,
): Promise<void> {
  response.writeHead(status, headers);
  const bytes = Buffer.from(body);
  if (pieces !== undefined) {
    for (const piece of pieces === "characters" ? splitCharacters(bytes) : bySize(bytes, pieces)) {
      if (response.destroyed) return;
      response.write(piece);
      await setTimeout(PIECE_MS);
    }
  } else if (breaks) await new Promise((resolve) => response.write(bytes, resolve));
  if (!breaks) {
    response.end(pieces === undefined ? bytes : undefined);
    return;
  }
  // The bytes are there before the break.
  await setTimeout(50);
  response.destroy();
}

function* bySize(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Each byte of a character of several bytes comes alone. */
function* splitCharacters(bytes: Buffer): Generator<Buffer> {
  let from = 0;
  for (const [at, byte] of bytes.entries()) {
    if (byte < 128) continue;
    if (at > from) yield bytes.subarray(from, at);
    yield bytes.subarray(at, at + 1);
    from = at + 1;
  }
  yield bytes.subarray(from);
}
