/** A gateway on a real socket that answers as a test says, and runs of `edgecall` against it. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { COMMANDS } from "../../commands.ts";
import { runCommandLine } from "../../run-command-line.ts";
import { Gateway } from "../gateway.ts";

const TOKEN = "a-token-of-the-test";

type PlayedRequest = { method: string; path: string; authorization: string; body: string };
/** @property status 200 if it is left out @property body a text is a page, all else is JSON */
type PlayedAnswer = { status?: number; body: unknown };

type PlayedGateway = {
  /** Without a slash at its end. */
  url: string;
  /** In their order. */
  requests: PlayedRequest[];
  /** The client of the command line, connected to it. */
  client: Gateway;
  /** Runs `edgecall` with these words, without a terminal. */
  run(...words: string[]): Promise<{ code: number; out: string; err: string }>;
};

/** Call it within a test, with whose end it ends. @param answer of a request at this address of the gateway */
export async function playGateway(
  answer: (request: PlayedRequest, url: string) => PlayedAnswer,
): Promise<PlayedGateway> {
  const requests: PlayedRequest[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", url: path = "", headers } = request;
    const asked = { method, path, authorization: headers.authorization ?? "", body: await text(request) };
    requests.push(asked);
    const { status = 200, body } = answer(asked, url);
    const isPage = typeof body === "string";
    response.writeHead(status, { "content-type": isPage ? "text/html" : "application/json" });
    response.end(isPage ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, client: new Gateway({ url, token: TOKEN }), run };

  async function run(...words: string[]) {
    const said = { out: "", err: "" };
    const io = {
      out: (written: string) => {
        said.out += written;
      },
      err: (written: string) => {
        said.err += written;
      },
      ...{ terminal: false, watched: false, person: false },
    };
    const env = { EDGECALL_URL: url, EDGECALL_TOKEN: TOKEN, HOME: "/nowhere" };
    const code = await runCommandLine(COMMANDS, words, env, io);
    return { code, ...said };
  }
}
