import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MCP_PEERS } from "../needs.ts";

const { resolve } = createRequire(join(MCP_PEERS, "clients.js"));

/** @returns a package of `.ci/peers`. It is `any`: without the package its types are not there either. */
export const npmClient = (name: string) => import(pathToFileURL(resolve(name)).href);
