/** Zones whose clocks are changed in different ways, with both nights of 2027. */
import type { LocalTime } from "../../time/zone.ts";

type Night = { date: string; hour: number };
type ChangingZone = {
  zone: string;
  /** The day on which a time is left out, and the first hour that shows it; then the day on which one comes twice. */
  gap?: Night;
  twice?: Night;
};

export const ZONES: readonly ChangingZone[] = [
  {
    zone: "Europe/Berlin",
    gap: { date: "2027-03-28", hour: 2 },
    twice: { date: "2027-10-31", hour: 2 },
  },
  {
    zone: "America/St_Johns",
    gap: { date: "2027-03-14", hour: 2 },
    twice: { date: "2027-11-07", hour: 1 },
  },
  // Half an hour.
  {
    zone: "Australia/Lord_Howe",
    gap: { date: "2027-10-03", hour: 2 },
    twice: { date: "2027-04-04", hour: 1 },
  },
  // At midnight: the day begins at 01:00, and the day before has 23:00 twice.
  {
    zone: "Africa/Cairo",
    gap: { date: "2027-04-30", hour: 0 },
    twice: { date: "2027-10-28", hour: 23 },
  },
  // Never, and a quarter of an hour beside the others.
  { zone: "Asia/Kathmandu" },
];

/** `2027-03-28 03:00` */
export function clockOf({ year, month, day, hour, minute }: LocalTime): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}`;
}
