/** The file operations of the HTTP backend's server. */
import { check } from "@edgecall/core/protocol/parse.ts";
import type { Target } from "@edgecall/core/tools/contract.ts";
import { FileError, type FileOps } from "../env/environment.ts";
import {
  CanonicalRequest,
  ChangeRequest,
  FILE_MAX_BYTES,
  type FileOperation,
  JSON_MAX_BYTES,
  PathRequest,
  ReadRequest,
  WriteQuery,
} from "../env/http/wire.ts";
import { jsonOf, RequestError } from "./request.ts";

/** One operation: its bounds, and its part of the record. */
export type FileRequest = {
  /** For the record, without contents. */
  parameters: Record<string, unknown>;
  /** Returns the bytes that the answer will have in memory; absent: few. */
  size?(files: FileOps, signal: AbortSignal): Promise<number>;
  /** Answers bytes, or an object for JSON. */
  run(files: FileOps, signal: AbortSignal): Promise<Uint8Array | object>;
};

/** Largest body of each operation. */
export function bodyMaxOf(operation: FileOperation): number {
  return operation === "write" ? FILE_MAX_BYTES : JSON_MAX_BYTES;
}

const CHANGES: readonly FileOperation[] = ["write", "mkdir", "remove"];

export function isChange(operation: FileOperation): boolean {
  return CHANGES.includes(operation);
}

/**
 * @param mayJudge whether the client's word counts that git may run what it writes; it needs the right to run programs
 * @throws RequestError
 */
export function parseFileRequest(
  operation: FileOperation,
  { query, body }: { query: URLSearchParams; body: Buffer },
  mayJudge: boolean,
): FileRequest {
  const judgedOf = ({ path, judged }: ChangeRequest): { judged?: Target } =>
    judged ? { judged: { path, real: judged.real, link: false, git: judged.git && mayJudge } } : {};
  switch (operation) {
    case "stat": {
      const request = jsonOf(PathRequest, body);
      return { parameters: request, run: (files, signal) => files.stat(request.path, { signal }) };
    }
    case "list": {
      const request = jsonOf(PathRequest, body);
      return {
        parameters: request,
        run: async (files, signal) => ({ entries: await files.readDir(request.path, { signal }) }),
      };
    }
    case "target": {
      const request = jsonOf(PathRequest, body);
      return { parameters: request, run: (files, signal) => files.target(request.path, { signal }) };
    }
    case "canonical": {
      const { path, access } = jsonOf(CanonicalRequest, body);
      return {
        parameters: { path, access },
        run: async (files, signal) => ({ path: await files.canonical(path, access, { signal }) }),
      };
    }
    case "read": {
      const request = jsonOf(ReadRequest, body);
      return {
        parameters: request,
        size: (files, signal) => sizeOf(files, request, signal),
        run: (files, signal) => readPart(files, request, signal),
      };
    }
    case "mkdir": {
      const request = jsonOf(ChangeRequest, body);
      return {
        parameters: { path: request.path },
        async run(files, signal) {
          await files.mkdirAll(request.path, { signal, ...judgedOf(request) });
          return {};
        },
      };
    }
    case "remove": {
      const request = jsonOf(ChangeRequest, body);
      return {
        parameters: { path: request.path },
        async run(files, signal) {
          await files.remove(request.path, { signal, ...judgedOf(request) });
          return {};
        },
      };
    }
    case "write": {
      const { path, mode, judged_real: real, judged_git: git } = queryOf(query);
      const judged = real === undefined ? {} : judgedOf({ path, judged: { real, git: git === "true" } });
      return {
        parameters: { path, bytes: body.length },
        async run(files, signal) {
          const more = mode === undefined ? {} : { mode: Number.parseInt(mode, 8) };
          await files.writeFile(path, body, { signal, ...judged, ...more });
          return {};
        },
      };
    }
  }
}

function queryOf(query: URLSearchParams) {
  const read = check(WriteQuery, Object.fromEntries(query));
  if (!read.ok) throw new RequestError(400, "invalid_request", `The query is not right: ${read.error}`);
  return read.value;
}

type Part = { path: string; offset?: number | undefined; length?: number | undefined };

async function sizeOf(
  files: FileOps,
  { path, offset = 0, length = FILE_MAX_BYTES }: Part,
  signal: AbortSignal,
): Promise<number> {
  // Of a link, `stat` tells the link's own size.
  const real = await files.canonical(path, "read", { signal });
  const { bytes } = await files.stat(real, { signal });
  return Math.min(Math.max(0, bytes - offset), length, FILE_MAX_BYTES);
}

async function readPart(
  files: FileOps,
  { path, offset, length }: Part,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const wanted = Math.min(length ?? FILE_MAX_BYTES + 1, FILE_MAX_BYTES + 1);
  const bytes = await files.readFile(path, {
    signal,
    length: wanted,
    ...(offset !== undefined && { offset }),
  });
  if (bytes.length <= FILE_MAX_BYTES) return bytes;
  throw new FileError("too_large", `'${path}' has more than ${FILE_MAX_BYTES} bytes; read it in parts.`);
}
