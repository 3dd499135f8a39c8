/**
 * Declares an operation of the HTTP API once: the same declaration is served, checks the request, and is written to openapi.json
 * (`npm run api`). The comment above `route(…)` is its description there, and the types of its answers are their schemas.
 */
import type { z } from "@edgecall/core/protocol/parse.ts";
import type { Context } from "hono";
import type { HonoBase } from "hono/hono-base";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { ApiToken, Scope } from "../settings/tokens.ts";
import type { App } from "./app.ts";
import { requireScope } from "./auth.ts";
import { requireConfirmed } from "./confirm.ts";
import { HttpError } from "./errors.ts";
import type { Field } from "./fields.ts";
import { bodyOf, readText } from "./request.ts";

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Fields = Readonly<Record<string, Field>>;
type Values<F> = { [K in keyof F]: F[K] extends Field<infer T> ? T : never };
/** `{id: Field}` of `/v1/agents/:id`. */
type PathFields<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [K in Name]: Field } & PathFields<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { readonly [K in Name]: Field }
    : unknown;

/** A response whose body, status and media type the compiler knows. Nothing of it exists at run time. */
export interface Answer<T, Status extends number = 200, Type extends string = "application/json">
  extends Response {
  readonly " answer": [T, Status, Type];
}
type AnyAnswer = Answer<unknown, number, string>;

/**
 * @property scope what the caller's token needs; absent: the operation checks its caller itself
 * @property or another scope that suffices as well
 * @property owner the token's role has to be owner, too
 * @property confirm it widens rights: a session of the console has to bring a confirmation (confirm.ts) as soon as anybody of the home
 *   has a passkey; `strict`: always. A function says so of a body
 * @property optionalBody an empty body counts as `{}`
 * @property reads the schema of a body that the operation reads itself, since something comes before
 * @property raw the media type of a body that is no JSON, which the operation reads itself
 */
export type Spec = {
  readonly scope?: Scope | undefined;
  readonly or?: Scope;
  readonly owner?: true;
  // biome-ignore lint/suspicious/noExplicitAny: the body is of the operation's own schema
  readonly confirm?: true | "strict" | ((body: any) => boolean);
  readonly path?: Fields | undefined;
  readonly query?: Fields | undefined;
  readonly headers?: Fields | undefined;
  readonly body?: z.ZodMiniType | undefined;
  readonly optionalBody?: true;
  readonly reads?: z.ZodMiniType;
  readonly raw?: string;
};

/** What was declared, by its handler. */
const declared = new WeakMap<object, Spec>();

/** @returns the declaration of a handler of the router; undefined: it was mounted without one */
export function specOf(handler: object): Spec | undefined {
  return declared.get(handler);
}

/**
 * Mounts an operation. Scope, path, query, headers and body are checked in this order before `handle` is called.
 * @returns the handler, for an older address of the same operation
 */
export function route<
  Path extends `/${string}`,
  S extends Scope | undefined = undefined,
  P extends PathFields<Path> & Fields = PathFields<Path> & Fields,
  Q extends Fields = Record<never, never>,
  H extends Fields = Record<never, never>,
  B = undefined,
>(
  routes: HonoBase<App>,
  operation: `${Method} ${Path}`,
  spec: Omit<Spec, "scope" | "path" | "query" | "headers" | "body" | "confirm"> & {
    readonly confirm?: true | "strict" | ((body: B) => boolean);
    readonly scope?: S;
    readonly query?: Q;
    readonly headers?: H;
    readonly body?: z.ZodMiniType<B>;
  } & (Path extends `${string}:${string}` ? { readonly path: P } : { readonly path?: never }),
  handle: (
    c: Context<App>,
    input: {
      token: S extends Scope ? ApiToken : undefined;
      path: Values<P>;
      query: Values<Q>;
      headers: Values<H>;
      body: B;
    },
  ) => AnyAnswer | Promise<AnyAnswer>,
): (c: Context<App>) => Promise<Response> {
  const { scope, or, owner, path, query, headers, body, optionalBody, raw, confirm }: Spec = spec;
  const handler = async (c: Context<App>): Promise<Response> => {
    const input = {
      token: scope && requireScope(c, scope, or),
      path: readFields(path, "path", (name) => c.req.param(name)),
      query: readFields(query, "query", (name) => c.req.query(name)),
      headers: readFields(headers, "header", (name) => c.req.header(name)),
      body: undefined as unknown,
    };
    if (owner && input.token?.role !== "owner")
      throw new HttpError(403, "forbidden", `the token '${input.token?.name}' is not an owner's`);
    // A body that the operation reads itself is bound to nothing, so no confirmation counts for it.
    const text = body ? await readText(c) : raw === undefined ? "" : undefined;
    if (body && text !== undefined) input.body = bodyOf(body, text, optionalBody);
    if (confirm && input.token && (typeof confirm !== "function" || confirm(input.body)))
      await requireConfirmed(c, input.token, text, confirm === "strict");
    // SAFETY: each value was read by its field, and the body by its schema.
    return await handle(c, input as Parameters<typeof handle>[1]);
  };
  declared.set(handler, spec);
  const [method = "", at = ""] = operation.split(" ");
  routes.on(method, at, handler);
  return handler;
}

/** @throws HttpError 400 `invalid_path`, `invalid_query` or `invalid_header`, which names the field */
function readFields(
  fields: Fields | undefined,
  place: "path" | "query" | "header",
  textOf: (name: string) => string | undefined,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name in fields)
    values[name] = fields[name]?.read(textOf(name), (expected) => {
      throw new HttpError(400, `invalid_${place}`, `${name}: expected ${expected}`);
    });
  return values;
}

/** Answers with JSON. */
export function json<const T>(c: Context<App>, value: T): Answer<T>;
export function json<const T, Status extends ContentfulStatusCode>(
  c: Context<App>,
  value: T,
  status: Status,
): Answer<T, Status>;
export function json(c: Context<App>, value: unknown, status: ContentfulStatusCode = 200): AnyAnswer {
  return typedAnswer(c.json(value, status));
}

/** Answers without a body. */
export function nothing(c: Context<App>): Answer<undefined, 204> {
  return typedAnswer(c.body(null, 204));
}

/** Names what a response has that was not made by `json`. */
export function typedAnswer<T, Status extends number, Type extends string>(
  response: Response,
): Answer<T, Status, Type> {
  // SAFETY: an Answer is a Response; the rest of it is only for the compiler.
  return response as Answer<T, Status, Type>;
}
