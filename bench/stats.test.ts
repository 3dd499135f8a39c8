import { describe, expect, it } from "vitest";
import { figuresOf, median, medianFigures, percentile } from "./stats.ts";

describe("percentile", () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
  it("is the value that this share of the samples does not exceed", () => {
    expect(percentile(hundred, 0.5)).toBe(50);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile([7], 0.99)).toBe(7);
  });
  it("is not a number without samples", () => expect(percentile([], 0.5)).toBeNaN());
});

describe("median", () => {
  it("is the middle value, or the mean of the two in the middle", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 1, 2, 9])).toBe(5.5);
    expect(median([])).toBeNaN();
  });
});

describe("figures", () => {
  it("has the rate over the whole time", () =>
    expect(figuresOf([1, 2, 3], 500)).toEqual({ p50: 2, p99: 3, perSecond: 6, samples: 3 }));
  it("of rounds is for each figure the median of the rounds, with all samples", () => {
    const rounds = [figuresOf([1], 1_000), figuresOf([100, 100], 1_000), figuresOf([2, 2, 2], 1_000)];
    expect(medianFigures(rounds)).toEqual({ p50: 2, p99: 2, perSecond: 2, samples: 6 });
  });
});
