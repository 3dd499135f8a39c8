/** The ledger's file: append, read back, replace. Nothing here knows what the lines mean. */
import { writeSync } from "node:fs";
import { type FileHandle, mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { syncFolder, writeAtomic } from "@edgecall/node/atomic-write.ts";

export type LedgerStorage = {
  /** All bytes; none when there is no file yet. */
  load(): Promise<Buffer>;
  /** @returns the offset at which the bytes begin */
  append(bytes: Buffer): Promise<number>;
  /** Returns when what was appended survives a power cut. */
  sync(): Promise<void>;
  read(offset: number, length: number): Promise<Buffer>;
  /** Puts `bytes` in place of everything, whole or not at all. */
  replace(bytes: Buffer): Promise<void>;
  close(): Promise<void>;
};

/** A file that is opened, and its folder made, when it is first needed: a full disk may have room later. */
export class LedgerFile implements LedgerStorage {
  readonly #path: string;
  #handle: FileHandle | undefined;
  /** Nobody else writes the file; unknown after a write that failed half-way. */
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
    // At once: it goes to the system's memory, which is quicker than to hand it to another thread and back.
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
    // Results may tell things about a home: for the agent's own user alone.
    const handle = await open(this.#path, "a+", 0o600);
    await syncFolder(dirname(this.#path));
    this.#handle = handle;
    return handle;
  }
}
