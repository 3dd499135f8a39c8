import { createServer } from "node:net";
import { expect, test } from "vitest";
import { portHolder } from "./port-holder.ts";

test("the program that listens on a port is named, until the port is free", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  try {
    expect(portHolder(address.port)).toContain(`(process ${process.pid}`);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  expect(portHolder(address.port)).toBeUndefined();
});
