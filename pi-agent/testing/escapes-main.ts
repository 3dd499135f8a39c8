/**
 * Tries the escapes of the path, URL and IP cases with the agent's tools, as the user who runs it. It prints the
 * attempts, and those that got through, as JSON. A connection counts from the moment that a socket is made for it.
 */
import { subscribe } from "node:diagnostics_channel";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { readAllowedRanges } from "@edgecall/core/web/address.ts";
import type { WebSettings } from "../config/web-settings.ts";
import { localFiles } from "../env/local-files.ts";
import { ls } from "../tools/files/ls.ts";
import { read } from "../tools/files/read.ts";
import { write } from "../tools/files/write.ts";
import { webTools } from "../tools/web/web.ts";
import { callTool } from "./call.ts";
import { type Case, casesOf, placeOf } from "./cases.ts";

/** `control`: true when an allowed connection was noticed. */
export type Escapes = { tried: string[]; touched: string[]; control: boolean };

let sockets = 0;
subscribe("net.client.socket", () => {
  sockets += 1;
});

async function pathEscapes(one: Case): Promise<boolean> {
  const folder = placeOf(one);
  const cwd = join(folder, one.given?.root ?? ".");
  if (!existsSync(cwd)) mkdirSync(cwd);
  const files = localFiles({ cwd, writable: (one.given?.allow ?? []).map((path) => join(folder, path)) });
  const tools: Record<string, Tool> = {
    read: read({ files }),
    write: write({ files, name: "local" }),
    ls: ls({ files }),
  };
  const { op, path } = one.input as { op: string; path: string };
  const tool = tools[op];
  if (!tool) throw new Error(`${one.id}: no tool for '${op}'`);
  const { code, text } = await callTool(tool, { path, ...(op === "write" && { content: "written" }) });
  const made = (one.expect.filesAbsent ?? []).some((absent) => existsSync(join(folder, absent)));
  const secret = join(folder, "out/a.txt");
  const isTold = existsSync(secret) && text.includes(readFileSync(secret, "utf8"));
  return code === undefined || made || isTold;
}

async function addressEscapes(url: string, settings?: WebSettings): Promise<boolean> {
  const [webfetch] = webTools(settings);
  if (!webfetch) throw new Error("no webfetch");
  const before = sockets;
  const { code } = await callTool(webfetch, { url });
  return code === undefined || sockets > before;
}

const blocked = (group: string, tool: string) =>
  casesOf(group, tool).filter(({ expect: { verdict } }) => verdict === "blocked");

const tries: Array<[id: string, escape: () => Promise<boolean>]> = [
  // A swap between two steps needs a hook between them: path-guard.test.ts.
  ...blocked("path_guard", "path_guard")
    .filter(({ given }) => given?.race === undefined)
    .map((one): (typeof tries)[number] => [one.id, () => pathEscapes(one)]),
  ...blocked("web", "url_guard").map(({ id, input }): (typeof tries)[number] => [
    id,
    () => addressEscapes(String(input.url)),
  ]),
  ...blocked("web", "ip_guard").map(({ id, input }): (typeof tries)[number] => {
    const ip = String(input.ip);
    return [id, () => addressEscapes(`http://${ip.includes(":") ? `[${ip}]` : ip}/`)];
  }),
];
const found: Escapes = { tried: [], touched: [], control: false };
for (const [id, getsOut] of tries) {
  found.tried.push(id);
  if (await getsOut()) found.touched.push(id);
}
// No server listens there, because the attempt itself is noticed.
const loopback = readAllowedRanges(["127.0.0.1"]);
found.control = await addressEscapes("http://127.0.0.1:59999/", {
  allowed: loopback.ok ? loopback.value : [],
});
process.stdout.write(JSON.stringify(found));
