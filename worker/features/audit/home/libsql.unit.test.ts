import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { libsqlStore } from "./libsql.ts";

test("a store's error is reported briefly and without the token, also where the text is cut", async () => {
  const token = "tok-0123456789-0123456789";
  const message = `${"x".repeat(180)}${token}`;
  const server = createServer((_request, response) => {
    const failed = { type: "error", error: { message } };
    response.end(JSON.stringify({ results: [failed, failed] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const told = await libsqlStore({ url, token, everyMs: 1_000 })
      .keep([])
      .catch((error: Error) => error.message);
    expect(told).toMatch(/^AUDIT_URL: x{180}/);
    expect(told).not.toContain("tok-");
    expect(told?.length).toBeLessThanOrEqual(200);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
