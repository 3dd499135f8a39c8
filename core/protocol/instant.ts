import { z } from "./parse.ts";

/** The end of the year 9999: `Intl` throws for times that are far beyond, and a peer may send any number. */
const MAX_MS = 253_402_300_799_999;

/** A time that comes from outside, epoch ms. */
export const Instant = z.int().check(z.minimum(0), z.maximum(MAX_MS));
