/**
 * The routes that the Worker serves, read from its router: its sources run in Node, without Cloudflare's modules. They are
 * imported by address, since their types need Cloudflare's, which Node's would contradict.
 */
import { registerHooks } from "node:module";
import type { z } from "@edgecall/core/protocol/parse.ts";
import type { Schema } from "./type-schema.ts";

/** A declaration, as worker/kernel/http/route.ts and fields.ts have it. */
export type Spec = {
  scope?: string;
  or?: string;
  owner?: true;
  path?: Fields;
  query?: Fields;
  headers?: Fields;
  body?: z.ZodMiniType;
  optionalBody?: true;
  reads?: z.ZodMiniType;
  raw?: string;
};
export type Fields = Readonly<Record<string, { schema: Schema; isRequired: boolean }>>;

/** @property spec absent: it was mounted without a declaration */
export type Served = { method: string; path: string; spec: Spec | undefined };

const STUB =
  "data:text/javascript,export class DurableObject {} export const env = {}; export const waitUntil = () => {};";
const ROUTER = new URL("../../worker/index.ts", import.meta.url).href;
const DECLARED = new URL("../../worker/kernel/http/route.ts", import.meta.url).href;

export async function readServed(): Promise<Served[]> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith("cloudflare:") ? { url: STUB, shortCircuit: true } : next(specifier, context),
  });
  const { default: app } = (await import(ROUTER)) as {
    default: { routes: { method: string; path: string; handler: object }[] };
  };
  const { specOf } = (await import(DECLARED)) as { specOf: (handler: object) => Spec | undefined };
  hooks.deregister();
  return app.routes.map(({ method, path, handler }) => ({ method, path, spec: specOf(handler) }));
}
