/** For tests inside workerd that work on a home's rows: a home makes its tables when somebody who may asks something of it. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Home } from "../worker/home/home.ts";

/** @returns the stub of a home that has its tables */
export async function madeHome(name: string = crypto.randomUUID()) {
  const stub = env.HOME.getByName(name);
  await runInDurableObject(stub, (home: Home) => home.status());
  return stub;
}
