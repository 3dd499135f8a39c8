/** A program that receives answers at a callback address and checks their signatures (Standard Webhooks). */
import { createHmac } from "node:crypto";
import { jsonOf, type PlatformServer, startPlatform } from "./server.ts";

const WEBHOOK_KEY = Buffer.from("a key of twenty-four bytes and more");
export const WEBHOOK_SECRET = `whsec_${WEBHOOK_KEY.toString("base64")}`;

export type ReceivedAnswer = { id: string } & Record<string, unknown>;

export class FakeCallback {
  readonly server: PlatformServer;
  readonly answers: readonly ReceivedAnswer[];

  private constructor(server: PlatformServer, answers: readonly ReceivedAnswer[]) {
    this.server = server;
    this.answers = answers;
  }

  static async start(): Promise<FakeCallback> {
    const answers: ReceivedAnswer[] = [];
    const server = await startPlatform(({ headers, body }) => {
      const id = String(headers["webhook-id"]);
      const signed = standardHeaders(body.toString("utf8"), id, Number(headers["webhook-timestamp"]));
      if (headers["webhook-signature"] !== signed["webhook-signature"]) return { status: 401 };
      if (!answers.some((one) => one.id === id)) answers.push({ ...jsonOf(body), id });
      return { status: 204 };
    });
    return new FakeCallback(server, answers);
  }

  limit(seconds: number): void {
    this.server.limit(seconds, () => ({ status: 429, headers: { "retry-after": String(seconds) } }));
  }
}

export function standardHeaders(
  body: string,
  id: string,
  at = Math.floor(Date.now() / 1_000),
  key = WEBHOOK_KEY,
) {
  const mac = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": `v1,${mac}` };
}
