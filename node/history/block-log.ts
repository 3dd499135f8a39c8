/**
 * A file to which blocks are appended. Each has its length, a CRC-32 and its bytes. What a power cut leaves is a true prefix of what was
 * written: the first block that is not whole ends it, and what stands behind is cut off when the file is opened.
 */
import { readFileSync, writeSync } from "node:fs";
import { type FileHandle, mkdir, open, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { syncFolder } from "../atomic-write.ts";

const HEAD_BYTES = 8;
const BLOCK_MAX_BYTES = 16 * 1024 * 1024;

/** @returns the whole blocks, and how many bytes they take in the file */
export function readBlocks(file: Buffer): { blocks: Buffer[]; bytes: number } {
  const blocks: Buffer[] = [];
  let at = 0;
  while (at + HEAD_BYTES <= file.length) {
    const length = file.readUInt32LE(at);
    const end = at + HEAD_BYTES + length;
    // No block is empty: zeros are what a power cut leaves of bytes that were not written yet.
    if (length === 0 || length > BLOCK_MAX_BYTES || end > file.length) break;
    const block = file.subarray(at + HEAD_BYTES, end);
    if (checksum(length, block) !== file.readUInt32LE(at + 4)) break;
    blocks.push(block);
    at = end;
  }
  return { blocks, bytes: at };
}

/** A block with its length and checksum before it. */
export function toBlock(bytes: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(bytes.length, 0);
  head.writeUInt32LE(checksum(bytes.length, bytes), 4);
  return Buffer.concat([head, bytes]);
}

/** The length is covered too: a flipped bit in it must not make another block of the same bytes. */
function checksum(length: number, bytes: Buffer): number {
  return crc32(bytes, length);
}

export class BlockLog {
  readonly path: string;
  #handle: FileHandle | undefined;
  /** Bytes of whole blocks. */
  #bytes: number;

  private constructor(path: string, bytes: number) {
    this.path = path;
    this.#bytes = bytes;
  }

  /** Opens a file, or a new one, and cuts off what is not whole. @returns its blocks too */
  static async open(path: string): Promise<{ log: BlockLog; blocks: Buffer[] }> {
    const file = readIfThere(path);
    const { blocks, bytes } = readBlocks(file);
    if (bytes < file.length) await truncate(path, bytes);
    return { log: new BlockLog(path, bytes), blocks };
  }

  /** Bytes of whole blocks. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Appends a block.
   * @param committed called when it survives a power cut, and readers have it @throws the system's error: then nothing was appended
   */
  async append(bytes: Buffer, committed: () => void): Promise<void> {
    const handle = await this.#open();
    const block = toBlock(bytes);
    try {
      for (let written = 0; written < block.length; )
        written += writeSync(handle.fd, block, written, block.length - written, this.#bytes + written);
      await handle.datasync();
    } catch (error) {
      // A disk that is full may have taken a part.
      await handle.truncate(this.#bytes).catch(() => {});
      throw error;
    }
    this.#bytes += block.length;
    committed();
  }

  /** The checksum of the whole file, which tells whether it is the one that was packed. */
  get checksum(): number {
    return crc32(readIfThere(this.path).subarray(0, this.#bytes));
  }

  /** All blocks, as they are in the file now. */
  blocks(): Buffer[] {
    return readBlocks(readIfThere(this.path).subarray(0, this.#bytes)).blocks;
  }

  /** Closes the file. The next `append` opens it again. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #open(): Promise<FileHandle> {
    if (this.#handle) return this.#handle;
    const folder = dirname(this.path);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const handle = await open(this.path, this.#bytes === 0 ? "w+" : "r+", 0o600);
    await syncFolder(folder);
    this.#handle = handle;
    return handle;
  }
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return Buffer.alloc(0);
    throw error;
  }
}
