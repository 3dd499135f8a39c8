/** The file operations of the HTTP backend's client, one request each. */
import type { z } from "@edgecall/core/protocol/parse.ts";
import type { Target } from "@edgecall/core/tools/contract.ts";
import { ERROR_CODES, type ErrorCode } from "@edgecall/core/tools/errors.ts";
import { FileError, type FileOps, PERMISSIONS } from "../environment.ts";
import { type HttpClient, HttpFailure } from "./http-client.ts";
import {
  CanonicalAnswer,
  type ChangeRequest,
  DoneAnswer,
  type FileOperation,
  ListAnswer,
  StatAnswer,
  TargetAnswer,
} from "./wire.ts";

export function httpFiles(client: HttpClient): FileOps {
  const attempt = async <T>(
    path: string,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T> => {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      throw fileError(error, path, client);
    }
  };
  const ask = <T>(
    operation: FileOperation,
    schema: z.ZodMiniType<T>,
    request: { path: string },
    signal: AbortSignal | undefined,
  ) => attempt(request.path, signal, () => client.json(schema, `v1/files/${operation}`, request, { signal }));
  return {
    async stat(path, { signal } = {}) {
      const { kind, bytes, mode, modifiedAt } = await ask("stat", StatAnswer, { path }, signal);
      return { kind, bytes, mode, modifiedAt };
    },

    async readFile(path, { signal, offset, length } = {}) {
      const request = {
        path,
        ...(offset !== undefined && { offset }),
        ...(length !== undefined && { length }),
      };
      return await attempt(path, signal, () => client.bytes("v1/files/read", request, { signal }));
    },

    async writeFile(path, bytes, { signal, mode, judged } = {}) {
      const query = new URLSearchParams({ path });
      if (mode !== undefined) query.set("mode", (mode & PERMISSIONS).toString(8));
      if (judged) {
        query.set("judged_real", judged.real);
        query.set("judged_git", String(judged.git));
      }
      const send = { body: bytes, type: "application/octet-stream", signal };
      await attempt(path, signal, () => client.send(DoneAnswer, `v1/files/write?${query}`, send));
    },

    async readDir(path, { signal } = {}) {
      const { entries } = await ask("list", ListAnswer, { path }, signal);
      return entries.map(({ name, kind }) => ({ name, kind }));
    },

    async mkdirAll(path, { signal, judged } = {}) {
      await ask("mkdir", DoneAnswer, changeOf(path, judged), signal);
    },

    async remove(path, { signal, judged } = {}) {
      await ask("remove", DoneAnswer, changeOf(path, judged), signal);
    },

    async target(path, { signal } = {}) {
      const { real, link, git } = await ask("target", TargetAnswer, { path }, signal);
      return { path, real, link, git };
    },

    async canonical(path, access, { signal } = {}) {
      const request = { path, access };
      return (await ask("canonical", CanonicalAnswer, request, signal)).path;
    },
  };
}

function changeOf(path: string, judged: Target | undefined): ChangeRequest {
  return { path, ...(judged && { judged: { real: judged.real, git: judged.git } }) };
}

function fileError(error: unknown, path: string, client: HttpClient): FileError {
  if (error instanceof HttpFailure && Object.hasOwn(ERROR_CODES, error.failure.code)) {
    const { code, message: text, advice } = error.failure;
    return new FileError(code as ErrorCode, { text, advice }, { cause: error });
  }
  return new FileError("io", `'${path}' cannot be reached: ${client.problem(error)}`, { cause: error });
}
