import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freePort } from "./port.ts";

/** So many that two processes which drew by chance alone would meet: 1 - e^(-300 * 300 / 10,000) = 99.99 %. */
const EACH = 300;

test("no port is given to two processes", { tags: ["needs/linux"] }, async () => {
  const mine = await Promise.all(Array.from({ length: EACH }, () => freePort()));
  const script = `
    const { freePort } = await import(${JSON.stringify(fileURLToPath(new URL("port.ts", import.meta.url)))});
    console.log(JSON.stringify(await Promise.all(Array.from({ length: ${EACH} }, () => freePort()))));`;
  const theirs = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }),
  ) as number[];
  expect(new Set([...mine, ...theirs]).size).toBe(2 * EACH);
});
