/** For tests inside workerd that read a home's rows. A home makes its tables at its first authorised request. */
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import type { Home } from "../worker/home.ts";

/** @returns the stub of a home that has its tables */
export async function madeHome(name: string = crypto.randomUUID()) {
  const stub = env.HOME.getByName(name);
  await runInDurableObject(stub, (home: Home) => home.status());
  return stub;
}
