/** The ledger's file: appends, reads and replaces bytes, whatever they mean. */
import { writeSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder, writeAtomic } from "./atomic-write.ts";

export type LedgerStorage = {
  /** @returns all bytes; none when there is no file yet */
  load(): Promise<Buffer>;
  /** @returns the offset at which the bytes begin */
  append(bytes: Buffer): Promise<number>;
  /** Resolves when the appended bytes survive a power cut. */
  sync(): Promise<void>;
  read(offset: number, length: number): Promise<Buffer>;
  /** Replaces the whole content by `bytes`, or leaves it as it was. */
  replace(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
};

/** Opens the file, and makes its folder, when it is first needed: a full disk may have room later. */
export class LedgerFile implements LedgerStorage {
  readonly #path: string;
  #handle: FileHandle | undefined;
  /** Nothing else writes the file. Undefined after a write that failed half-way. */
  #size: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  async load(): Promise<Buffer> {
    const handle = await this.#open();
    const { size } = await handle.stat();
    const bytes = Buffer.alloc(size);
    await handle.read(bytes, 0, size, 0);
    return bytes;
  }

  async append(bytes: Buffer): Promise<number> {
    const handle = await this.#open();
    const size = this.#size ?? (await handle.stat()).size;
    this.#size = undefined;
    // A synchronous write goes to the system's memory, which is faster than another thread.
    for (let written = 0; written < bytes.length; ) written += writeSync(handle.fd, bytes, written);
    this.#size = size + bytes.length;
    return size;
  }

  async sync(): Promise<void> {
    await (await this.#open()).datasync();
  }

  async read(offset: number, length: number): Promise<Buffer> {
    const handle = await this.#open();
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await handle.read(bytes, 0, length, offset);
    return bytes.subarray(0, bytesRead);
  }

  async replace(bytes: Buffer): Promise<void> {
    await writeAtomic(this.#path, bytes);
    await this.close();
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#size = undefined;
    await handle?.close();
  }

  async #open(): Promise<FileHandle> {
    if (this.#handle) return this.#handle;
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    // Results may be private, so only the program's own user may read the file.
    const handle = await open(this.#path, "a+", 0o600);
    await syncFolder(dirname(this.#path));
    this.#handle = handle;
    return handle;
  }
}
