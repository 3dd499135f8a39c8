/** A program that receives answers at a callback address and checks their signatures (Standard Webhooks). */
import { createHmac } from "node:crypto";
import { jsonOf, type PlatformServer, startPlatform } from "./server.ts";

export const WEBHOOK_KEY = Buffer.from("a key of twenty-four bytes and more");
export const WEBHOOK_SECRET = `whsec_${WEBHOOK_KEY.toString("base64")}`;

export type Told = { id: string } & Record<string, unknown>;

export class FakeCallback {
  readonly server: PlatformServer;
  readonly told: readonly Told[];

  private constructor(server: PlatformServer, told: readonly Told[]) {
    this.server = server;
    this.told = told;
  }

  static async start(): Promise<FakeCallback> {
    const told: Told[] = [];
    const server = await startPlatform(({ headers, body }) => {
      const id = String(headers["webhook-id"]);
      const signed = standardHeaders(body.toString("utf8"), id, Number(headers["webhook-timestamp"]));
      if (headers["webhook-signature"] !== signed["webhook-signature"]) return { status: 401 };
      if (!told.some((one) => one.id === id)) told.push({ ...jsonOf(body), id });
      return { status: 204 };
    });
    return new FakeCallback(server, told);
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
