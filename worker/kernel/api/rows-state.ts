/** Asks the machine below what is wrong with the gateway's rows, for a status and for an error of an object. */
import { conditionOf, describeCondition, type ShownCondition } from "@edgecall/core/conditions/conditions.ts";
import { Condition } from "@edgecall/core/protocol/conditions.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Env } from "../env.ts";

/** An object whose rows cannot be opened or written fails with one of these. */
const OF_ROWS = /SQLITE_|^internal error; reference/;

/** The machine below tells them; Cloudflare has none. */
export async function rowsConditions({ ROWS }: Env): Promise<ShownCondition[]> {
  const text = await ROWS?.fetch("http://rows/").then(
    (response) => response.text(),
    () => undefined,
  );
  const read = text === undefined ? undefined : checkJson(z.array(Condition), text);
  return read?.ok ? read.value.map((condition) => describeCondition(condition)) : [];
}

/** @returns what is wrong with the rows, if that is why an object failed */
export async function rowsProblem(error: Error, env: Env): Promise<ShownCondition | undefined> {
  if (!OF_ROWS.test(error.message)) return undefined;
  const [found] = await rowsConditions(env);
  if (found) return found;
  const isFull = error.message.includes("SQLITE_FULL");
  return isFull ? describeCondition(conditionOf("rows_full", { error: "SQLITE_FULL" })) : undefined;
}
