/** A proxy between a client and an HTTP server, which plays faults of lines and servers. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Fault =
  | "none"
  /** Nothing answers. */
  | "down"
  /** The server gets the request; its answer is lost. */
  | "cut"
  /** The server gets the request; its answer waits for `release`. */
  | "held"
  /** The server gets a wrong token. */
  | "stranger"
  | "500"
  | "redirect"
  | "garbage"
  /** An answer that never ends. */
  | "endless";

export class FaultyLine {
  fault: Fault = "none";
  readonly requests: Array<{ path: string; body: string; token: string | undefined }> = [];
  readonly #to: string;
  readonly #server: Server;
  #release: () => void = () => {};
  /** The number of waiting answers. */
  held = 0;

  private constructor(to: string) {
    this.#to = to;
    this.#server = createServer((request, response) => {
      void this.#carry(request, response).catch(() => response.destroy());
    });
  }

  static async open(to: string): Promise<FaultyLine> {
    const line = new FaultyLine(to);
    await new Promise<void>((resolve) => line.#server.listen(0, "127.0.0.1", resolve));
    return line;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  release(): void {
    this.#release();
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #carry(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { fault } = this;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts).toString();
    const token = request.headers.authorization;
    this.requests.push({ path: request.url ?? "", body, token });
    if (fault === "down") return void response.destroy();
    if (fault === "500") return void response.writeHead(500).end("it broke");
    if (fault === "redirect")
      return void response.writeHead(307, { location: `${this.url}/elsewhere` }).end();
    if (fault === "garbage") return void response.end('{"results":[{"type":"ok"},"\u0000');
    if (fault === "endless") return endless(response);
    const answer = await fetch(this.#to + request.url, {
      method: "POST",
      headers: { authorization: (fault === "stranger" ? `${token}x` : token) ?? "" },
      body,
    });
    const text = await answer.text();
    if (fault === "cut") return void response.destroy();
    if (fault === "held") {
      this.held += 1;
      await new Promise<void>((resolve) => {
        this.#release = resolve;
      });
      this.held -= 1;
    }
    response.writeHead(answer.status).end(text);
  }
}

function endless(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1024, " ");
  const more = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", more);
  more();
}
