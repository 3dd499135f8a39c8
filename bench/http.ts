/** The bench's HTTP client: kept-alive sockets without Nagle's delay. */
import { Agent, request } from "node:http";

type Answer = { status: number; body: string };
export type Post = (path: string, body: string, headers?: Record<string, string>) => Promise<Answer>;

/**
 * @param atOnce the number of sockets: as many as requests run at once, so that none is opened during the measurement
 */
export function poster(url: string, atOnce: number): { post: Post; close(): void } {
  const agent = new Agent({ keepAlive: true, noDelay: true, maxSockets: atOnce, maxFreeSockets: atOnce });
  const { hostname: host, port } = new URL(url);
  const post: Post = (path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const length = Buffer.byteLength(body);
      const sent = request(
        { host, port, path, agent, method: "POST", headers: { ...headers, "content-length": length } },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (part: string) => {
            text += part;
          });
          response.once("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
          response.once("error", reject);
        },
      );
      sent.once("error", reject);
      sent.end(body);
    });
  return { post, close: () => agent.destroy() };
}
