/**
 * Fetches the gateway's program: first its description, signed by the home's key, then its bytes, checked by their hash.
 *
 * Nothing else is trusted: no server in between, and no recording, since each request has its own nonce.
 */

import { createHash, randomBytes } from "node:crypto";
import { checkJson, z } from "@edgecall/core/protocol/parse.ts";
import { type ProgramFacts, programBytes } from "@edgecall/core/protocol/program.ts";
import { splitSigned } from "@edgecall/core/protocol/signing.ts";
import { cutText } from "@edgecall/core/text/cut.ts";
import { verifierOf } from "@edgecall/node/keypair.ts";
import { fetchProblem } from "../../fetch-problem.ts";
import type { GatewayPin } from "./gateway-pin.ts";

/** An executable has some 130 MB. A much larger file is not ours. */
export const PROGRAM_MAX_BYTES = 300 * 1024 * 1024;
const DOWNLOAD_WITHIN_MS = 15 * 60_000;
const ANSWER_WITHIN_MS = 60_000;
const NONCE_BYTES = 24;
/** A manifest has some 300 bytes. A wrong address may answer with a page. */
const MANIFEST_MAX_BYTES = 65_536;
/** Characters of a refusal that are stored and shown. */
const WORDS_MAX_CHARS = 500;

const Manifest = z.looseObject({
  version: z.string().check(z.regex(/^\d+\.\d+\.\d+$/)),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  bytes: z.int().check(z.minimum(1), z.maximum(PROGRAM_MAX_BYTES)),
  nonce: z.string(),
});
const Refused = z.object({ error: z.object({ message: z.string() }) });

/** @throws with a text for a person */
export async function offeredBy({ url, home, public_key }: GatewayPin): Promise<ProgramFacts> {
  const nonce = randomBytes(NONCE_BYTES).toString("base64url");
  const query = new URLSearchParams({ home, key: public_key, nonce });
  const response = await reached(`${url}/edgecall.json?${query}`, url, ANSWER_WITHIN_MS);
  const text = (await bodyOf(response, url, MANIFEST_MAX_BYTES)).toString();
  if (!response.ok) {
    const refused = checkJson(Refused, text);
    throw new Error(
      `${url} offers no program: ${refused.ok ? cutText(refused.value.error.message, WORDS_MAX_CHARS) : response.status}`,
    );
  }
  const split = splitSigned(text);
  if (!split || !verifierOf(public_key)?.(programBytes(split.body), split.signature))
    throw new Error(
      `${url}: what it says of its program is not signed by this home's key; nothing was changed`,
    );
  const manifest = checkJson(Manifest, split.body);
  if (!manifest.ok) throw new Error(`${url}: what it says of its program cannot be read: ${manifest.error}`);
  if (manifest.value.nonce !== nonce)
    throw new Error(
      `${url}: what it says of its program was said to somebody else before; nothing was changed`,
    );
  const { version, sha256, bytes } = manifest.value;
  return { version, sha256, bytes };
}

/** @throws with a text for a person when the bytes are not those that the gateway's key signed */
export async function fetchProgram({ url }: GatewayPin, { sha256, bytes }: ProgramFacts): Promise<Buffer> {
  // With the hash in the address, a cache on the way cannot answer with older bytes.
  const from = `${url}/edgecall.cjs?sha256=${sha256}`;
  const program = await download(from, bytes);
  const is = createHash("sha256").update(program).digest("hex");
  if (program.length === bytes && is === sha256) return program;
  throw new Error(
    `${url}/edgecall.cjs is not the program that the gateway vouches for (${program.length} bytes of ${bytes}, SHA-256 ${is}); nothing was changed. Was the gateway updated just now? Then try again`,
  );
}

/** @param atMost bytes @throws with a text for a person */
export async function download(url: string, atMost: number): Promise<Buffer> {
  const response = await reached(url, url, DOWNLOAD_WITHIN_MS);
  if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
  return await bodyOf(response, url, atMost);
}

/** @throws with a text for a person, also as soon as there are more bytes */
async function bodyOf({ body }: Response, url: string, atMost: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length;
      if (size > atMost) throw new Error(`more than ${atMost} bytes; this is not the program`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw new Error(`${url}: ${fetchProblem(error)}; nothing was changed`);
  }
  return Buffer.concat(chunks);
}

/** @param name the subject of the error's text */
async function reached(url: string, name: string, within: number): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(within) });
  } catch (error) {
    throw new Error(`${name}: cannot be reached (${fetchProblem(error)})`);
  }
}
