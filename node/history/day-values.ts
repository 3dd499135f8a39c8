/**
 * The values of a series in a day whose log is open, as bytes: about five a value. A question reads these and not the log, of which it
 * would have to read the values of all other series too: a bridge runs without an optimizing compiler, which makes that a third of a second.
 */
import type { KeptValue, Sample } from "@edgecall/core/history/sample.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { TICK_MS } from "./day-file.ts";
import { readSample, writeSample } from "./records.ts";

const FIRST_BYTES = 32;

export class DayValues {
  readonly #bytes = new ByteWriter(FIRST_BYTES);
  #last = 0;

  /** @param at epoch ms, of a whole tick */
  add(at: number, value: KeptValue | null): void {
    writeSample(this.#bytes, (at - this.#last) / TICK_MS, value);
    this.#last = at;
  }

  /** In the order in which they came. */
  samples(): Sample[] {
    const read = new ByteReader(this.#bytes.view());
    const samples: Sample[] = [];
    let at = 0;
    while (!read.isAtEnd) {
      const { change, value } = readSample(read);
      at += change * TICK_MS;
      samples.push({ at, value });
    }
    return samples;
  }
}
