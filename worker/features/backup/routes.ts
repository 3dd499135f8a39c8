/**
 * `GET /v1/export` and `POST /v1/import`: a home and its conversations as lines of JSON.
 *
 *   {"edgecall":"export","version":"0.1.0","home":"home","at":"2026-11-22T10:00:00.000Z"}
 *   {"object":"","schema":29,"parts":{"rules":1}}  the home; then its rows
 *   {"table":"agent","row":{…}}
 *   {"object":"home/api/kitchen","schema":4}      a conversation; then its rows
 *   {"end":true,"objects":2,"rows":41}            without this line the file is incomplete
 */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type {
  BackupPage,
  BackupPlace,
  BackupRow,
  BackupSchema,
  RestoreStep,
} from "../../kernel/api/backup.ts";
import { conversationOf, homeOf, withRetry } from "../../kernel/api/stubs.ts";
import type { Env } from "../../kernel/env.ts";
import { newRoutes } from "../../kernel/http/app.ts";
import { HttpError } from "../../kernel/http/errors.ts";
import { text } from "../../kernel/http/fields.ts";
import { json, route, typedAnswer } from "../../kernel/http/route.ts";
import { logError } from "../../kernel/log.ts";
import { jsonLines, line } from "../../kernel/routes/json-lines.ts";

export const backup = newRoutes();

const Header = z.object({
  edgecall: z.literal("export"),
  version: z.string(),
  home: z.string(),
  at: z.string(),
});
const ObjectLine = z.strictObject({
  object: z.string(),
  schema: z.number(),
  parts: z.optional(z.record(z.string(), z.number())),
});
const RowLine = z.strictObject({
  table: z.string(),
  row: z.record(
    z.string(),
    z.union([z.string(), z.number(), z.null(), z.strictObject({ base64: z.string() })]),
  ),
});
const EndLine = z.strictObject({ end: z.literal(true), objects: z.number(), rows: z.number() });

/** Characters of rows that are sent to an object at once. */
const BATCH_CHARS = 1_000_000;
/** A row has 2 MB at most on the platform; base64 and JSON make it longer. */
const LINE_MAX_CHARS = 4_000_000;

type StoredObject = {
  backup(from: BackupPlace | undefined): Promise<BackupPage>;
  restore(step: RestoreStep): Promise<void>;
};

/** The stub of the home, or of one of its conversations. */
function objectOf(env: Env, home: string, name: string): StoredObject {
  return name === "" ? homeOf(env, home) : conversationOf(env, name);
}

/** Exports the home and its conversations as lines of JSON. */
route(backup, "GET /v1/export", { scope: "admin" }, (c, { token: { home } }) =>
  typedAnswer<string, 200, "application/x-ndjson">(jsonLines(exported(c.env, home), `edgecall-${home}`)),
);

async function* exported(env: Env, home: string): AsyncGenerator<string> {
  yield line({ edgecall: "export", version: VERSION, home, at: new Date().toISOString() });
  const names = ["", ...(await homeOf(env, home).namesToBackUp())];
  let rows = 0;
  for (const name of names) {
    let from: BackupPlace | undefined;
    do {
      const page: BackupPage = await objectOf(env, home, name).backup(from);
      const head = from
        ? ""
        : line({ object: name, schema: page.schema, ...(page.parts && { parts: page.parts }) });
      rows += page.rows.length;
      yield head + page.rows.map(line).join("");
      from = page.next;
    } while (from);
  }
  yield line({ end: true, objects: names.length, rows });
}

/** Replaces the home and its conversations by an export. Nothing is replaced before the whole file has come. */
route(
  backup,
  "POST /v1/import",
  {
    scope: "admin",
    confirm: true,
    query: {
      /** Has to be `yes`, because the import replaces what the home has now. */
      replace: text(/^yes$/, "yes: what this home has now is replaced"),
    },
    raw: "application/x-ndjson",
  },
  async (c, { token: { home } }) => {
    const work = importLines(new Restoring(c.env, home), c.req.raw.body);
    // The import continues when the client hangs up, so that nothing stays half staged or half replaced.
    c.executionCtx.waitUntil(work.catch(() => {}));
    return json(c, await work);
  },
);

async function importLines(
  restoring: Restoring,
  body: ReadableStream<Uint8Array> | null,
): Promise<{ objects: number; rows: number }> {
  let number = 0;
  try {
    for await (const text of linesOf(body)) {
      number += 1;
      await restoring.apply(text);
    }
    restoring.requireWhole();
  } catch (error) {
    await restoring.discard();
    if (!(error instanceof Error)) throw error;
    throw new HttpError(
      400,
      "invalid_body",
      `line ${number}: ${error.message}; nothing was replaced: this home is as it was`,
    );
  }
  return await restoring.replace();
}

