import type { LedgerStorage } from "@edgecall/node/ledger-file.ts";

/** A ledger's bytes in memory. Writes can be made to fail after this many bytes, like on a full disk. */
export class MemoryStorage implements LedgerStorage {
  bytes: Buffer;
  /** Remaining room in bytes. */
  room = Number.POSITIVE_INFINITY;
  syncs = 0;
  /** The number of synced bytes. */
  synced = 0;

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.bytes = bytes;
  }

  async load(): Promise<Buffer> {
    return this.bytes;
  }

  async append(bytes: Buffer): Promise<number> {
    const offset = this.bytes.length;
    const fits = bytes.subarray(0, Math.min(bytes.length, this.room));
    this.bytes = Buffer.concat([this.bytes, fits]);
    this.room -= fits.length;
    if (fits.length < bytes.length) this.#full();
    return offset;
  }

  async sync(): Promise<void> {
    this.syncs += 1;
    this.synced = this.bytes.length;
  }

  async read(offset: number, length: number): Promise<Buffer> {
    return this.bytes.subarray(offset, offset + length);
  }

  async replace(bytes: Buffer): Promise<void> {
    if (bytes.length > this.room) this.#full();
    this.bytes = bytes;
    this.synced = bytes.length;
  }

  async close(): Promise<void> {}

  #full(): never {
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  }
}
