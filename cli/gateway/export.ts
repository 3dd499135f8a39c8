/** `edgecall export` writes a home and its conversations into a file, as the gateway sends them: `POST /v1/import` reads it. */
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { type CommandCall, EXIT, UsageError } from "../command.ts";
import { readConnection } from "./connection.ts";
import { Gateway } from "./gateway.ts";

/** The last line: without it the file is not whole. */
const End = z.looseObject({ end: z.literal(true), rows: z.number() });
/** More than that line has. */
const TAIL_CHARS = 1_000;

export async function exportHome({ positionals, env, io }: CommandCall): Promise<number> {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("takes the name of a file");
  const gateway = new Gateway(readConnection(env));
  // A file of that name stays until the new one is whole.
  const part = `${file}.part`;
  try {
    // One that is there may be readable for others, or a link.
    await rm(part, { force: true });
    const handle = await open(part, "wx", 0o600);
    const { rows } = await written(gateway, handle).finally(() => handle.close());
    await rename(part, file);
    io.err(
      `${file}: whole, ${rows} rows. It has all that was said and the home's keys: keep it like a password\n`,
    );
    return EXIT.ok;
  } catch (error) {
    await rm(part, { force: true });
    throw gateway.errorOf(error, "/v1/export");
  }
}

async function written(gateway: Gateway, file: FileHandle): Promise<z.infer<typeof End>> {
  const { body } = await gateway.client.open("GET /v1/export", undefined);
  const decoder = new TextDecoder();
  let tail = "";
  for await (const chunk of body ?? []) {
    // `write` may take a part of it, where the disk is about to be full.
    await file.writeFile(chunk);
    tail = (tail + decoder.decode(chunk, { stream: true })).slice(-TAIL_CHARS);
  }
  await file.sync();
  const end = checkJson(End, tail.trimEnd().split("\n").at(-1) ?? "");
  if (!end.ok) throw new Error("the gateway's answer broke off: nothing was kept. Run it again");
  return end.value;
}