/** Stages a file's rows in the objects that it names. When the whole file has come and fits, the staged rows replace the old ones. */
class Restoring {
  readonly #env: Env;
  readonly #home: string;
  readonly #id = crypto.randomUUID();
  #hasHeader = false;
  /** The schema of the present object, until its first rows are staged. */
  #begin: BackupSchema | undefined;
  #rows: BackupRow[] = [];
  #chars = 0;
  #counts = { objects: 0, rows: 0 };
  #isEnded = false;
  /** The names of the objects, in the order of the file. */
  readonly #names: string[] = [];

  constructor(env: Env, home: string) {
    this.#env = env;
    this.#home = home;
  }

  async apply(text: string): Promise<void> {
    if (!this.#hasHeader) return this.#header(text);
    if (this.#isEnded) throw new Error("expected nothing after the end");
    const row = checkJson(RowLine, text);
    if (row.ok) return await this.#row(row.value, text.length);
    const object = checkJson(ObjectLine, text);
    if (object.ok) return await this.#object(object.value);
    const end = checkJson(EndLine, text);
    if (!end.ok) throw new Error(`neither an object, a row nor the end: ${row.error}`);
    const { objects, rows } = this.#counts;
    if (end.value.objects !== objects || end.value.rows !== rows)
      throw new Error(
        `the end speaks of ${end.value.objects} objects and ${end.value.rows} rows, there were ${objects} and ${rows}`,
      );
    await this.#stage(true);
    this.#isEnded = true;
  }

  /** @throws when the end is missing */
  requireWhole(): void {
    if (!this.#isEnded) throw new Error("the end is missing: the file is not whole");
  }

  /**
   * Replaces the home last, so that its keys stay valid until every conversation is replaced.
   * @throws HttpError when an object did not answer; the same file can then be imported again
   */
  async replace(): Promise<{ objects: number; rows: number }> {
    const names = this.#names.toSorted((a, b) => Number(a === "") - Number(b === ""));
    for (const [at, name] of names.entries()) {
      try {
        await withRetry(async () => await this.#objectNamed(name).restore({ do: "replace", id: this.#id }));
      } catch (error) {
        logError("import.unfinished", error, { object: name });
        await this.discard();
        const words = `${at} of ${names.length} objects were replaced, the others${names.includes("") ? " and the home's keys" : ""} are as they were; import the same file again`;
        throw new HttpError(503, "unfinished", words);
      }
    }
    return this.#counts;
  }

  async discard(): Promise<void> {
    for (const name of this.#names) {
      const gone = this.#objectNamed(name).restore({ do: "discard", id: this.#id });
      await gone.catch((error: unknown) => logError("import.not_discarded", error, { object: name }));
    }
  }

  #objectNamed(name: string): StoredObject {
    return objectOf(this.#env, this.#home, name);
  }

  #header(text: string): void {
    const header = checkJson(Header, text);
    if (!header.ok) throw new Error(`expected an export's first line: ${header.error}`);
    // Conversations and calls contain the name of their home.
    if (header.value.home !== this.#home)
      throw new Error(`home: the export is of '${header.value.home}', and your token of '${this.#home}'`);
    this.#hasHeader = true;
  }

  async #object({ object, schema, parts }: z.infer<typeof ObjectLine>): Promise<void> {
    if (object !== "" && !isConversationOf(this.#home, object))
      throw new Error(`object: '${object}' is not of this home`);
    if (this.#names.includes(object)) throw new Error(`object: '${object}' comes twice`);
    await this.#stage(true);
    this.#names.push(object);
    this.#begin = { schema, ...(parts && { parts }) };
    this.#counts.objects += 1;
  }

  async #row(row: BackupRow, chars: number): Promise<void> {
    if (this.#names.length === 0) throw new Error("expected an object before its rows");
    this.#rows.push(row);
    this.#chars += chars;
    this.#counts.rows += 1;
    if (this.#chars > BATCH_CHARS) await this.#stage(false);
  }

  /** @param isWhole these are the object's last rows: it then checks whether all rows fit */
  async #stage(isWhole: boolean): Promise<void> {
    const name = this.#names.at(-1);
    if (name === undefined) return;
    const rows = this.#rows;
    const begin = this.#begin;
    this.#rows = [];
    this.#chars = 0;
    this.#begin = undefined;
    await this.#objectNamed(name).restore({
      do: "stage",
      id: this.#id,
      ...(begin && { begin }),
      rows,
      isWhole,
    });
  }
}

/** `home/channel/id`, as the routes make it. */
function isConversationOf(home: string, name: string): boolean {
  return (
    name.startsWith(`${home}/`) && /^[a-z]{1,32}\/[A-Za-z0-9._:@-]{1,128}$/.test(name.slice(home.length + 1))
  );
}

async function* linesOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<string> {
  if (!body) return;
  let rest = "";
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > LINE_MAX_CHARS) throw new Error(`a line may hold ${LINE_MAX_CHARS} characters`);
    yield* lines.filter((line) => line !== "");
  }
  if (rest !== "") yield rest;
}
