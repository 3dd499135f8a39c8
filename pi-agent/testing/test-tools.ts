/**
 * Tools for tests of the whole stack: they leave a mark, stream, ask, or keep working on request. They exist only with
 * EDGECALL_TEST_TOOLS=1 in the agent's environment.
 */
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "@edgecall/core/protocol/parse.ts";
import { type Content, defineTool, type Tool, textResult } from "@edgecall/core/tools/contract.ts";

const HOUR_MS = 3_600_000;
const ms = (most: number) => z.int().check(z.minimum(0), z.maximum(most));
const limits = { timeoutMs: 60_000, maxTimeoutMs: HOUR_MS };

/** @param place.file EDGECALL_TEST_FILE: the file in which `append` leaves its marks */
export function testing(place: { file: string }): Tool[] {
  return [append(place), slow(), hang(), askMe(), job(), picture()];
}

/** Its marks are counted: a call that runs twice leaves two. */
function append({ file }: { file: string }): Tool {
  return defineTool({
    name: "append",
    description: "Append a line to the test file. For tests only.",
    input: z.strictObject({
      path: z.optional(z.string().check(z.describe("Name of another file, beside the test file"))),
      text: z.optional(z.string().check(z.describe("Anything; only the call's id is written"))),
      wait_ms: z.optional(ms(HOUR_MS)).check(z.describe("Wait so long before it")),
    }),
    effect: "write",
    permission: "file_write",
    idempotent: false,
    ...limits,
    async execute({ path, wait_ms = 0 }, { callId, signal }) {
      await pause(wait_ms, undefined, { signal });
      const target = path === undefined ? file : join(dirname(file), basename(path));
      const handle = await open(target, "a");
      try {
        // One write with O_APPEND is whole, whichever other programs write.
        await handle.write(`${callId}\n`);
      } finally {
        await handle.close();
      }
      return textResult(`appended ${callId}`);
    },
  });
}

function slow(): Tool {
  return defineTool({
    name: "slow",
    description: "Take some time and say something now and then. For tests only.",
    input: z.strictObject({
      ms: ms(HOUR_MS).check(z.describe("How long in all")),
      chunks: z.optional(z.int().check(z.minimum(1), z.maximum(100_000))),
    }),
    effect: "read",
    idempotent: true,
    ...limits,
    async execute({ ms: total, chunks = 1 }, { signal, update }) {
      for (let chunk = 1; chunk <= chunks; chunk += 1) {
        await pause(total / chunks, undefined, { signal });
        update(`chunk ${chunk}\n`);
      }
      return textResult(`${chunks} chunks in ${total} ms`);
    },
  });
}

/** Blocks the whole agent, as a faulty program would. */
function hang(): Tool {
  return defineTool({
    name: "hang",
    description: "Do nothing else for some time. For tests only.",
    input: z.strictObject({ ms: ms(HOUR_MS) }),
    effect: "read",
    idempotent: true,
    ...limits,
    async execute({ ms: total }) {
      const end = performance.now() + total;
      while (performance.now() < end);
      return textResult("over");
    },
  });
}

function askMe(): Tool {
  return defineTool({
    name: "ask_me",
    description: "Ask the user something and tell the answer. For tests only.",
    input: z.strictObject({
      text: z.string(),
      options: z.optional(z.array(z.string())),
      expires_ms: z.optional(z.int().check(z.minimum(1), z.maximum(HOUR_MS))),
    }),
    effect: "read",
    idempotent: true,
    ...limits,
    async execute({ text, options, expires_ms }, { ask }) {
      const answer = await ask({
        text,
        ...(options && { options }),
        ...(expires_ms !== undefined && { expiresInMs: expires_ms }),
      });
      return textResult(`the answer was: ${answer}`);
    },
  });
}

/** Bytes that no compression shortens and no two places share, behind the head of a JPEG. */
function jpegOf(bytes: number, n: number): Uint8Array {
  const data = Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + (at >> 8) + n) & 0xff);
  data.set([0xff, 0xd8, 0xff, 0xe0]);
  return data;
}

function picture(): Tool {
  return defineTool({
    name: "picture",
    description: "Give back a picture, or several, of a size. For tests only.",
    input: z.strictObject({
      bytes: z.int().check(z.minimum(4), z.maximum(16 * 1024 * 1024)),
      count: z.optional(z.int().check(z.minimum(1), z.maximum(20))),
      media_type: z.optional(z.string()),
    }),
    effect: "read",
    idempotent: true,
    ...limits,
    async execute({ bytes, count = 1, media_type = "image/jpeg" }, { artifact }) {
      const content: Content[] = [{ type: "text", text: `${count} of ${bytes} bytes` }];
      for (let n = 0; n < count; n += 1) {
        content.push(await artifact(jpegOf(bytes, n), media_type));
      }
      return { content };
    },
  });
}

function job(): Tool {
  return defineTool({
    name: "job",
    description: "Accept now and be done later. For tests only.",
    input: z.strictObject({
      ms: ms(HOUR_MS),
      chunks: z.optional(z.int().check(z.minimum(1), z.maximum(1_000))),
      bytes: z
        .optional(z.int().check(z.minimum(4), z.maximum(1024 * 1024)))
        .check(z.describe("Bring a picture of this size")),
    }),
    effect: "device",
    permission: "device",
    idempotent: false,
    ...limits,
    async execute({ ms: total, chunks = 1, bytes }, context) {
      return context.job(
        async (signal, update) => {
          for (let chunk = 1; chunk <= chunks; chunk += 1) {
            await pause(total / chunks, undefined, { signal });
            update(`chunk ${chunk}\n`);
          }
          const done = textResult(`job of ${context.callId} done after ${total} ms`);
          if (bytes === undefined) return done;
          const picture = await context.artifact(jpegOf(bytes, 0), "image/jpeg");
          return { ...done, content: [...done.content, picture] };
        },
        { maxMs: HOUR_MS },
      );
    },
  });
}
