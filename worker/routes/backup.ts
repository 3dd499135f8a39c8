/**
 * `GET /v1/export` and `POST /v1/import`: a home and its conversations as lines of JSON.
 *
 *   {"edgecall":"export","version":"0.1.0","home":"home","at":"2026-11-22T10:00:00.000Z"}
 *   {"object":"","schema":7}                      the home; then its rows
 *   {"table":"agent","row":{…}}
 *   {"object":"home/api/kitchen","schema":4}      a conversation; then its rows
 *   {"end":true,"objects":2,"rows":41}            without it the file is not whole
 */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { BackupPage, BackupPlace, BackupRow, RestoreStep } from "../backup.ts";
import type { Env } from "../env.ts";
import { type App, HttpError, requireScope } from "../http.ts";
import { conversationOf, homeOf } from "../objects.ts";
import { jsonLines, line } from "./json-lines.ts";

const Header = z.object({
  edgecall: z.literal("export"),
  version: z.string(),
  home: z.string(),
  at: z.string(),
});
const ObjectLine = z.strictObject({ object: z.string(), schema: z.number() });
const RowLine = z.strictObject({
  table: z.string(),
  row: z.record(
    z.string(),
    z.union([z.string(), z.number(), z.null(), z.strictObject({ base64: z.string() })]),
  ),
});
const EndLine = z.strictObject({ end: z.literal(true), objects: z.number(), rows: z.number() });

/** Rows that go into an object at once. */
const BATCH_CHARS = 1_000_000;
/** A row of 2 MB, the platform's most, in base64 and JSON. */
const LINE_MAX_CHARS = 4_000_000;

type Kept = {
  backup(from: BackupPlace | undefined): Promise<BackupPage>;
  restore(step: RestoreStep): Promise<void>;
};

/** The home, or one of its conversations. */
function objectOf(env: Env, home: string, name: string): Kept {
  return name === "" ? homeOf(env, home) : conversationOf(env, name);
}

export async function exportHome(c: Context<App>): Promise<Response> {
  const { home } = requireScope(c, "admin");
  return jsonLines(exported(c.env, home), `edgecall-${home}`);
}

async function* exported(env: Env, home: string): AsyncGenerator<string> {
  yield line({ edgecall: "export", version: VERSION, home, at: new Date().toISOString() });
  const names = ["", ...(await homeOf(env, home).toBackUp())];
  let rows = 0;
  for (const name of names) {
    let from: BackupPlace | undefined;
    do {
      const page: BackupPage = await objectOf(env, home, name).backup(from);
      const head = from ? "" : line({ object: name, schema: page.schema });
      rows += page.rows.length;
      yield head + page.rows.map(line).join("");
      from = page.next;
    } while (from);
  }
  yield line({ end: true, objects: names.length, rows });
}

/** Query: `replace=yes`, since what the home has now is gone afterwards. */
export async function importHome(c: Context<App>): Promise<Response> {
  const { home } = requireScope(c, "admin");
  if (c.req.query("replace") !== "yes")
    throw new HttpError(400, "invalid_query", "replace: expected yes: what this home has now is replaced");
  const restoring = new Restoring(c.env, home);
  let number = 0;
  try {
    for await (const text of linesOf(c.req.raw.body)) {
      number += 1;
      await restoring.take(text);
    }
    return c.json(await restoring.end());
  } catch (error) {
    await restoring.restart();
    if (!(error instanceof Error)) throw error;
    throw new HttpError(400, "invalid_body", `line ${number}: ${error.message}`);
  }
}

class Restoring {
  readonly #env: Env;
  readonly #home: string;
  #hasHeader = false;
  #object: Kept | undefined;
  #rows: BackupRow[] = [];
  #chars = 0;
  #counts = { objects: 0, rows: 0 };
  #said: { objects: number; rows: number } | undefined;
  #begun: Kept[] = [];

  constructor(env: Env, home: string) {
    this.#env = env;
    this.#home = home;
  }

  async take(text: string): Promise<void> {
    if (!this.#hasHeader) return this.#header(text);
    if (this.#said) throw new Error("expected nothing after the end");
    const row = checkJson(RowLine, text);
    if (row.ok) return await this.#row(row.value, text.length);
    const object = checkJson(ObjectLine, text);
    if (object.ok) return await this.#begin(object.value);
    const end = checkJson(EndLine, text);
    if (!end.ok) throw new Error(`neither an object, a row nor the end: ${row.error}`);
    await this.#flush();
    const { objects, rows } = this.#counts;
    if (end.value.objects !== objects || end.value.rows !== rows)
      throw new Error(
        `the end speaks of ${end.value.objects} objects and ${end.value.rows} rows, there were ${objects} and ${rows}`,
      );
    this.#said = this.#counts;
  }

  /** @throws when the end is missing: then the objects hold what came, and the import has to be repeated */
  async end(): Promise<{ objects: number; rows: number }> {
    if (!this.#said) throw new Error("the end is missing: the file is not whole");
    await this.restart();
    return this.#said;
  }

  /** After a failure too: what an object has in memory is of the rows before, and its tables may be an older schema's. */
  async restart(): Promise<void> {
    for (const object of this.#begun.splice(0)) await object.restore({ do: "end" });
  }

  #header(text: string): void {
    const header = checkJson(Header, text);
    if (!header.ok) throw new Error(`expected an export's first line: ${header.error}`);
    // Conversations and calls name their home.
    if (header.value.home !== this.#home)
      throw new Error(`home: the export is of '${header.value.home}', and your token of '${this.#home}'`);
    this.#hasHeader = true;
  }

  async #begin({ object, schema }: z.infer<typeof ObjectLine>): Promise<void> {
    if (object !== "" && !object.startsWith(`${this.#home}/`))
      throw new Error(`object: '${object}' is not of this home`);
    await this.#flush();
    this.#object = objectOf(this.#env, this.#home, object);
    await this.#object.restore({ do: "begin", schema });
    this.#begun.push(this.#object);
    this.#counts.objects += 1;
  }

  async #row(row: BackupRow, chars: number): Promise<void> {
    if (!this.#object) throw new Error("expected an object before its rows");
    this.#rows.push(row);
    this.#chars += chars;
    this.#counts.rows += 1;
    if (this.#chars > BATCH_CHARS) await this.#flush();
  }

  async #flush(): Promise<void> {
    const rows = this.#rows;
    this.#rows = [];
    this.#chars = 0;
    if (rows.length > 0) await this.#object?.restore({ do: "rows", rows });
  }
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
