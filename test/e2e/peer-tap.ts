/** Stands before a gateway, records all bytes that pass in both directions, and can hold or lose a request or its answer. */
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Passed = {
  path: string;
  headers: Record<string, unknown>;
  body: string;
  status: number | undefined;
  answer: string;
};

/** Called when a request has come, and when its answer has. `lose`: the asking side learns nothing. */
type At = (passed: Passed) => Promise<"pass" | "lose"> | "pass" | "lose";

export class PeerTap {
  readonly passed: Passed[] = [];
  readonly url: string;
  /** The gateway behind it. */
  target = "";
  onRequest: At = () => "pass";
  onAnswer: At = () => "pass";
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on("request", (incoming: IncomingMessage, response: ServerResponse) => {
      this.#pass(incoming, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<PeerTap> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new PeerTap(server);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  of(kind: string): Passed[] {
    return this.passed.filter(({ path }) => path.endsWith(`/${kind}`));
  }

  /** All that passed, with the tokens' claims in plain text. */
  text(): string {
    return this.passed
      .map(({ headers, ...rest }) => {
        const [, claims = ""] = /^Bearer ([^.]+)/.exec(String(headers.authorization ?? "")) ?? [];
        return JSON.stringify({ headers, ...rest, claims: Buffer.from(claims, "base64url").toString() });
      })
      .join("\n");
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { "accept-encoding": _, ...headers } = incoming.headers;
    const passed: Passed = { path: incoming.url ?? "", headers, body: "", status: undefined, answer: "" };
    passed.body = await textOf(incoming);
    this.passed.push(passed);
    if ((await this.onRequest(passed)) === "lose") return void response.destroy();
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const out = request(`${this.target}${passed.path}`, { method: incoming.method, headers }, resolve);
      out.on("error", reject);
      out.end(passed.body);
    });
    passed.status = answer.statusCode;
    passed.answer = await textOf(answer);
    if ((await this.onAnswer(passed)) === "lose") return void response.destroy();
    const { "transfer-encoding": __, ...back } = answer.headers;
    response.writeHead(answer.statusCode ?? 502, back).end(passed.answer);
  }
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of message) text += chunk;
  return text;
}
