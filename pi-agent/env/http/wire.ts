/** The requests and answers of the HTTP backend (docs/explain/http-backend.md), for the agent that serves it and for its clients. */
import { z } from "@edgecall/core/protocol/parse.ts";

/** Largest file that is read or written in one request. */
export const FILE_MAX_BYTES = 256 * 1024 * 1024;
/** Largest request of JSON. */
export const JSON_MAX_BYTES = 64 * 1024;
/** Largest request that starts a program. It has the program's stdin. */
export const RUN_MAX_BYTES = 16 * 1024 * 1024;
/** Longest line of a program's answer. */
export const LINE_MAX_BYTES = 1024 * 1024;
/** Bytes of output in one line. */
export const CHUNK_BYTES = 64 * 1024;
/** The time between two lines of a program that writes nothing, so that both sides notice a lost connection. */
export const ALIVE_EVERY_MS = 15_000;

export const FILE_OPERATIONS = [
  "stat",
  "read",
  "write",
  "list",
  "mkdir",
  "remove",
  "target",
  "canonical",
] as const;
export type FileOperation = (typeof FILE_OPERATIONS)[number];

const Text = z.string().check(z.maxLength(16_384));
const Size = z.int().check(z.minimum(0));
const Kind = z.enum(["file", "directory", "link", "other"]);

/** The place that the client's policy judged; see FileOps in environment.ts. */
const Judged = z.strictObject({ real: Text, git: z.boolean() });

export const PathRequest = z.strictObject({ path: Text });
export const ReadRequest = z.strictObject({
  path: Text,
  offset: z.optional(Size),
  length: z.optional(Size),
});
export const ChangeRequest = z.strictObject({ path: Text, judged: z.optional(Judged) });
export type ChangeRequest = z.infer<typeof ChangeRequest>;
export const CanonicalRequest = z.strictObject({ path: Text, access: z.enum(["read", "write"]) });
/** The query of a write; the body is the file. */
export const WriteQuery = z.strictObject({
  path: Text,
  mode: z.optional(
    z
      .string()
      .check(
        z.regex(
          /^0?[0-7]{1,3}$/,
          "expected permission bits in octal, 777 at most: no file is made set-uid, set-gid or sticky",
        ),
      ),
  ),
  judged_real: z.optional(Text),
  judged_git: z.optional(z.enum(["true", "false"])),
});

export const InfoAnswer = z.looseObject({ name: Text, cwd: Text, version: Text });
export const StatAnswer = z.looseObject({
  kind: Kind,
  bytes: Size,
  mode: z.int().check(z.minimum(0), z.maximum(0o7777)),
  modifiedAt: z.number(),
});
export const ListAnswer = z.looseObject({
  entries: z.array(z.looseObject({ name: z.string(), kind: Kind })),
});
export const TargetAnswer = z.looseObject({ real: Text, link: z.boolean(), git: z.boolean() });
export const CanonicalAnswer = z.looseObject({ path: Text });
export const DoneAnswer = z.looseObject({});

/** The code of a request without a valid token. */
export const UNAUTHORIZED = "unauthorized";

/** The reason why a request was refused or failed. `code` is one of FileError's or ExecError's, or a word for the request itself. */
export const Failure = z.looseObject({
  code: z.string(),
  message: z.string(),
  advice: z.optional(z.string()),
  /** The program is missing there. */
  absent: z.optional(z.boolean()),
});
export type Failure = z.infer<typeof Failure>;
export const FailureAnswer = z.looseObject({ error: Failure });

const RunId = z.string().check(z.regex(/^[A-Za-z0-9_-]{8,64}$/, "expected 8 to 64 letters, digits, _ or -"));
export const RunRequest = z.strictObject({
  /** A new id, by which the client can stop the program. */
  run: RunId,
  argv: z.array(z.string()).check(z.minLength(1), z.maxLength(65_536)),
  cwd: z.optional(Text),
  env: z.optional(z.record(z.string(), z.string())),
  /** Base64. */
  stdin: z.optional(z.string().check(z.regex(/^[A-Za-z0-9+/]*={0,2}$/, "expected base64"))),
});
export const StopRequest = z.strictObject({ run: RunId });

/** A line of a program's answer. The last has `end` or `error`; one without either and without output means "still there". */
export const RunLine = z.looseObject({
  out: z.optional(z.string()),
  err: z.optional(z.string()),
  end: z.optional(
    z.looseObject({
      exitCode: z.nullable(z.int()),
      signal: z.nullable(z.string()),
      stopped: z.boolean(),
    }),
  ),
  error: z.optional(Failure),
});
export type RunLine = z.infer<typeof RunLine>;
